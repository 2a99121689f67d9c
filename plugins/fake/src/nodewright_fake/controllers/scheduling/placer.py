"""Finds a node for a pod."""

from collections import Counter, OrderedDict

from nodewright_fake.controllers.scheduling.candidates import Candidates
from nodewright_fake.controllers.scheduling.cluster import Cluster
from nodewright_fake.controllers.scheduling.needs import Needs
from nodewright_fake.controllers.scheduling.neighbours import Neighbours
from nodewright_fake.controllers.scheduling.shape import Shape
from nodewright_fake.controllers.scheduling.spread import Spread

_KEPT_CANDIDATES = 512


class Placer:
    """Applies all filters and picks the node that is liked most."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._candidates: OrderedDict[Needs, Candidates] = OrderedDict()

    def find(self, shape: Shape) -> str | Counter[str]:
        """Return the name of the best node for a pod of *shape*, or how many nodes refuse it for which reason."""
        candidates = self._candidates_for(shape.needs)
        if not shape.looks_around and not self._cluster.repelling_terms(shape):
            return candidates.best() or candidates.reasons
        around = (Spread(shape, self._cluster), Neighbours(shape, self._cluster))
        reasons = candidates.reasons
        best = None
        for name, liked in candidates.open.items():
            node = self._cluster.nodes[name]
            refused = around[0].refusals(node) or around[1].refusals(node)
            if refused:
                reasons.update(refused)
            elif best is None or liked < best:
                best = liked
        return best[-1] if best else reasons

    def _candidates_for(self, needs: Needs) -> Candidates:
        candidates = self._candidates.get(needs)
        if candidates is None:
            candidates = self._candidates[needs] = Candidates(needs, self._cluster)
        self._candidates.move_to_end(needs)
        if len(self._candidates) > _KEPT_CANDIDATES:
            self._candidates.popitem(last=False)
        candidates.refresh()
        return candidates
