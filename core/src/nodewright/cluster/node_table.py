"""The node table: one row per node, one array per property."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from nodewright.cluster.journal import Journal
from nodewright.cluster.node_class import NodeClass, NodeClasses, NodeMarks
from nodewright.objects import Resources, Taint
from nodewright.objects.node import HOSTNAME, TO_BE_DELETED, UNSCHEDULABLE

Amounts = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]
Counts = npt.NDArray[np.int32]

_FIRST_ROWS = 64
_DOOM = Taint(key=TO_BE_DELETED, effect="NoSchedule")
#: The class of a row without a node. As an index, it means the last element of an array.
VACANT = -1


@dataclass(frozen=True, kw_only=True)
class Demand:
    """What one pod takes from a row: dimensions and amounts, as columns of one number each."""

    dimensions: Amounts
    amounts: Amounts


@dataclass(kw_only=True)
class Domains:
    """The domains of a topology key: the distinct values of a label."""

    values: dict[str, int] = field(default_factory=dict)
    #: Domain by row, -1 for nodes without the label.
    of: Counts

    @property
    def count(self) -> int:
        """How many values there have been so far."""
        return len(self.values)


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """The nodes that have a label."""

    rows: Rows
    #: Domain by place in *rows*.
    domain: Counts
    #: By domain, whether one of them is in it.
    counted: npt.NDArray[np.bool_]


class NodeTable:
    """The rows of nodes. The same sequence of changes always gives the same rows in the same order."""

    def __init__(self, journal: Journal) -> None:
        self.classes = NodeClasses()
        self.dimensions: dict[str, int] = {"cpu": 0, "memory": 1, "pods": 2, "ephemeral-storage": 3}
        #: The number of rows in use, including vacant ones.
        self.size = 0
        self.names: list[str] = []
        self.rows: dict[str, int] = {}
        self.class_of: Counts = np.full(_FIRST_ROWS, VACANT, dtype=np.int32)
        #: Free room, (dimension, row); negative where a node is over-committed.
        self.free: Amounts = np.zeros((len(self.dimensions), _FIRST_ROWS), dtype=np.int64)
        self._journal = journal
        self._vacant: list[int] = []
        self._domains: dict[str, Domains] = {}
        #: By key; forgotten whenever a node comes, goes or changes its labels.
        self._labelled: dict[str, Labelled] = {}
        self._marks: dict[str, NodeMarks] = {}
        self._kinds: dict[str, NodeClass] = {}

    @property
    def capacity(self) -> int:
        """Length of the arrays."""
        return len(self.class_of)

    def add(self, name: str, marks: NodeMarks, free: Resources) -> int:
        """Add a node and return its row. Must not be called in a fork."""
        if self._vacant:
            row = self._vacant.pop()
            self.names[row] = name
        else:
            row = self.size
            self._grow(row + 1)
            self.size += 1
            self.names.append(name)
        self.rows[name] = row
        self._mark(row, marks)
        self.free[:, row] = self.vector(free)
        return row

    def add_alike(self, names: Sequence[str], marks: NodeMarks, free: Resources) -> Rows:
        """Add nodes until the fork ends, equal except for name and hostname. Return their rows, the last ones."""
        first, size = self.size, self.size + len(names)
        self._grow(size)
        column = self.vector(free)
        kind = self.classes.of(marks)
        self.size = size
        self.names += names
        for row, name in enumerate(names, first):
            self.rows[name] = row
            self._kinds[name] = kind
            self._marks[name] = replace(marks, labels={**marks.labels, HOSTNAME: name})
        self._labelled.clear()
        self.class_of[first:size] = kind.index
        self.free[:, first:size] = column[:, np.newaxis]
        for key, domains in self._domains.items():
            if key == HOSTNAME:
                domains.of[first:size] = [self._domain(domains, name) for name in names]
            else:
                domains.of[first:size] = self._domain(domains, marks.labels.get(key))
        self._journal.note(lambda: self._drop_last(len(names)))
        return np.arange(first, size)

    def change(self, row: int, marks: NodeMarks, was: Resources, now: Resources) -> None:
        """Replace a node's marks, and its allocatable resources: *was* before, *now* from now on."""
        if marks != self.marks(row):
            self._mark(row, marks)
        if was != now:
            self.meet(now)
            self.free[:, row] += self.vector(now) - self.vector(was)

    def _mark(self, row: int, marks: NodeMarks) -> None:
        name = self.names[row]
        self._labelled.clear()
        self._marks[name] = marks
        self._kinds[name] = self.classes.of(marks)
        self.class_of[row] = self._kinds[name].index
        for key, domains in self._domains.items():
            domains.of[row] = self._domain(domains, marks.labels.get(key))

    def remove(self, name: str) -> None:
        """Remove a node."""
        row = self.rows.pop(name)
        del self._kinds[name], self._marks[name]
        self.names[row] = ""
        self._labelled.clear()
        self.class_of[row] = VACANT
        self.free[:, row] = 0
        self._vacant.append(row)

    def doom(self, row: int) -> None:
        """Mark a node for deletion until the fork ends."""
        marks = self.marks(row)
        self._pose(row, replace(marks, taints=(*marks.taints, _DOOM)))

    def spare(self, row: int, *, uncordon: bool) -> None:
        """Remove the mark for deletion from a node until the fork ends, and on request its cordon."""
        marks = self.marks(row)
        # A controller mirrors the cordon in a taint of its own.
        off = (TO_BE_DELETED, UNSCHEDULABLE) if uncordon else (TO_BE_DELETED,)
        taints = tuple(taint for taint in marks.taints if taint.key not in off)
        self._pose(row, replace(marks, taints=taints, unschedulable=marks.unschedulable and not uncordon))

    def pretend(self, row: int, marks: NodeMarks, was: Resources, now: Resources) -> None:
        """Replace a node's marks and its allocatable resources until the fork ends, as `change` does for good."""
        before = self.marks(row)
        self.change(row, marks, was, now)
        self._journal.note(lambda: self.change(row, before, now, was))

    def _pose(self, row: int, marks: NodeMarks) -> None:
        """Give a node other *marks* until the fork ends."""
        kind = int(self.class_of[row])
        self.class_of[row] = self.classes.of(marks).index

        def undo() -> None:
            self.class_of[row] = kind

        self._journal.note(undo)

    def hide(self, row: int) -> None:
        """Hide a node until the fork ends."""
        self._labelled.clear()
        self.class_of[row] = VACANT
        self._journal.note(lambda: self._show(row))

    def _show(self, row: int) -> None:
        self._labelled.clear()
        self.class_of[row] = self.node_class(row).index

    def observe(self, labels: Iterable[str]) -> None:
        """From now on, also distinguish nodes by *labels*."""
        if not self.classes.observe(labels):
            return
        for name, row in self.rows.items():
            kind = self._kinds[name] = self.classes.of(self._marks[name])
            if self.class_of[row] != VACANT:
                self.class_of[row] = kind.index

    def node_class(self, row: int) -> NodeClass:
        """Return the class of a node, hidden or not."""
        return self._kinds[self.names[row]]

    def marks(self, row: int) -> NodeMarks:
        """Return what constraints can see of a node, hidden or not."""
        return self._marks[self.names[row]]

    def charge(self, row: int, count: int, requests: Resources) -> None:
        """Take *count* times *requests* from the free room of a row. A negative *count* gives it back."""
        for name, amount in requests.items():
            if amount:
                self.free[self.dimensions[name], row] -= amount * count

    def charge_all(self, rows: Rows, counts: Rows, demand: Demand) -> None:
        """Take room from several distinct *rows*, as many times as *counts* says. Negative *counts* give it back."""
        self.free[demand.dimensions, rows] -= demand.amounts * counts

    def demand(self, requests: Resources) -> Demand:
        """Return *requests* in the form that `charge_all` takes."""
        self.meet(requests)
        asked = [(self.dimensions[name], amount) for name, amount in requests.items() if amount]
        dimensions, amounts = np.array(asked, dtype=np.int64).reshape(-1, 2).T[:, :, np.newaxis]
        return Demand(dimensions=dimensions, amounts=amounts)

    def vector(self, amounts: Resources) -> Amounts:
        """Return *amounts* as a column."""
        self.meet(amounts)
        column = np.zeros(len(self.dimensions), dtype=np.int64)
        for name, amount in amounts.items():
            column[self.dimensions[name]] = amount
        return column

    def meet(self, amounts: Resources) -> None:
        """Add a dimension for each resource that is new to the table. No node has any of it so far."""
        for name in amounts:
            if name not in self.dimensions:
                self.dimensions[name] = len(self.dimensions)
                self.free = np.vstack([self.free, np.zeros((1, self.capacity), dtype=np.int64)])

    def domains(self, key: str) -> Domains:
        """Return the domains of a topology key. They are built on the first call, and updated from then on."""
        known = self._domains.get(key)
        if known is None:
            known = Domains(of=np.full(self.capacity, -1, dtype=np.int32))
            for name, row in self.rows.items():
                # A node that is hidden now comes back with its domain.
                known.of[row] = self._domain(known, self._marks[name].labels.get(key))
            self._domains[key] = known
        return known

    def labelled(self, key: str) -> Labelled:
        """Return the nodes that have the label *key*."""
        known = self._labelled.get(key)
        if known is None:
            domains = self.domains(key)
            domain = domains.of[: self.size]
            rows = np.flatnonzero((self.class_of[: self.size] >= 0) & (domain >= 0))
            counted = np.zeros(domains.count, dtype=np.bool_)
            counted[domain[rows]] = True
            known = self._labelled[key] = Labelled(rows=rows, domain=domain[rows], counted=counted)
        return known

    @staticmethod
    def _domain(domains: Domains, label: str | None) -> int:
        return -1 if label is None else domains.values.setdefault(label, len(domains.values))

    def _drop_last(self, count: int) -> None:
        first = self.size - count
        for name in self.names[first:]:
            del self.rows[name], self._kinds[name], self._marks[name]
        del self.names[first:]
        self._labelled.clear()
        self.class_of[first : self.size] = VACANT
        self.free[:, first : self.size] = 0
        self.size = first

    def _grow(self, size: int) -> None:
        if size <= self.capacity:
            return
        more = max(self.capacity, size - self.capacity)
        self.class_of = np.concatenate([self.class_of, np.full(more, VACANT, dtype=np.int32)])
        self.free = np.hstack([self.free, np.zeros((len(self.dimensions), more), dtype=np.int64)])
        for domains in self._domains.values():
            domains.of = np.concatenate([domains.of, np.full(more, -1, dtype=np.int32)])
