"""What groups say about themselves."""

from datetime import datetime, timedelta

import pytest

from nodewright.api import Provider
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import ProviderSuite, facts, group_of, needs


class FactsConformance(ProviderSuite):
    """Sizes, machines, pools and limits."""

    def test_bounds_are_in_order(self, provider: Provider) -> None:
        """`0 <= min_size <= max_size` for every group."""
        for group in provider.groups():
            low, high = group.min_size, group.max_size
            assert 0 <= low <= high, f"group {group.id} has min_size {low} and max_size {high}"

    def test_bounds_are_those_of_the_group(self, cloud: Cloud, provider: Provider) -> None:
        """`min_size` and `max_size` are those that the cloud's set-up gives to the group."""
        expected = cloud.expected_bounds()
        if not expected:
            pytest.skip("the cloud under test can't tell what bounds groups have")
        for name, bounds in expected.items():
            group = group_of(provider, name)
            told = (group.min_size, group.max_size)
            assert told == bounds, f"group {name} may have {bounds} machines, min_size and max_size are {told}"

    def test_groups_that_are_shown_exist(self, provider: Provider) -> None:
        """`exists` is True for every group of `groups`: it is False only for proposals."""
        missing = [group.id for group in provider.groups() if not group.exists]
        assert not missing, f"groups() shows {missing}, whose exists is False"

    @needs(Ability.TRUTH)
    def test_the_target_is_what_the_cloud_is_asked_for(self, cloud: Cloud, provider: Provider) -> None:
        """`target_size` is the cloud's own number, for every group."""
        for group in provider.groups():
            told, asked = group.target_size, cloud.target(group.id)
            assert told == asked, f"target_size of group {group.id} is {told}, the cloud is asked for {asked}"

    def test_facts_are_the_same_when_asked_again(self, provider: Provider) -> None:
        """Facts don't change by being asked for: two readings after one refresh are equal."""
        first, second = facts(provider), facts(provider)
        assert second == first, f"asked twice after one refresh, the groups were {first} and then {second}"

    @needs(Ability.RESIZE)
    def test_facts_are_those_of_the_last_refresh(self, cloud: Cloud, provider: Provider) -> None:
        """What happens in the cloud shows after the next refresh, and not before."""
        before = facts(provider)
        cloud.resize(cloud.group(), cloud.target(cloud.group()) + 1)
        after = facts(provider)
        assert after == before, f"without a refresh the groups changed from {before} to {after}"

    def test_times_have_a_zone(self, provider: Provider) -> None:
        """`Instance.created_at`, if it is told, is an aware time in UTC."""
        for group in provider.groups():
            for instance in group.instances():
                created = instance.created_at
                assert created is None or created.utcoffset() == timedelta(0), (
                    f"machine {instance.id} was created at {created!r}, which is not a time in UTC"
                )

    def test_a_machine_keeps_its_time_of_creation(self, cloud: Cloud, provider: Provider) -> None:
        """`Instance.created_at`, if it is told, stays as it is: machines that take too long are known by it."""
        before = _creation_times(provider)
        cloud.settle()
        provider.refresh()
        after = _creation_times(provider)
        for machine in before.keys() & after.keys():
            assert after[machine] == before[machine], (
                f"machine {machine} was created at {before[machine]}, and after another refresh at {after[machine]}"
            )

    def test_pools_are_named_by_zone_and_type(self, provider: Provider) -> None:
        """Capacity pools are named ``zone/instance type``, with more behind another slash if need be."""
        for group in provider.groups():
            for pool in group.pools():
                zone, _, kind = pool.partition("/")
                assert all((zone, kind)), f"group {group.id} draws from a pool named {pool!r}"

    def test_limits_are_in_order(self, provider: Provider) -> None:
        """No resource of `resource_limits` has a minimum above its maximum."""
        limits = provider.resource_limits()
        for name, low in limits.minimum.items():
            high = limits.maximum.get(name, low)
            assert 0 <= low <= high, f"resource_limits wants at least {low} and at most {high} of {name}"

    def test_a_description_is_one_line(self, provider: Provider) -> None:
        """`describe` is one line that names the group."""
        for group in provider.groups():
            text = group.describe()
            told = f"describe() of group {group.id} is {text!r}"
            assert group.id in text, told
            assert "\n" not in text, told


def _creation_times(provider: Provider) -> dict[str, datetime | None]:
    return {each.id: each.created_at for group in facts(provider) for each in group.instances}
