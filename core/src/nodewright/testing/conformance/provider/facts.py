"""Facts of groups: sizes, machines, pools and limits."""

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

    @needs(Ability.TRUTH)
    def test_the_target_is_what_the_cloud_is_asked_for(self, cloud: Cloud, provider: Provider) -> None:
        """`target_size` is the cloud's own number, for every group."""
        for group in provider.groups():
            told, asked = group.target_size, cloud.target(group.id)
            assert told == asked, f"target_size of group {group.id} is {told}, the cloud is asked for {asked}"

    def test_facts_are_the_same_when_asked_again(self, provider: Provider) -> None:
        """Reading facts does not change them: two readings after one refresh are equal."""
        first, second = facts(provider), facts(provider)
        assert second == first, f"asked twice after one refresh, the groups were {first} and then {second}"

    @needs(Ability.RESIZE)
    def test_facts_are_those_of_the_last_refresh(self, cloud: Cloud, provider: Provider) -> None:
        """What happens in the cloud shows after the next refresh, and not before."""
        before = facts(provider)
        cloud.resize(cloud.group(), cloud.target(cloud.group()) + 1)
        after = facts(provider)
        assert after == before, f"without a refresh the groups changed from {before} to {after}"

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
