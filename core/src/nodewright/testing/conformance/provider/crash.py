"""Crashes: orders whose result the provider does not know, after a restart or a lost answer."""

import contextlib

import pytest

from nodewright.api import ForeignNodeError, NodeGroup, NodewrightError, Provider, TemporaryError
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import (
    ProviderSuite,
    Restart,
    group_of,
    has_room,
    needs,
    with_spare,
)


@needs(Ability.CHANGE)
class CrashConformance(ProviderSuite):
    """Restarts, and answers that get lost."""

    def test_a_restart_sees_what_was_ordered(self, cloud: Cloud, group: NodeGroup, restart: Restart) -> None:
        """A new provider's `target_size` includes machines that its predecessor ordered and that are not there yet."""
        before = has_room(cloud, group, 1)
        if Ability.HOLD in cloud.abilities:
            cloud.hold()
        group.increase(1)
        told = group_of(restart(), group.id).target_size
        assert told == before + 1, f"after increase(1) of {before} machines and a restart, target_size is {told}"

    def test_a_restart_orders_nothing(self, cloud: Cloud, group: NodeGroup, restart: Restart) -> None:
        """A new provider changes nothing in the cloud by itself."""
        before = has_room(cloud, group, 1)
        group.increase(1)
        restart()
        after = cloud.target(group.id)
        assert after == before + 1, f"{before + 1} machines were asked for, after a restart {after} are"

    def test_a_deletion_that_is_repeated_after_a_restart_counts_once(
        self, cloud: Cloud, provider: Provider, restart: Restart
    ) -> None:
        """`delete_nodes` of what the provider deleted before a restart does not change the target."""
        group, nodes = with_spare(cloud, provider, 2)
        before = cloud.target(group.id)
        group.delete_nodes(nodes[:1])
        with contextlib.suppress(ForeignNodeError):
            group_of(restart(), group.id).delete_nodes(nodes[:1])
        after = cloud.target(group.id)
        assert after == before - 1, (
            f"one of {before} machines was deleted, and after a restart once more; the cloud is asked for {after}"
        )

    @needs(Ability.LOSE_ANSWER)
    def test_an_order_without_an_answer_is_not_doubled(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase` does not order again when the answer to the order was lost; it may undo the order and raise."""
        before = has_room(cloud, group, 2)
        cloud.lose_answer()
        with contextlib.suppress(NodewrightError):
            group.increase(1)
        after = cloud.target(group.id)
        assert after <= before + 1, f"increase(1) of {before} machines got no answer, the cloud is asked for {after}"

    @needs(Ability.LOSE_ANSWER)
    def test_an_order_without_an_answer_is_temporary(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase` whose answer was lost returns or raises `TemporaryError`: the next refresh shows what happened."""
        has_room(cloud, group, 2)
        cloud.lose_answer()
        try:
            group.increase(1)
        except TemporaryError:
            pass
        except Exception as error:
            pytest.fail(f"the answer to increase was lost, and it raised {error!r}")

    @needs(Ability.LOSE_ANSWER)
    def test_a_deletion_without_an_answer_can_be_repeated(self, cloud: Cloud, provider: Provider) -> None:
        """`delete_nodes` that is repeated because its answer was lost lowers the target once."""
        group, nodes = with_spare(cloud, provider, 2)
        before = cloud.target(group.id)
        cloud.lose_answer()
        with contextlib.suppress(TemporaryError):
            group.delete_nodes(nodes[:1])
        provider.refresh()
        group_of(provider, group.id).delete_nodes(nodes[:1])
        after = cloud.target(group.id)
        assert after == before - 1, f"one of {before} machines was deleted in two goes, the cloud is asked for {after}"
