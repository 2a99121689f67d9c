"""Unmet demand that is given up."""

import contextlib

import pytest

from nodewright.api import InstanceState, NodeGroup, NodewrightError, Provider, SizeLimitError
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import CanKeepWaiting, KeepsTarget, ProviderSuite, needs, raising
from nodewright.testing.conformance.provider.machines import creating, starved
from nodewright.testing.conformance.suite import requires


@needs(Ability.CHANGE)
class DecreaseConformance(ProviderSuite):
    """`NodeGroup.decrease_target`."""

    @requires(KeepsTarget(True))
    @needs(Ability.STARVE)
    def test_unmet_demand_is_given_up(self, cloud: Cloud, provider: Provider) -> None:
        """`decrease_target` lowers the target by as many of the machines that have not come as asked."""
        group, size = starved(cloud, provider, 2)
        group.decrease_target(1)
        after = cloud.target(group.id)
        assert after == size + 1, (
            f"of {size + 2} machines 2 did not come; after decrease_target(1) the cloud is asked for {after}"
        )

    @requires(CanKeepWaiting())
    def test_unmet_demand_is_seen_in_the_target(self, cloud: Cloud, provider: Provider) -> None:
        """`target_size` is what the cloud is asked for, not the number of machines that are there."""
        group, size = starved(cloud, provider, 2)
        told = group.target_size
        assert told == size + 2, f"{size} machines are there and 2 more are ordered, target_size is {told}"

    @requires(CanKeepWaiting())
    def test_more_than_unmet_demand_is_a_size_limit(self, cloud: Cloud, provider: Provider) -> None:
        """`decrease_target` raises `SizeLimitError` when it is to give up more than has not come."""
        group, _ = starved(cloud, provider, 1)
        with raising(SizeLimitError, "decrease_target(2) where 1 machine has not come"):
            group.decrease_target(2)

    @requires(CanKeepWaiting())
    def test_more_than_unmet_demand_is_not_given_up_in_part(self, cloud: Cloud, provider: Provider) -> None:
        """`decrease_target` of more than has not come leaves the target alone."""
        group, size = starved(cloud, provider, 1)
        with contextlib.suppress(NodewrightError):
            group.decrease_target(2)
        after = cloud.target(group.id)
        assert after == size + 1, (
            f"of {size + 1} machines 1 did not come; after decrease_target(2) the cloud is asked for {after}"
        )

    @pytest.mark.parametrize("count", [0, -1])
    def test_giving_up_nothing_or_less_changes_nothing(self, cloud: Cloud, group: NodeGroup, count: int) -> None:
        """`decrease_target` by a number that is not positive orders nothing and gives up nothing."""
        before = cloud.target(group.id)
        with contextlib.suppress(Exception):
            group.decrease_target(count)
        after = cloud.target(group.id)
        assert after == before, f"decrease_target({count}) took the cloud's target from {before} to {after}"

    def test_met_demand_is_a_size_limit(self, group: NodeGroup) -> None:
        """`decrease_target` raises `SizeLimitError` when all machines that were asked for are there."""
        with raising(SizeLimitError, "decrease_target(1) of a group whose machines are all there"):
            group.decrease_target(1)

    def test_met_demand_is_not_given_up(self, cloud: Cloud, group: NodeGroup) -> None:
        """`decrease_target` deletes nothing, whatever it is asked for."""
        before = cloud.machines(group.id)
        with contextlib.suppress(NodewrightError):
            group.decrease_target(1)
        cloud.settle()
        after = cloud.machines(group.id)
        assert after == before, f"decrease_target of met demand changed the machines from {before} to {after}"

    @needs(Ability.HOLD, Ability.TRUTH)
    def test_a_machine_in_creation_is_not_given_up(self, cloud: Cloud, provider: Provider) -> None:
        """`decrease_target` counts machines that are being made as there: deleting them is for `delete_nodes`."""
        group, young = creating(cloud, provider)
        with contextlib.suppress(SizeLimitError):
            group.decrease_target(1)
        cloud.heal()
        cloud.settle()
        assert young in cloud.machines(group.id), f"decrease_target deleted machine {young}, which was in creation"

    @requires(CanKeepWaiting())
    def test_a_machine_that_came_meanwhile_is_not_given_up(self, cloud: Cloud, provider: Provider) -> None:
        """`decrease_target` deletes no machine that has come since the last refresh."""
        group, _ = starved(cloud, provider, 1)
        cloud.heal()
        cloud.settle()
        before = _running(cloud, group)
        with contextlib.suppress(NodewrightError):
            group.decrease_target(1)
        cloud.settle()
        after = _running(cloud, group)
        assert after >= before, f"decrease_target deleted {before - after}, which came since the last refresh"


def _running(cloud: Cloud, group: NodeGroup) -> set[str]:
    return {id_ for id_, state in cloud.machines(group.id).items() if state is InstanceState.RUNNING}
