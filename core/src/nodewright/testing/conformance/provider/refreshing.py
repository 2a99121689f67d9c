"""Refreshing: what it reads, and what it must not change."""

import contextlib
from operator import methodcaller

import pytest

from nodewright.api import GroupNotFoundError, InstanceState, NodeGroup, Provider
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import (
    ProviderSuite,
    facts,
    group_of,
    has_room,
    machine_of,
    needs,
    raising,
    reread,
)

#: What a provider must recover from.
_FAULTS = {
    Ability.CUT: methodcaller("cut"),
    Ability.DENY: methodcaller("deny"),
    Ability.THROTTLE: methodcaller("throttle"),
}


class RefreshConformance(ProviderSuite):
    """`Provider.refresh`."""

    @needs(Ability.RESIZE)
    def test_refresh_sees_a_group_that_somebody_resized(self, cloud: Cloud, provider: Provider) -> None:
        """A size that someone else set shows after the next refresh."""
        size = cloud.target(cloud.group()) + 1
        cloud.resize(cloud.group(), size)
        provider.refresh()
        told = group_of(provider, cloud.group()).target_size
        assert told == size, f"someone set the size to {size}, after a refresh target_size is {told}"

    @needs(Ability.RESIZE, Ability.CHANGE)
    def test_refresh_sees_a_group_that_somebody_set_back(self, cloud: Cloud, provider: Provider) -> None:
        """If someone else undoes an order that has shown in the target, the former size shows again."""
        group = group_of(provider, cloud.group())
        size = has_room(cloud, group, 1)
        group.increase(1)
        cloud.settle()
        provider.refresh()
        cloud.resize(group.id, size)
        told = reread(provider, group).target_size
        assert told == size, (
            f"after increase(1) of {size} machines someone set the size back to {size}; "
            f"after a refresh target_size is {told}"
        )

    @needs(Ability.VANISH)
    def test_refresh_sees_that_a_machine_vanished(self, cloud: Cloud, provider: Provider) -> None:
        """A machine that is gone is not shown as running after the next refresh."""
        gone = machine_of(cloud.vanish(cloud.group()))
        provider.refresh()
        instances = group_of(provider, cloud.group()).instances()
        running = {instance.id for instance in instances if instance.state is InstanceState.RUNNING}
        assert gone not in running, f"machine {gone} is gone, after a refresh instances() shows it as running"

    @needs(Ability.ADD_GROUP)
    def test_refresh_finds_a_new_group(self, cloud: Cloud, provider: Provider) -> None:
        """A group that someone added shows after the next refresh."""
        added = cloud.add_group()
        provider.refresh()
        ids = [group.id for group in provider.groups()]
        assert added in ids, f"someone added group {added}, after a refresh groups() shows {ids}"

    @needs(Ability.REMOVE_GROUP)
    def test_refresh_forgets_a_group_that_is_gone(self, cloud: Cloud, provider: Provider) -> None:
        """A group that someone removed is not shown after the next refresh."""
        cloud.remove_group(cloud.group())
        provider.refresh()
        ids = [group.id for group in provider.groups()]
        assert cloud.group() not in ids, f"someone removed group {cloud.group()}, after a refresh groups() shows {ids}"

    @needs(Ability.REMOVE_GROUP, Ability.CHANGE)
    def test_an_action_on_a_group_that_is_gone_does_not_find_it(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase` of a group that someone removed since the last refresh raises `GroupNotFoundError`."""
        cloud.remove_group(group.id)
        with raising(GroupNotFoundError, "increase of a group that is gone"):
            group.increase(1)

    @needs(Ability.TRUTH)
    def test_a_refresh_changes_nothing(self, cloud: Cloud, provider: Provider) -> None:
        """`refresh` reads: the cloud is asked for the same afterwards, and the same machines are there."""
        names = [group.id for group in provider.groups()]
        before = {name: (cloud.target(name), cloud.machines(name)) for name in names}
        provider.refresh()
        after = {name: (cloud.target(name), cloud.machines(name)) for name in names}
        assert after == before, f"a refresh took targets and machines from {before} to {after}"

    @needs(Ability.CUT)
    def test_a_failed_refresh_leaves_the_facts_alone(self, cloud: Cloud, provider: Provider) -> None:
        """When a refresh fails at once, groups are as they were before."""
        before = facts(provider)
        cloud.cut()
        with contextlib.suppress(Exception):
            provider.refresh()
        after = facts(provider)
        assert after == before, f"a failed refresh changed the groups from {before} to {after}"

    @needs(Ability.CUT)
    def test_a_failed_refresh_leaves_nodes_in_their_groups(self, cloud: Cloud, provider: Provider) -> None:
        """When a refresh fails, `group_of` still tells the groups of nodes."""
        nodes = cloud.nodes(cloud.group())
        before = [provider.group_of(node) for node in nodes]
        cloud.cut()
        with contextlib.suppress(Exception):
            provider.refresh()
        after = [provider.group_of(node) for node in nodes]
        assert after == before, f"a failed refresh changed the groups of nodes from {before} to {after}"

    @needs(Ability.BREAK_AFTER, Ability.COUNT, Ability.RESIZE)
    def test_a_refresh_that_fails_half_way_leaves_the_facts_alone(self, cloud: Cloud, provider: Provider) -> None:
        """When a refresh fails after some of its calls, no fact is newer than others."""
        already = cloud.calls()
        provider.refresh()
        needed = cloud.calls() - already
        if needed < 2:
            pytest.skip(f"a refresh that takes {needed} calls can't fail half way")
        cloud.resize(cloud.group(), cloud.target(cloud.group()) + 1)
        before = facts(provider)
        for answered in range(1, needed):
            cloud.break_after(answered)
            try:
                provider.refresh()
            except Exception:
                after = facts(provider)
                assert after == before, f"a refresh that failed after {answered} calls changed {before} to {after}"
            else:
                before = facts(provider)
            cloud.heal()

    @needs(Ability.BREAK_AFTER, Ability.COUNT)
    def test_a_refresh_that_reads_a_part_loses_nothing(self, cloud: Cloud, provider: Provider) -> None:
        """When some of its calls are not answered, a refresh raises or leaves nothing out."""
        before = _there(provider)
        already = cloud.calls()
        provider.refresh()
        needed = cloud.calls() - already
        if needed < 2:
            pytest.skip(f"a refresh that takes {needed} calls can't be answered in part")
        for answered in range(1, needed):
            cloud.break_after(answered)
            with contextlib.suppress(Exception):
                provider.refresh()
            after = _there(provider)
            cloud.heal()
            lost = sorted(before - after)
            assert not lost, f"a refresh of which {answered} of {needed} calls were answered shows no more: {lost}"

    @pytest.mark.parametrize("fault", list(_FAULTS), ids=lambda fault: fault.name.lower())
    def test_refresh_recovers(self, cloud: Cloud, provider: Provider, fault: Ability) -> None:
        """Once the cloud answers again, or credentials are renewed, `refresh` works again without a restart."""
        if fault not in cloud.abilities:
            pytest.skip(f"the cloud under test can't {fault}")
        _FAULTS[fault](cloud)
        with contextlib.suppress(Exception):
            provider.refresh()
        cloud.heal()
        try:
            provider.refresh()
        except Exception as error:
            pytest.fail(f"the cloud answers again, but refresh raises {error!r}")


def _there(provider: Provider) -> set[str]:
    """Groups and machines that are shown."""
    groups = provider.groups()
    return {each.id for each in groups} | {machine.id for group in groups for machine in group.instances()}
