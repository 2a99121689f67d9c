"""Growth of groups."""

import contextlib

import pytest

from nodewright.api import (
    Capability,
    CapacityError,
    ErrorClass,
    NodeGroup,
    NodewrightError,
    Provider,
    SizeLimitError,
    TemporaryError,
)
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import (
    ProviderSuite,
    declares,
    has_atomic_growth,
    has_room,
    needs,
    raising,
    reread,
)


@needs(Ability.CHANGE)
class GrowthConformance(ProviderSuite):
    """`NodeGroup.increase`."""

    def test_increase_orders_as_many_machines_as_asked(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase(3)` raises the cloud's target by three."""
        before = has_room(cloud, group, 3)
        group.increase(3)
        after = cloud.target(group.id)
        assert after == before + 3, f"after increase(3) of {before} machines the cloud is asked for {after}"

    def test_increases_add_up(self, cloud: Cloud, group: NodeGroup) -> None:
        """Growing twice between two refreshes adds up."""
        before = has_room(cloud, group, 2)
        group.increase(1)
        group.increase(1)
        after = cloud.target(group.id)
        assert after == before + 2, f"after increase(1) twice of {before} machines the cloud is asked for {after}"

    def test_an_order_is_seen_in_the_target(self, cloud: Cloud, provider: Provider, group: NodeGroup) -> None:
        """After an order and a refresh, `target_size` includes what was ordered, whether it is there or not."""
        before = has_room(cloud, group, 1)
        group.increase(1)
        after = reread(provider, group).target_size
        assert after == before + 1, f"after increase(1) of {before} machines and a refresh, target_size is {after}"

    def test_growth_beyond_the_maximum_is_a_size_limit(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase` beyond `max_size` raises `SizeLimitError`."""
        with raising(SizeLimitError, "increase beyond max_size"):
            group.increase(group.max_size - cloud.target(group.id) + 1)

    def test_growth_beyond_the_maximum_changes_nothing(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase` beyond `max_size` orders nothing, not even what would still fit."""
        before = cloud.target(group.id)
        with contextlib.suppress(NodewrightError):
            group.increase(group.max_size - before + 1)
        after = cloud.target(group.id)
        assert after == before, f"an increase beyond the maximum took the cloud's target from {before} to {after}"

    @pytest.mark.parametrize("count", [0, -1])
    def test_growth_by_nothing_or_less_changes_nothing(self, cloud: Cloud, group: NodeGroup, count: int) -> None:
        """`increase` of a number that is not positive orders nothing and deletes nothing."""
        before = cloud.target(group.id)
        with contextlib.suppress(Exception):
            group.increase(count)
        after = cloud.target(group.id)
        assert after == before, f"increase({count}) took the cloud's target from {before} to {after}"

    @needs(Ability.RESIZE)
    def test_growth_keeps_what_somebody_else_ordered(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase` adds to what the cloud is asked for now, not to what the last refresh read."""
        before = has_room(cloud, group, 3)
        cloud.resize(group.id, before + 2)
        with contextlib.suppress(TemporaryError):
            group.increase(1)
        after = cloud.target(group.id)
        assert before + 2 <= after <= before + 3, (
            f"someone set the size from {before} to {before + 2}; after increase(1) the cloud is asked for {after}"
        )

    @needs(Ability.RESIZE)
    def test_the_maximum_holds_against_what_somebody_else_ordered(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase` keeps to `max_size` even if the group has grown since the last refresh."""
        has_room(cloud, group, 1)
        cloud.resize(group.id, group.max_size)
        with contextlib.suppress(NodewrightError):
            group.increase(1)
        after = cloud.target(group.id)
        assert after <= group.max_size, f"the maximum is {group.max_size}, the cloud is asked for {after}"

    @pytest.mark.parametrize("why", list(ErrorClass), ids=str)
    def test_a_refused_order_is_a_lack_of_capacity(self, cloud: Cloud, group: NodeGroup, why: ErrorClass) -> None:
        """`increase` raises `CapacityError` with the right class when the cloud knows that it can't deliver."""
        _refuse(cloud, group, why)
        with raising(CapacityError, f"increase that the cloud refuses for {why}") as raised:
            group.increase(1)
        told = raised[0].cause.error_class
        assert told is why, f"the cloud refused an order for {why}, the CapacityError says {told}"

    def test_a_refused_order_changes_nothing(self, cloud: Cloud, group: NodeGroup) -> None:
        """When the cloud refuses an order, the target is unchanged."""
        before = _refuse(cloud, group, *cloud.refusals)
        with contextlib.suppress(NodewrightError):
            group.increase(1)
        after = cloud.target(group.id)
        assert after == before, f"the cloud refused an order, but its target went from {before} to {after}"

    def test_a_refused_order_does_not_hinder_the_next(self, cloud: Cloud, group: NodeGroup) -> None:
        """What the cloud refused takes up no room: the next order is given as if it were the first."""
        size = _refuse(cloud, group, *cloud.refusals)
        with contextlib.suppress(NodewrightError):
            group.increase(group.max_size - size)
        cloud.heal()
        before = has_room(cloud, group, 1)
        with contextlib.suppress(SizeLimitError):
            group.increase(1)
        after = cloud.target(group.id)
        assert after == before + 1, f"after a refused order increase(1) took the target from {before} to {after}"

    def test_a_refused_order_names_a_pool_of_the_group(self, cloud: Cloud, group: NodeGroup) -> None:
        """If the `CapacityError` of a stock-out names a pool, it is one of the group's `pools`."""
        _refuse(cloud, group, ErrorClass.STOCK_OUT)
        pools = group.pools()
        try:
            group.increase(1)
        except CapacityError as refused:
            pool = refused.cause.pool
            assert not pool or not pools or pool in pools, f"pool {pool} ran dry, the group draws from {list(pools)}"

    @declares(Capability.ATOMIC_INCREASE)
    def test_an_atomic_increase_orders_as_many_machines_as_asked(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase_atomically` raises the cloud's target by as many."""
        has_atomic_growth(group)
        before = has_room(cloud, group, 2)
        group.increase_atomically(2)
        after = cloud.target(group.id)
        assert after == before + 2, f"after increase_atomically(2) of {before} machines the cloud is asked for {after}"

    @declares(Capability.ATOMIC_INCREASE)
    def test_an_atomic_increase_beyond_the_maximum_is_a_size_limit(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase_atomically` beyond `max_size` raises `SizeLimitError`."""
        has_atomic_growth(group)
        with raising(SizeLimitError, "increase_atomically beyond max_size"):
            group.increase_atomically(group.max_size - cloud.target(group.id) + 1)

    @declares(Capability.ATOMIC_INCREASE)
    def test_an_atomic_increase_beyond_the_maximum_changes_nothing(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase_atomically` beyond `max_size` orders nothing, not even what would still fit."""
        has_atomic_growth(group)
        before = cloud.target(group.id)
        with contextlib.suppress(NodewrightError):
            group.increase_atomically(group.max_size - before + 1)
        after = cloud.target(group.id)
        assert after == before, f"an atomic increase beyond the maximum took the target from {before} to {after}"

    @needs(Ability.LIMIT)
    @declares(Capability.ATOMIC_INCREASE)
    def test_an_atomic_increase_takes_all_or_nothing(self, cloud: Cloud, group: NodeGroup) -> None:
        """If the cloud has only some of the machines for `increase_atomically`, none stay ordered."""
        has_atomic_growth(group)
        before = has_room(cloud, group, 2)
        cloud.limit(group.id, 1)
        with contextlib.suppress(NodewrightError):
            group.increase_atomically(2)
        cloud.settle()
        after = cloud.target(group.id)
        assert after == before, (
            f"the cloud had 1 of 2 machines; after increase_atomically(2) of {before} it is asked for {after}"
        )

    @declares(Capability.ATOMIC_INCREASE)
    def test_a_group_without_atomic_growth_orders_nothing_of_it(self, cloud: Cloud, provider: Provider) -> None:
        """`increase_atomically` of a group whose `atomic` is False orders nothing."""
        groups = [group for group in provider.groups() if not group.atomic]
        if not groups:
            pytest.skip("all groups can grow atomically")
        for group in groups:
            before = cloud.target(group.id)
            with contextlib.suppress(NodewrightError, NotImplementedError):
                group.increase_atomically(1)
            after = cloud.target(group.id)
            assert after == before, f"group {group.id} can't grow atomically, but its target went to {after}"


def _refuse(cloud: Cloud, group: NodeGroup, *reasons: ErrorClass) -> int:
    """Have orders refused for the first of *reasons*; return what the cloud is asked for before."""
    why = next((why for why in sorted(reasons) if why in cloud.refusals), None)
    if why is None:
        pytest.skip(f"the cloud under test can't refuse orders for {' or '.join(reasons) or 'any reason'}")
    size = has_room(cloud, group, 1)
    cloud.refuse(group.id, why)
    return size
