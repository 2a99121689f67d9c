"""Machines in all their states."""

import contextlib
from collections.abc import Mapping

import pytest

from nodewright.api import CapacityError, ErrorClass, Instance, InstanceState, NodeGroup, PartialIncreaseError, Provider
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import (
    CROWD,
    ProviderSuite,
    Restart,
    group_of,
    has_room,
    machine_of,
    needs,
    reread,
    unregistered,
    with_spare,
)
from nodewright.testing.conformance.provider.machines import creating, failed_order


class InstancesConformance(ProviderSuite):
    """`NodeGroup.instances`."""

    def test_machines_that_run_are_running(self, group: NodeGroup) -> None:
        """At rest, as many machines are shown in state Running as the group is asked for."""
        running = [instance for instance in group.instances() if instance.state is InstanceState.RUNNING]
        assert len(running) == group.target_size, (
            f"at rest with target_size {group.target_size}, instances() shows {len(running)} machines as running: "
            f"{_states(group)}"
        )

    @needs(Ability.POPULATE)
    def test_all_of_many_machines_are_shown(self, cloud: Cloud, provider: Provider) -> None:
        """Every machine is shown, even if the cloud lists its machines page by page."""
        few = _running(provider)
        cloud.populate(CROWD)
        provider.refresh()
        many = _running(provider)
        assert many >= few + CROWD, f"{few} machines ran, and {CROWD} more came; instances() shows {many} that run"


@needs(Ability.CHANGE)
class LifeConformance(ProviderSuite):
    """`Instance.state`, from the order to the end of a machine."""

    @needs(Ability.HOLD, Ability.TRUTH)
    def test_a_machine_in_creation_is_creating(self, cloud: Cloud, provider: Provider) -> None:
        """A machine that was ordered and does not run yet is shown in state Creating."""
        group, young = creating(cloud, provider)
        state = _states(group).get(young)
        assert state is InstanceState.CREATING, f"machine {young} is in creation, instances() shows it as {state}"

    def test_a_machine_that_has_come_is_running(self, cloud: Cloud, provider: Provider, group: NodeGroup) -> None:
        """A machine that was in creation, and runs by now, is shown in state Running."""
        size = has_room(cloud, group, 1)
        group.increase(1)
        provider.refresh()
        cloud.settle()
        group = reread(provider, group)
        running = list(_states(group).values()).count(InstanceState.RUNNING)
        assert running == size + 1, f"{size} machines and a new one run, instances() shows {_states(group)}"

    def test_a_machine_that_is_deleted_is_not_running(self, cloud: Cloud, provider: Provider) -> None:
        """A machine that was just deleted is shown in state Deleting or Stopped, or not at all."""
        group, nodes = with_spare(cloud, provider, 1)
        group.delete_nodes(nodes[:1])
        state = _states(reread(provider, group)).get(machine_of(nodes[0]), InstanceState.DELETING)
        assert not state.counted, f"{machine_of(nodes[0])} is being deleted, but shown as {state}"

    def test_a_machine_that_is_deleted_is_not_running_after_a_restart(
        self, cloud: Cloud, provider: Provider, restart: Restart
    ) -> None:
        """A new provider shows a machine that was just deleted in state Deleting or Stopped, or not at all."""
        group, nodes = with_spare(cloud, provider, 1)
        group.delete_nodes(nodes[:1])
        again = group_of(restart(), group.id)
        state = _states(again).get(machine_of(nodes[0]), InstanceState.DELETING)
        assert not state.counted, f"after a restart {machine_of(nodes[0])} is shown as {state}"

    def test_a_machine_that_is_gone_is_not_shown(self, cloud: Cloud, provider: Provider) -> None:
        """A machine that was deleted, and is gone, is shown no more."""
        group, nodes = with_spare(cloud, provider, 1)
        group.delete_nodes(nodes[:1])
        provider.refresh()
        cloud.settle()
        shown = _states(reread(provider, group))
        assert machine_of(nodes[0]) not in shown, f"{machine_of(nodes[0])} is gone, instances() shows {shown}"


