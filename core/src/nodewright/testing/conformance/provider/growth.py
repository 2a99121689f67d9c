"""Groups that grow."""

import contextlib

import pytest

from nodewright.api import NodeGroup, NodewrightError, Provider, SizeLimitError
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import ProviderSuite, group_of, has_room, needs


@needs(Ability.CHANGE)
class GrowthConformance(ProviderSuite):
    """`NodeGroup.increase`."""

    def test_increase_orders_as_many_machines_as_asked(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase(3)` raises the target in the cloud by three."""
        before = has_room(group, 3).target_size
        group.increase(3)
        after = cloud.target(group.id)
        assert after == before + 3, f"after increase(3) of {before} machines the cloud is asked for {after}"

    def test_increases_add_up(self, cloud: Cloud, group: NodeGroup) -> None:
        """Growing twice between two refreshes adds up."""
        before = has_room(group, 2).target_size
        group.increase(1)
        group.increase(1)
        after = cloud.target(group.id)
        assert after == before + 2, f"after increase(1) twice of {before} machines the cloud is asked for {after}"

    def test_an_order_is_seen_in_the_target(self, provider: Provider, group: NodeGroup) -> None:
        """After an order and a refresh, `target_size` includes what was ordered, whether it is there or not."""
        before = has_room(group, 1).target_size
        group.increase(1)
        provider.refresh()
        after = group_of(provider, group.id).target_size
        assert after == before + 1, f"after increase(1) of {before} machines and a refresh, target_size is {after}"

    def test_growth_beyond_the_maximum_is_a_size_limit(self, group: NodeGroup) -> None:
        """`increase` beyond `max_size` raises `SizeLimitError`."""
        with pytest.raises(SizeLimitError):
            group.increase(group.max_size - group.target_size + 1)

    def test_growth_beyond_the_maximum_changes_nothing(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase` beyond `max_size` orders nothing, not even what would still fit."""
        before = cloud.target(group.id)
        with contextlib.suppress(NodewrightError):
            group.increase(group.max_size - group.target_size + 1)
        after = cloud.target(group.id)
        assert after == before, f"an increase beyond the maximum took the cloud's target from {before} to {after}"
