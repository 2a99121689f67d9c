"""Pod slots: class and row of every bound pod in two arrays, to find all pods of a class at once."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from nodewright.cluster.node_table import Rows

_FIRST_SLOTS = 256
_NONE = -1


class PodSlots:
    """One slot per bound pod."""

    def __init__(self) -> None:
        self._class: npt.NDArray[np.int32] = np.full(_FIRST_SLOTS, _NONE, dtype=np.int32)
        self._row: npt.NDArray[np.int32] = np.full(_FIRST_SLOTS, _NONE, dtype=np.int32)
        self._vacant: list[int] = []
        self._size = 0

    def add(self, pod_class: int, row: int) -> int:
        """Add a pod that came to a node, and return its slot. The row is -1 if the node is unknown."""
        if self._vacant:
            slot = self._vacant.pop()
        else:
            slot = self._size
            self._size += 1
            if slot == len(self._class):
                self._class = np.concatenate([self._class, np.full(slot, _NONE, dtype=np.int32)])
                self._row = np.concatenate([self._row, np.full(slot, _NONE, dtype=np.int32)])
        self._class[slot] = pod_class
        self._row[slot] = row
        return slot

    def move(self, slot: int, row: int) -> None:
        """Note that the pod's node appeared in a row, or disappeared with row -1."""
        self._row[slot] = row

    def remove(self, slot: int) -> None:
        """Free the slot of a pod that is gone."""
        self._class[slot] = _NONE
        self._vacant.append(slot)

    def rename(self, classes: Mapping[int, int]) -> None:
        """Give classes other numbers. Classes that get none have no pods any more."""
        names = np.full(max(classes, default=-1) + 2, _NONE, dtype=np.int32)
        for old, new in classes.items():
            names[old] = new
        # Vacant slots have class -1, the last of the names.
        self._class = names[self._class]

    def rows_of(self, pod_class: int) -> Rows:
        """Return the row of each pod of a class."""
        found = self._row[: self._size][self._class[: self._size] == pod_class]
        rows: Rows = found[found >= 0].astype(np.intp)
        return rows