@needs(Ability.CHANGE)
class FailureConformance(ProviderSuite):
    """`Instance.error`: machines that were ordered and will never come."""

    @pytest.mark.parametrize("why", list(ErrorClass), ids=str)
    def test_a_failed_order_tells_why(self, cloud: Cloud, provider: Provider, why: ErrorClass) -> None:
        """An order that failed is shown as a machine with an error of the right class."""
        _, failed = failed_order(cloud, provider, why)
        told = {instance.error.error_class for instance in failed if instance.error}
        assert told == {why}, f"an order failed for {why}, the errors of instances() say {sorted(told) or 'nothing'}"

    def test_a_failed_order_is_creating(self, cloud: Cloud, provider: Provider) -> None:
        """A machine with an error is shown in state Creating: only so is it taken as one that will not come."""
        _, failed = failed_order(cloud, provider)
        wrong = {instance.id: instance.state for instance in failed if instance.state is not InstanceState.CREATING}
        assert not wrong, f"machines that failed are shown in other states than Creating: {wrong}"

    def test_failed_machines_count(self, cloud: Cloud, provider: Provider) -> None:
        """`target_size` includes machines that failed, until they are deleted: the core lowers it by deleting them."""
        group, _ = failed_order(cloud, provider, count=2)
        wanted, told = cloud.target(group.id), group.target_size
        assert told == wanted, f"after 2 machines failed the cloud is asked for {wanted}, target_size is {told}"
        shown = [instance for instance in group.instances() if instance.state.counted]
        assert told >= len(shown), f"{len(shown)} machines are there or have failed, but target_size is {told}"

    def test_every_failed_machine_is_shown(self, cloud: Cloud, provider: Provider) -> None:
        """Of two machines that failed, two are shown, each with an id of its own."""
        _, failed = failed_order(cloud, provider, count=2)
        ids = {instance.id for instance in failed}
        assert len(ids) == 2, f"2 machines failed, instances() shows {sorted(ids)}"

    def test_the_code_of_a_failure_is_the_same_for_all(self, cloud: Cloud, provider: Provider) -> None:
        """`InstanceError.code` is the cloud's own word, not empty and without a machine's id: metrics count by it."""
        _, failed = failed_order(cloud, provider, count=2)
        codes = {instance.error.code for instance in failed if instance.error}
        told = f"2 machines failed for one reason, their codes are {sorted(codes)}"
        assert len(codes) == 1, told
        assert all(codes), told

    def test_a_failed_machine_keeps_its_id(self, cloud: Cloud, provider: Provider) -> None:
        """A machine that failed is shown under the same id after the next refresh: it is deleted by it."""
        group, failed = failed_order(cloud, provider, count=2)
        before = sorted(instance.id for instance in failed)
        after = sorted(instance.id for instance in reread(provider, group).instances() if _failed(instance))
        assert after == before, f"machines that failed were shown as {before}, and after another refresh as {after}"

    def test_a_stock_out_names_a_pool_of_the_group(self, cloud: Cloud, provider: Provider) -> None:
        """If a stock-out names a pool, it is one of the group's `pools`: other groups are kept off it as well."""
        group, failed = failed_order(cloud, provider, ErrorClass.STOCK_OUT)
        named = {instance.error.pool for instance in failed if instance.error and instance.error.pool}
        pools = set(group.pools()) or named
        assert named <= pools, f"pools {sorted(named)} ran dry, group {group.id} draws from {sorted(pools)}"

    @needs(Ability.LIMIT, Ability.TRUTH)
    def test_what_came_of_an_order_filled_in_part_is_running(self, cloud: Cloud, provider: Provider) -> None:
        """When the cloud has only a part of what was ordered, the machines that came are running."""
        group = _filled_in_part(cloud, provider)
        there = {id_ for id_, state in cloud.machines(group.id).items() if state is InstanceState.RUNNING}
        running = {id_ for id_, state in _states(group).items() if state is InstanceState.RUNNING}
        assert running == there, f"1 of 2 machines came: {sorted(there)} run, instances() shows {sorted(running)}"

    @needs(Ability.LIMIT, Ability.TRUTH)
    def test_no_more_machines_failed_than_are_missing(self, cloud: Cloud, provider: Provider) -> None:
        """When the cloud has only a part of what was ordered, no more are shown as failed than did not come."""
        group = _filled_in_part(cloud, provider)
        missing = cloud.target(group.id) - len(cloud.machines(group.id))
        failed = sum(map(_failed, group.instances()))
        assert failed <= missing, f"1 of 2 machines came, {missing} are missing, {failed} are shown as failed"

    def test_an_old_failure_does_not_stick(self, cloud: Cloud, provider: Provider) -> None:
        """After a failed order was taken back, the next one that the cloud fills shows no error."""
        group, failed = failed_order(cloud, provider)
        group.delete_nodes([unregistered(instance.id) for instance in failed])
        cloud.heal()
        cloud.settle()
        group = reread(provider, group)
        group.increase(1)
        cloud.settle()
        wrong = [instance for instance in reread(provider, group).instances() if instance.error]
        assert not wrong, f"the cloud filled a new order, instances() still shows {wrong}"


def _filled_in_part(cloud: Cloud, provider: Provider) -> NodeGroup:
    """The group under test after an order of two machines, of which the cloud had one."""
    group = group_of(provider, cloud.group())
    has_room(cloud, group, 2)
    cloud.limit(group.id, 1)
    with contextlib.suppress(CapacityError, PartialIncreaseError):
        group.increase(2)
    cloud.settle()
    return reread(provider, group)


def _running(provider: Provider) -> int:
    states = [instance.state for group in provider.groups() for instance in group.instances()]
    return states.count(InstanceState.RUNNING)


def _states(group: NodeGroup) -> Mapping[str, InstanceState]:
    return {instance.id: instance.state for instance in group.instances() if not _failed(instance)}


def _failed(instance: Instance) -> bool:
    return instance.error is not None
