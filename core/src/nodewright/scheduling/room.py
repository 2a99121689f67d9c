"""Room: what is left on nodes for pods, in a form that is fast for a few pods at a time."""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from nodewright.cluster import Cluster, PodClass, Rows
from nodewright.scheduling.filters import static

#: The room of a node that is out: no pod takes so little.
_NONE = -(1 << 62)


@dataclass(kw_only=True, slots=True)
class PodShape:
    """Pods with equal requests that fit the same nodes."""

    #: What one pod takes: dimension and amount of each resource.
    demand: tuple[tuple[int, int], ...]
    #: The largest fraction of any resource that it takes of the largest node.
    size: float
    #: The places that may have room for it, in order.
    places: list[int]
    #: No place before this index of *places* has room.
    first: int = 0

    def reopen(self, since: int, changed: set[int]) -> None:
        """Consider the *changed* places again that were skipped *since* that index. The others still have no room."""
        again = [place for place in self.places[since : self.first] if place in changed]
        self.first -= len(again)
        self.places[self.first : self.first + len(again)] = again


class Room:
    """Free room by place. Places are nodes in an order of preference: each pod takes the first one that fits.

    Room only shrinks, except for what `undo` takes back. So a search continues where the last one for the same shape
    ended, and all searches together cost as much as one pass.
    """

    def __init__(self, cluster: Cluster, order: Rows) -> None:
        table = cluster.table
        self._cluster = cluster
        self._order = order
        #: Row by place.
        self.rows: list[int] = order.tolist()
        #: Place by row.
        self.place_of: dict[int, int] = {row: place for place, row in enumerate(self.rows)}
        self._free: list[list[int]] = [amounts.tolist() for amounts in table.free[:, order]]
        self._most: list[int] = np.maximum(table.free.max(axis=1), 1).tolist()
        self._pods = table.dimensions["pods"]
        self._shapes: dict[object, PodShape] = {}
        self._shape_of: dict[int, PodShape] = {}
        self._taken: list[tuple[int, PodShape, int]] = []
        #: Shapes that were placed since the last `settle`, with the value of `first` before that.
        self._asked: dict[int, tuple[PodShape, int]] = {}
        self._closed: tuple[int, int] | None = None

    def shape(self, pod_class: PodClass) -> PodShape:
        """Return the shape of the pods of a class."""
        shape = self._shape_of.get(pod_class.index)
        if shape is None:
            key = _key(pod_class)
            shape = self._shapes.get(key)
            if shape is None:
                shape = self._shapes[key] = self._make(pod_class)
            self._shape_of[pod_class.index] = shape
        return shape

    def close(self, place: int) -> None:
        """Close a place to pods. `undo` opens it again; after `settle`, it stays closed."""
        self._closed = (place, self._free[self._pods][place])
        self._free[self._pods][place] = _NONE

    def take(self, shape: PodShape, count: int, wished: list[tuple[int, int]]) -> list[tuple[int, int]] | None:
        """Take room for *count* pods. Return how many went to which place, or None if not all fit.

        *wished* are preferred places with the number of pods for each, the next one last; it is consumed for each pod.
        If not all pods fit, the room that was taken for some of them stays taken until `undo`.
        """
        self._asked.setdefault(id(shape), (shape, shape.first))
        found = self._grant(shape, count, wished) if wished else []
        count -= sum(number for _, number in found)
        places = shape.places
        while count:
            if shape.first == len(places):
                return None
            place = places[shape.first]
            number = self._fit(shape, place, count)
            if number:
                self._charge(shape, place, number)
                found.append((place, number))
                count -= number
            if count:
                shape.first += 1
        return found

    def charge(self, shape: PodShape, place: int) -> None:
        """Take room for one pod at a place that has it."""
        self._charge(shape, place, 1)

    def settle(self) -> None:
        """Keep everything that was taken and closed."""
        self._taken.clear()
        self._asked.clear()
        self._closed = None

    def undo(self) -> None:
        """Undo everything that was taken and closed since the last `settle`."""
        changed = {place for place, _, _ in self._taken}
        for place, shape, count in self._taken:
            for dimension, amount in shape.demand:
                self._free[dimension][place] += amount * count
        self._taken.clear()
        if self._closed is not None:
            place, pods = self._closed
            self._free[self._pods][place] = pods
            self._closed = None
            changed.add(place)
        for shape, since in self._asked.values():
            shape.reopen(since, changed)
        self._asked.clear()

    def rows_of(self, shape: PodShape) -> Rows:
        """Return the rows that may have room for pods of a shape, in order of preference."""
        return self._order[np.array(shape.places[shape.first :], dtype=np.intp)]

    def _grant(self, shape: PodShape, count: int, wished: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Take room for up to *count* pods at *wished* places."""
        granted = []
        places = shape.places
        while count and wished:
            place, number = wished.pop()
            if number > count:
                wished.append((place, number - count))
                number = count
            count -= number
            at = bisect_left(places, place, shape.first)
            if at < len(places) and places[at] == place and (number := self._fit(shape, place, number)):
                self._charge(shape, place, number)
                granted.append((place, number))
        return granted

    def _fit(self, shape: PodShape, place: int, most: int) -> int:
        for dimension, amount in shape.demand:
            free = self._free[dimension][place]
            if free < amount * most:
                most = free // amount
                if most <= 0:
                    return 0
        return most

    def _charge(self, shape: PodShape, place: int, count: int) -> None:
        for dimension, amount in shape.demand:
            self._free[dimension][place] -= amount * count
        self._taken.append((place, shape, count))

    def _make(self, pod_class: PodClass) -> PodShape:
        cluster, table = self._cluster, self._cluster.table
        demand = tuple((table.dimensions[name], amount) for name, amount in pod_class.requests.items() if amount)
        size = max(amount / self._most[dimension] for dimension, amount in demand)
        fits = static.allowed(cluster, pod_class)[self._order]
        for dimension, amount in demand:
            fits = fits & (table.free[dimension, self._order] >= amount)
        return PodShape(demand=demand, size=size, places=np.flatnonzero(fits).tolist())


def _key(pod_class: PodClass) -> object:
    """Return a key that is equal for classes whose pods have equal requests and fit the same nodes."""
    key = pod_class.memo.get("shape")
    if key is None:
        spec = pod_class.pod.spec
        node_affinity = spec.affinity.node_affinity if spec.affinity else None
        wishes = repr((node_affinity, spec.tolerations)) if node_affinity or spec.tolerations else ""
        key = pod_class.memo["shape"] = (
            tuple(sorted(pod_class.requests.items())),
            tuple(sorted(spec.node_selector.items())),
            wishes,
            spec.node_name,
        )
    return key
