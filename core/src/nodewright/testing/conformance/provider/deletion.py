"""Deletion of machines."""

import contextlib
from collections.abc import Sequence

import pytest

from nodewright.api import Capability, ForeignNodeError, Node, NodeGroup, NodewrightError, Provider, SizeLimitError
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import (
    ProviderSuite,
    at_minimum,
    declares,
    has_room,
    machine_of,
    needs,
    raising,
    reread,
    unregistered,
    with_spare,
)
from nodewright.testing.conformance.provider.machines import creating, failed_order


@needs(Ability.CHANGE)
class DeletionConformance(ProviderSuite):
    """`NodeGroup.delete_nodes`."""

    def test_the_machine_that_was_asked_for_is_deleted(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` deletes the machine of the node, and no other."""
        group, nodes = with_spare(cloud, provider, 2)
        *others, doomed = map(machine_of, nodes)
        group.delete_nodes([nodes[-1]])
        cloud.settle()
        left = cloud.machines(group.id)
        told = f"machine {doomed} was to be deleted, of {[*others, doomed]} these are left: {list(left)}"
        assert doomed not in left, told
        assert left.keys() >= set(others), told

    def test_a_deletion_lowers_the_target(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` lowers the target by as many machines, so that none is replaced."""
        group, nodes = with_spare(cloud, provider, 2)
        before = cloud.target(group.id)
        group.delete_nodes(nodes[:2])
        after = cloud.target(group.id)
        assert after == before - 2, f"after 2 of {before} machines were deleted the cloud is asked for {after}"

    def test_a_deletion_is_seen_in_the_target(self, cloud: Cloud, provider: Provider) -> None:
        """After a deletion and a refresh, `target_size` excludes what was deleted, even if it is still going."""
        group, nodes = with_spare(cloud, provider, 1)
        before = group.target_size
        group.delete_nodes(nodes[:1])
        after = reread(provider, group).target_size
        assert after == before - 1, f"one of {before} machines was deleted, after a refresh target_size is {after}"

    def test_several_machines_are_deleted_at_once(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` deletes the machines of all nodes that it is given."""
        group, nodes = with_spare(cloud, provider, 2)
        doomed = set(map(machine_of, nodes[:2]))
        group.delete_nodes(nodes[:2])
        cloud.settle()
        left = sorted(doomed & cloud.machines(group.id).keys())
        assert not left, f"of {sorted(doomed)}, which were to be deleted, these are left: {left}"

    @needs(Ability.RESIZE)
    def test_a_deletion_keeps_what_somebody_else_ordered(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` lowers what the cloud is asked for now, not what the last refresh read."""
        group, nodes = with_spare(cloud, provider, 1)
        size = has_room(cloud, group, 1) + 1
        cloud.resize(group.id, size)
        group.delete_nodes(nodes[:1])
        after = cloud.target(group.id)
        assert after == size - 1, f"someone set the size to {size}; after a deletion the cloud is asked for {after}"

    @needs(Ability.OTHER_GROUP)
    def test_a_node_of_another_group_is_foreign(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` raises `ForeignNodeError` for a node of another group."""
        other = cloud.nodes(cloud.other_group())[0]
        provider.refresh()
        group, _ = with_spare(cloud, provider, 1)
        with raising(ForeignNodeError, "delete_nodes of another group's node"):
            group.delete_nodes([other])

    def test_a_node_of_another_cloud_is_foreign(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` raises `ForeignNodeError` for a node whose provider ID has another cloud's form."""
        group, _ = with_spare(cloud, provider, 1)
        with raising(ForeignNodeError, "delete_nodes of another cloud's node"):
            group.delete_nodes([cloud.foreign_node()])

    def test_nothing_is_deleted_with_a_foreign_node(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` looks at all nodes before it deletes the first."""
        group, nodes = with_spare(cloud, provider, 1)
        before = cloud.machines(group.id)
        with contextlib.suppress(NodewrightError):
            group.delete_nodes([nodes[-1], cloud.foreign_node()])
        cloud.settle()
        after = cloud.machines(group.id)
        assert after == before, f"one of two nodes was foreign, but the machines went from {before} to {after}"

    def test_a_deletion_below_the_minimum_is_a_size_limit(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` raises `SizeLimitError` if the target would fall below `min_size`."""
        group, nodes = at_minimum(cloud, provider)
        with raising(SizeLimitError, "delete_nodes below min_size"):
            group.delete_nodes(nodes[:1])

    def test_nothing_is_deleted_below_the_minimum(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` of more than the minimum allows deletes none at all."""
        group, nodes = with_spare(cloud, provider, 1)
        if group.min_size < 1:
            pytest.skip(f"group {group.id} has no minimum that deletions could pass: give it one of 1 or more")
        before = cloud.machines(group.id)
        with contextlib.suppress(NodewrightError):
            group.delete_nodes(nodes)
        cloud.settle()
        after = cloud.machines(group.id)
        assert after == before, f"a deletion of all passes the minimum, but the machines went from {before} to {after}"

    @needs(Ability.RESIZE)
    def test_the_minimum_holds_against_what_somebody_else_did(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` keeps to `min_size` even if the group has shrunk since the last refresh."""
        group, _ = with_spare(cloud, provider, 1)
        if group.min_size < 1:
            pytest.skip(f"group {group.id} has no minimum that deletions could pass: give it one of 1 or more")
        cloud.resize(group.id, group.min_size)
        with contextlib.suppress(NodewrightError):
            group.delete_nodes(cloud.nodes(group.id)[:1])
        after = cloud.target(group.id)
        assert after >= group.min_size, f"the minimum is {group.min_size}, the cloud is asked for {after}"

    def test_a_machine_that_never_was_is_not_counted(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` of a machine that never was raises `ForeignNodeError` or does nothing; the target stays."""
        group, _ = with_spare(cloud, provider, 1)
        before = cloud.target(group.id)
        with contextlib.suppress(ForeignNodeError):
            group.delete_nodes([cloud.unknown_node()])
        after = cloud.target(group.id)
        assert after == before, f"nothing was there to delete, but the cloud's target went from {before} to {after}"

    def test_deleting_twice_is_no_error(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` of a machine that is being deleted already does nothing."""
        group, nodes = with_spare(cloud, provider, 2)
        group.delete_nodes(nodes[:1])
        _is_no_error(group, nodes[:1], "on its way out")

    def test_deleting_twice_lowers_the_target_once(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` of a machine that is being deleted already does not change the target."""
        group, nodes = with_spare(cloud, provider, 2)
        before = cloud.target(group.id)
        group.delete_nodes(nodes[:1])
        with contextlib.suppress(NodewrightError):
            group.delete_nodes(nodes[:1])
        after = cloud.target(group.id)
        assert after == before - 1, f"one of {before} machines was deleted twice, the cloud is asked for {after}"

    def test_a_node_that_is_named_twice_counts_once(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` with the same node twice lowers the target by one."""
        group, nodes = with_spare(cloud, provider, 2)
        before = cloud.target(group.id)
        group.delete_nodes([nodes[0], nodes[0]])
        after = cloud.target(group.id)
        assert after == before - 1, f"one of {before} machines was named twice, the cloud is asked for {after}"

    def test_deleting_a_machine_that_is_gone_is_no_error(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` of a machine that the provider knew, but that is gone now, does nothing."""
        group, nodes = with_spare(cloud, provider, 2)
        group.delete_nodes(nodes[:1])
        cloud.settle()
        group = reread(provider, group)
        _is_no_error(group, nodes[:1], "gone")

    def test_a_machine_that_is_gone_holds_up_no_other(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` of several machines deletes the others if one of them is being deleted already."""
        group, nodes = with_spare(cloud, provider, 2)
        group.delete_nodes(nodes[:1])
        with contextlib.suppress(NodewrightError):
            group.delete_nodes(nodes[:2])
        cloud.settle()
        left = cloud.machines(group.id)
        doomed = machine_of(nodes[1])
        assert doomed not in left, f"{doomed} was deleted with a machine that was on its way out, but is still there"

    def test_a_machine_that_never_registered_is_deleted(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` goes by the provider ID: a machine that never became a node has nothing else."""
        group, nodes = with_spare(cloud, provider, 1)
        doomed = machine_of(nodes[0])
        with contextlib.suppress(NodewrightError):
            group.delete_nodes([unregistered(doomed)])
        cloud.settle()
        assert doomed not in cloud.machines(group.id), f"machine {doomed}, given by its id alone, was not deleted"

    @needs(Ability.HOLD, Ability.TRUTH)
    def test_a_machine_in_creation_is_deleted(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` accepts machines that are still being made: they may never come up."""
        group, young = creating(cloud, provider)
        with contextlib.suppress(NodewrightError):
            group.delete_nodes([unregistered(young)])
        cloud.heal()
        cloud.settle()
        assert young not in cloud.machines(group.id), f"machine {young}, which was in creation, was not deleted"

    def test_a_failed_order_is_taken_back(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` of a machine that will never come lowers the target."""
        before = cloud.target(cloud.group())
        group, failed = failed_order(cloud, provider)
        group.delete_nodes([unregistered(instance.id) for instance in failed])
        after = cloud.target(group.id)
        assert after == before, f"after the failed order was deleted, the cloud is asked for {after}, not {before}"

    @declares(Capability.FORCE_DELETE)
    def test_a_forced_deletion_passes_the_minimum(self, cloud: Cloud, provider: Provider) -> None:
        """`force_delete_nodes` deletes machines whatever `min_size`."""
        group, nodes = at_minimum(cloud, provider)
        doomed = machine_of(nodes[0])
        with contextlib.suppress(SizeLimitError):
            group.force_delete_nodes(nodes[:1])
        cloud.settle()
        left = cloud.machines(group.id)
        assert doomed not in left, f"machine {doomed} was to be deleted whatever the minimum, but is still there"

    @declares(Capability.FORCE_DELETE)
    def test_a_forced_deletion_lowers_the_target(self, cloud: Cloud, provider: Provider) -> None:
        """`force_delete_nodes` lowers the target as `delete_nodes` does."""
        group, nodes = with_spare(cloud, provider, 1)
        before = cloud.target(group.id)
        group.force_delete_nodes(nodes[:1])
        after = cloud.target(group.id)
        assert after == before - 1, f"after one of {before} machines was deleted the cloud is asked for {after}"

    @declares(Capability.FORCE_DELETE)
    def test_a_forced_deletion_of_a_foreign_node_is_refused(self, cloud: Cloud, provider: Provider) -> None:
        """`force_delete_nodes` raises `ForeignNodeError` as `delete_nodes` does."""
        group, _ = with_spare(cloud, provider, 1)
        with raising(ForeignNodeError, "force_delete_nodes of another cloud's node"):
            group.force_delete_nodes([cloud.foreign_node()])


@needs(Ability.CHANGE, Ability.DELETE_ONLY)
class PartialDeletionConformance(ProviderSuite):
    """`NodeGroup.delete_nodes`, when the cloud deletes some machines and refuses others."""

    def test_a_deletion_in_part_is_an_error(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` raises if the cloud did not accept all deletions."""
        group, nodes = with_spare(cloud, provider, 2)
        cloud.delete_only(1)
        with raising(NodewrightError, "delete_nodes of which the cloud did only a part"):
            group.delete_nodes(nodes[:2])

    def test_a_deletion_in_part_lowers_the_target_by_that_part(self, cloud: Cloud, provider: Provider) -> None:
        """After a deletion in part, the cloud is asked for exactly the machines that are left."""
        group, nodes = with_spare(cloud, provider, 2)
        before = cloud.target(group.id)
        cloud.delete_only(1)
        with contextlib.suppress(NodewrightError):
            group.delete_nodes(nodes[:2])
        after = cloud.target(group.id)
        cloud.settle()
        left = len(set(map(machine_of, nodes)) & cloud.machines(group.id).keys())
        gone = len(nodes) - left
        assert after == before - gone, f"{gone} of {before} machines were deleted, the cloud is asked for {after}"

    def test_a_deletion_in_part_can_be_repeated(self, cloud: Cloud, provider: Provider) -> None:
        """The same `delete_nodes`, once repeated, deletes the rest and lowers the target by no more than that."""
        group, nodes = with_spare(cloud, provider, 2)
        before = cloud.target(group.id)
        cloud.delete_only(1)
        with contextlib.suppress(NodewrightError):
            group.delete_nodes(nodes[:2])
        cloud.heal()
        group = reread(provider, group)
        group.delete_nodes(nodes[:2])
        after = cloud.target(group.id)
        assert after == before - 2, f"2 of {before} machines were deleted in two goes, the cloud is asked for {after}"


def _is_no_error(group: NodeGroup, nodes: Sequence[Node], how: str) -> None:
    try:
        group.delete_nodes(nodes)
    except Exception as error:
        pytest.fail(f"delete_nodes of a machine that is {how} already raised {error!r}: it is nothing to do")
