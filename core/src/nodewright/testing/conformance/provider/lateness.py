"""Lateness: reads of the cloud that still show the state before an order."""

import contextlib

import pytest

from nodewright.api import InstanceState, NodeGroup, NodewrightError, Provider, TemporaryError
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import (
    ProviderSuite,
    group_of,
    has_room,
    machine_of,
    needs,
    reread,
    with_spare,
)


@needs(Ability.CHANGE, Ability.DELAY)
class LatenessConformance(ProviderSuite):
    """Orders that the cloud does not show yet."""

    def test_growth_counts_before_the_cloud_tells_of_it(
        self, cloud: Cloud, provider: Provider, group: NodeGroup
    ) -> None:
        """`target_size` includes what was ordered, even after a refresh that still reads the former state."""
        before = has_room(cloud, group, 1)
        cloud.delay()
        group.increase(1)
        told = reread(provider, group).target_size
        assert told == before + 1, (
            f"after increase(1) of {before} machines, which the cloud does not tell of yet, target_size is {told}"
        )

    def test_orders_add_up_before_the_cloud_tells_of_them(
        self, cloud: Cloud, provider: Provider, group: NodeGroup
    ) -> None:
        """A second `increase` adds to the first, or raises `TemporaryError`, while the cloud shows neither."""
        before = has_room(cloud, group, 2)
        cloud.delay()
        group.increase(1)
        again = reread(provider, group)
        wanted = before + 2
        try:
            again.increase(1)
        except TemporaryError:
            wanted = before + 1
        except Exception as error:
            pytest.fail(f"increase(1) raised {error!r} while the cloud did not tell of the order before it")
        after = cloud.target(group.id)
        assert after == wanted, (
            f"{before} machines were to become {wanted} by increase(1), twice, while the cloud told of neither; "
            f"it is asked for {after}"
        )

    def test_a_deletion_counts_before_the_cloud_tells_of_it(self, cloud: Cloud, provider: Provider) -> None:
        """A machine that was deleted neither counts nor runs after a refresh that still reads the former state."""
        group, nodes = with_spare(cloud, provider, 1)
        before = cloud.target(group.id)
        cloud.delay()
        group.delete_nodes(nodes[:1])
        after = reread(provider, group)
        running = {each.id for each in after.instances() if each.state is InstanceState.RUNNING}
        gone = machine_of(nodes[0])
        assert gone not in running, f"{gone} was deleted, and is shown as running while the cloud does not tell of it"
        assert after.target_size == before - 1, (
            f"one of {before} machines was deleted, which the cloud does not tell of yet; "
            f"target_size is {after.target_size}"
        )

    def test_a_deletion_that_is_repeated_before_the_cloud_tells_of_it_counts_once(
        self, cloud: Cloud, provider: Provider
    ) -> None:
        """`delete_nodes` of what was deleted lowers the target once, while the cloud still shows the machine."""
        group, nodes = with_spare(cloud, provider, 2)
        before = cloud.target(group.id)
        cloud.delay()
        group.delete_nodes(nodes[:1])
        provider.refresh()
        with contextlib.suppress(NodewrightError):
            group_of(provider, group.id).delete_nodes(nodes[:1])
        after = cloud.target(group.id)
        assert after == before - 1, (
            f"one of {before} machines was deleted twice, as the cloud did not tell of it yet; it is asked for {after}"
        )

    def test_nothing_is_given_up_that_has_come_before_the_cloud_tells_of_it(
        self, cloud: Cloud, provider: Provider, group: NodeGroup
    ) -> None:
        """`decrease_target` deletes no machine, even one from an order that the cloud does not show yet."""
        has_room(cloud, group, 1)
        cloud.delay()
        group.increase(1)
        there = set(cloud.machines(group.id))
        with contextlib.suppress(NodewrightError):
            reread(provider, group).decrease_target(1)
        cloud.settle()
        gone = sorted(there - set(cloud.machines(group.id)))
        assert not gone, f"decrease_target(1) took {', '.join(gone)} away, which the cloud did not tell of yet"
