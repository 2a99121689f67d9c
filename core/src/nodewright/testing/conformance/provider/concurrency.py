"""Concurrency: actions that run at the same time."""

import sys
from collections.abc import Callable, Iterator, Sequence
from threading import Barrier, Thread

import pytest

from nodewright.api import Node, NodeGroup, Provider
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import ProviderSuite, facts, group_of, has_room, needs


@needs(Ability.CHANGE)
class ConcurrencyConformance(ProviderSuite):
    """Actions run on threads of their own: one at a time for a group, several groups at once."""

    @pytest.fixture(autouse=True)
    def _switch_often(self) -> Iterator[None]:
        """Switch between threads often, so that races show."""
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        yield
        sys.setswitchinterval(interval)

    @needs(Ability.OTHER_GROUP)
    def test_groups_grow_at_the_same_time(self, cloud: Cloud, provider: Provider) -> None:
        """Two groups that are grown at once each get what was asked for them."""
        names = (cloud.group(), cloud.other_group())
        provider.refresh()
        groups = [group_of(provider, name) for name in names]
        before = [has_room(cloud, group, count) for count, group in enumerate(groups, 1)]
        _at_once(*(_order(group, count) for count, group in enumerate(groups, 1)), patience=cloud.patience)
        after = [cloud.target(name) for name in names]
        assert after == [before[0] + 1, before[1] + 2], (
            f"groups {names} of {before} machines were grown by 1 and 2 at once, the cloud is asked for {after}"
        )

    @needs(Ability.OTHER_GROUP)
    def test_groups_shrink_at_the_same_time(self, cloud: Cloud, provider: Provider) -> None:
        """Two groups that lose a machine at once each lose their own."""
        names = (cloud.group(), cloud.other_group())
        provider.refresh()
        groups = [group_of(provider, name) for name in names]
        before = [has_room(cloud, group, 1) for group in groups]
        for group in groups:
            group.increase(1)
        cloud.settle()
        provider.refresh()
        doomed = [cloud.nodes(name)[:1] for name in names]
        groups = [group_of(provider, name) for name in names]
        _at_once(*map(_deletion, groups, doomed), patience=cloud.patience)
        after = [cloud.target(name) for name in names]
        assert after == before, (
            f"groups {names} of {[size + 1 for size in before]} machines lost one each at once, "
            f"the cloud is asked for {after}"
        )

    def test_an_action_may_outlast_a_refresh(self, cloud: Cloud, provider: Provider, group: NodeGroup) -> None:
        """A `NodeGroup` still works after the provider has been refreshed again."""
        before = has_room(cloud, group, 1)
        provider.refresh()
        group.increase(1)
        after = cloud.target(group.id)
        assert after == before + 1, (
            f"increase(1) of a group that was read before the last refresh left the target of {before} at {after}"
        )

    def test_refreshes_and_actions_may_overlap(self, cloud: Cloud, provider: Provider, group: NodeGroup) -> None:
        """Facts are read without an error while an action of a late decision is still under way."""
        has_room(cloud, group, 1)

        def read() -> None:
            for _ in range(3):
                provider.refresh()
                facts(provider)

        _at_once(read, _order(group, 1), patience=cloud.patience)

    @needs(Ability.HOLD)
    def test_an_order_does_not_wait_for_machines(self, cloud: Cloud, group: NodeGroup) -> None:
        """`increase` returns when the cloud has accepted the order, not when the machines are there."""
        has_room(cloud, group, 1)
        cloud.hold()
        _at_once(_order(group, 1), patience=cloud.patience)


def _order(group: NodeGroup, count: int) -> Callable[[], None]:
    return lambda: group.increase(count)


def _deletion(group: NodeGroup, nodes: Sequence[Node]) -> Callable[[], None]:
    return lambda: group.delete_nodes(nodes)


def _at_once(*jobs: Callable[[], None], patience: float) -> None:
    """Do all *jobs* on threads of their own, begun together; fail if one raises."""
    errors: list[Exception] = []
    start = Barrier(len(jobs))

    def run(job: Callable[[], None]) -> None:
        start.wait(patience)
        try:
            job()
        except Exception as error:
            errors.append(error)

    threads = [Thread(target=run, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(patience)
        assert not thread.is_alive(), f"what was begun has not ended within {patience:g} s"
    assert not errors, f"what was done at once raised {errors}"
