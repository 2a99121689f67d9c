"""Clouds without a target size: they only make and delete machines, and the provider works the target out."""

import contextlib

from nodewright.api import NodeGroup, NodewrightError, Provider, SizeLimitError
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import (
    KeepsTarget,
    ProviderSuite,
    Restart,
    group_of,
    has_room,
    needs,
    raising,
    reread,
    unregistered,
)
from nodewright.testing.conformance.provider.machines import creating, failed_order
from nodewright.testing.conformance.suite import requires


@needs(Ability.CHANGE)
@requires(KeepsTarget(False))
class TargetlessConformance(ProviderSuite):
    """What takes the place of a target that the cloud keeps itself: the machines."""

    def test_the_target_is_the_machines(self, cloud: Cloud, provider: Provider, group: NodeGroup) -> None:
        """`target_size` is the number of machines that `instances` shows, but for those that are being deleted."""
        has_room(cloud, group, 2)
        _is_what_is_shown(group, "at rest")
        group.increase(2)
        _is_what_is_shown(reread(provider, group), "after increase(2)")
        cloud.settle()
        newest = list(cloud.machines(group.id))[-1]
        group.delete_nodes([cloud.node(newest)])
        _is_what_is_shown(reread(provider, group), "after a deletion")

    @needs(Ability.HOLD, Ability.TRUTH)
    def test_a_machine_in_creation_is_given_up_by_deletion(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` of a machine that does not come up takes it out of `target_size`."""
        group, young = creating(cloud, provider)
        before = group.target_size
        with contextlib.suppress(NodewrightError):
            group.delete_nodes([unregistered(young)])
        after = reread(provider, group).target_size
        assert after == before - 1, f"of {before} machines {young}, in creation, was deleted; target_size is {after}"

    @needs(Ability.HOLD, Ability.TRUTH)
    def test_a_machine_in_creation_is_a_size_limit(self, cloud: Cloud, provider: Provider) -> None:
        """`decrease_target` raises `SizeLimitError` when all that was ordered is there, if only in creation."""
        group, young = creating(cloud, provider)
        with raising(SizeLimitError, f"decrease_target(1) with machine {young} in creation"):
            group.decrease_target(1)

    @needs(Ability.VANISH)
    def test_a_machine_that_vanished_does_not_count(self, cloud: Cloud, provider: Provider, restart: Restart) -> None:
        """A machine that is gone is not in `target_size`: nobody else would fill its place."""
        group = group_of(provider, cloud.group())
        cloud.vanish(group.id)
        wanted = cloud.target(group.id)
        told = [reread(provider, group).target_size, group_of(restart(), group.id).target_size]
        assert told == [wanted, wanted], (
            f"a machine vanished and {wanted} are left; target_size is {told[0]}, after a restart {told[1]}"
        )

    def test_a_failed_machine_counts_until_it_is_deleted(
        self, cloud: Cloud, provider: Provider, restart: Restart
    ) -> None:
        """A machine that failed is in `target_size`, also after a restart, and no more once it is deleted."""
        before = cloud.target(cloud.group())
        group, failed = failed_order(cloud, provider)
        told = [group.target_size, group_of(restart(), group.id).target_size]
        group.delete_nodes([unregistered(instance.id) for instance in failed])
        told += [reread(provider, group).target_size, group_of(restart(), group.id).target_size]
        assert told == [before + 1, before + 1, before, before], (
            f"of {before + 1} machines one failed, and was deleted; target_size is {told[0]}, after a restart "
            f"{told[1]}, after the deletion {told[2]}, after another restart {told[3]}"
        )


def _is_what_is_shown(group: NodeGroup, when: str) -> None:
    shown = [instance for instance in group.instances() if instance.state.counted]
    assert group.target_size == len(shown), (
        f"{when} target_size is {group.target_size}, instances() shows {len(shown)} machines that are not being deleted"
    )
