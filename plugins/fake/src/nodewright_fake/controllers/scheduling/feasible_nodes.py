"""The nodes that could take pods with certain needs, kept up to date node by node."""

from collections import Counter
from heapq import heappop, heappush

from nodewright_fake.controllers.scheduling.cache import SchedulerCache
from nodewright_fake.controllers.scheduling.filters import NOT_SELECTED, Rank, rank, refusals
from nodewright_fake.controllers.scheduling.needs import Needs


class FeasibleNodes:
    """The verdict of `filters.refusals` on every node. `refresh` looks only at the nodes that changed."""

    def __init__(self, needs: Needs, cluster: SchedulerCache) -> None:
        self._needs = needs
        self._cluster = cluster
        self._mark = 0
        self._refused: dict[str, tuple[str, ...]] = {}
        self._reasons: Counter[str] = Counter()
        #: The nodes that could take one, with their rank.
        self.open: dict[str, Rank] = {}
        self._best: list[Rank] = []

    def refresh(self) -> None:
        """Look again at the nodes that changed since the last time."""
        only = self._needs.only_nodes
        for name in sorted(only) if only is not None else self._cluster.changed_since(self._mark):
            self._judge(name)
        self._mark = self._cluster.mark

    def best(self) -> str | None:
        """Return the name of the node of the best rank; None if no node could take one."""
        while self._best:
            liked = self._best[0]
            if self.open.get(liked[-1]) == liked:
                return liked[-1]
            heappop(self._best)
        return None

    @property
    def reasons(self) -> Counter[str]:
        """How many nodes are refused, by reason."""
        reasons = +self._reasons
        if self._needs.only_nodes is not None and (
            others := len(self._cluster.nodes) - len(self._refused) - len(self.open)
        ):
            reasons[NOT_SELECTED] += others
        return reasons

    def _judge(self, name: str) -> None:
        self._reasons.subtract(self._refused.pop(name, ()))
        self.open.pop(name, None)
        node = self._cluster.nodes.get(name)
        if node is None:
            return
        if refused := refusals(self._needs, node):
            self._refused[name] = refused
            self._reasons.update(refused)
        else:
            liked = self.open[name] = rank(self._needs, node)
            heappush(self._best, liked)
