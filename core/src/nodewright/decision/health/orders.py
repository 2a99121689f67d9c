"""Orders: what groups were asked for, what has come of it, and what the cloud never delivers."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from nodewright.api.group import GroupFacts
from nodewright.decision.health.census import Census
from nodewright.decision.memory import OrderMemory, ScaleUpRequest, Shortage
from nodewright.decision.world import World


class Orders:
    """The open order of each group, and since when it has fewer machines than it should."""

    def __init__(
        self, requests: Mapping[str, ScaleUpRequest], shortages: Mapping[str, Shortage], now: datetime
    ) -> None:
        self.requests = dict(requests)
        self.shortages: dict[str, Shortage] = {}
        self._known = shortages
        self._now = now

    def failed(self, group: str, count: int) -> None:
        """Note that *count* machines failed: they are not expected any more."""
        known = self.requests.get(group)
        if known is not None:
            self.requests[group] = replace(known, count=max(0, known.count - count))

    def follow(self, group: str, census: Census) -> None:
        """Close the order of *group* if all machines came. Those that another actor ordered are waited for as well."""
        if not census.missing and not census.starting:
            self.requests.pop(group, None)
        elif group not in self.requests and census.missing > census.unmet:
            self.requests[group] = _of_others(self._now, census)

    def overdue(self, group: str, census: Census, patience: timedelta) -> int:
        """Close our order if its time is over, and return how many machines never came; 0 while there is time left."""
        known = self.requests.get(group)
        if known is None or not known.ours or not census.unmet or self._now - known.at <= patience:
            return 0
        return self._close(group, known, census)

    def refused(self, group: str, census: Census, since: datetime | None) -> int:
        """Close our order if it fails *since* a time after it was given, and return how many machines never came."""
        known = self.requests.get(group)
        if known is None or not known.ours or not census.unmet or since is None or since <= known.at:
            return 0
        return self._close(group, known, census)

    def short(self, facts: GroupFacts, census: Census, patience: timedelta) -> bool:
        """Tell whether the group has lacked the same number of machines for longer than *patience*.

        It is true once; then the time starts anew.
        """
        machines = facts.target_size - census.unmet
        if not census.unmet or (not machines and facts.id in self.requests):
            # Until the first machine exists, only the order limits the time.
            return False
        known = self._known.get(facts.id)
        if known is None or (known.machines, known.target) != (machines, facts.target_size):
            known = Shortage(since=self._now, machines=machines, target=facts.target_size)
        if self._now - known.since > patience:
            return True
        self.shortages[facts.id] = known
        return False

    def _close(self, group: str, known: ScaleUpRequest, census: Census) -> int:
        del self.requests[group]
        if census.starting or census.missing > census.unmet:
            # Some did come and are worth waiting for.
            self.requests[group] = _of_others(known.at, census)
        return min(known.count, census.unmet)

    def forget_all_but(self, groups: Collection[str], patience: timedelta) -> None:
        """Forget orders of groups that are gone, after a while: a provider may only not have been read yet."""
        self.requests = {
            group: known
            for group, known in self.requests.items()
            if group in groups or self._now - known.at <= patience
        }

    def freeze(self, group: str) -> None:
        """Keep what is known of *group*, which could not be read."""
        if group in self._known:
            self.shortages[group] = self._known[group]


def adopt_orders(world: World, orders: OrderMemory, now: datetime) -> OrderMemory:
    """Return *orders* with all open orders of the world's groups as if they were given at *now*.

    For groups that are seen for the first time: nothing should be ordered twice, no matter who ordered it first.
    """
    ready = Counter(world.group_of.get(name) for name, node in world.cluster.nodes.items() if node.ready)
    counts = {
        facts.id: count
        for facts in world.groups
        if facts.id not in orders.requests and (count := facts.target_size - ready[facts.id]) > 0
    }
    return orders.adopted(counts, now)


def _of_others(at: datetime, census: Census) -> ScaleUpRequest:
    return ScaleUpRequest(at=at, count=census.missing - census.unmet, ours=False)
