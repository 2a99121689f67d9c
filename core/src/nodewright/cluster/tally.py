"""The tally: how many pods of a class run on each node, for the classes that were asked for."""

from collections.abc import Callable, Iterable

import numpy as np

from nodewright.cluster.node_table import Counts, NodeTable, Rows
from nodewright.cluster.pod_class import PodClass

#: Counts the pods of a class by row, for all rows of the table.
Whereabouts = Callable[[PodClass], Counts]


class Tally:
    """Counts of pods by class and row. A class is counted from when it is first asked for."""

    def __init__(self, table: NodeTable, whereabouts: Whereabouts) -> None:
        self._table = table
        self._whereabouts = whereabouts
        self._counts: dict[int, Counts] = {}

    def of(self, pod_class: PodClass) -> Counts:
        """Return the number of pods of a class by row; an array to read, as long as the table's."""
        counts = self._counts.get(pod_class.index)
        if counts is None:
            counts = self._counts[pod_class.index] = self._whereabouts(pod_class)
        elif len(counts) < self._table.capacity:
            more = np.zeros(self._table.capacity - len(counts), dtype=np.int32)
            counts = self._counts[pod_class.index] = np.concatenate([counts, more])
        return counts

    def total(self, classes: Iterable[PodClass]) -> Counts:
        """Return the number of pods of several classes by row; an array to read."""
        counted = [each for each in classes if each.population or each.index in self._counts]
        if len(counted) == 1:
            return self.of(counted[0])
        total = np.zeros(self._table.capacity, dtype=np.int32)
        for pod_class in counted:
            total += self.of(pod_class)
        return total

    def clear(self) -> None:
        """Forget all counts. They are computed again when they are asked for."""
        self._counts.clear()

    def add(self, pod_class: PodClass, rows: Rows | int, number: Rows | int) -> None:
        """Count pods that came (or, with a negative *number*, went)."""
        if pod_class.index in self._counts:
            self.of(pod_class)[rows] += number
