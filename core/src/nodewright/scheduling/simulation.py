"""The cluster in simulation: pods can be placed and nodes added, and the end of a fork undoes everything."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from nodewright.api.group import GroupFacts
from nodewright.api.option import PodSet
from nodewright.api.placement import Placement
from nodewright.api.simulation import PlacementRule
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster, PodClass, Rows
from nodewright.cluster.columns import Fork
from nodewright.objects import Node, Resources
from nodewright.scheduling import placement
from nodewright.scheduling.blank_node import blank_node, started_node
from nodewright.scheduling.filters import refusal, volumes
from nodewright.scheduling.rules import rules


class ClusterSimulation:
    """Implements `nodewright.api.Simulation` on the columns themselves. For the loop's thread, and in a fork only."""

    def __init__(self, cluster: Cluster) -> None:
        #: The columns that it works on.
        self.cluster = cluster
        self._added = 0
        self._forks: list[Fork] = []
        #: The rows of nodes that pods get last.
        self._spare: Rows | None = None

    @property
    def size(self) -> int:
        """The number of nodes, including added ones."""
        table = self.cluster.table
        return int((table.class_of[: table.size] >= 0).sum())

    @contextmanager
    def fork(self) -> Iterator["ClusterSimulation"]:
        """Change this simulation in a ``with`` block. Its end undoes all changes, unless `keep` was called."""
        with self.cluster.fork() as fork:
            self._forks.append(fork)
            try:
                yield self
            finally:
                self._forks.pop()

    def keep(self) -> None:
        """Keep the changes of the innermost fork when it ends."""
        self._forks[-1].keep()

    def add_nodes(self, group: GroupFacts, count: int) -> Sequence[str]:
        """Add empty nodes like the group's template, with their DaemonSet pods; see `nodewright.api.Simulation`."""
        blank = blank_node(self.cluster, group)
        first = self._added + 1
        self._added += count
        names = [f"template-node-for-{group.id}-{number}" for number in range(first, first + count)]
        self.cluster.add_nodes(names, blank.marks, blank.allocatable, blank.companions, blank.attach_limits)
        return names

    def start_nodes(self, group: GroupFacts, nodes: Iterable[Node]) -> Sequence[str]:
        """Treat *nodes* of a group with a template, which are starting, as they will be; return their names."""
        names = []
        for node in nodes:
            started = started_node(self.cluster, group, node)
            self.cluster.start_node(
                node.name, started.marks, started.allocatable, started.companions, started.attach_limits
            )
            names.append(node.name)
        return names

    def remove_nodes(self, names: Sequence[str]) -> None:
        """Take nodes out, with everything that runs on them."""
        for name in names:
            self.cluster.hide_node(name)

    def spare_node(self, name: str, *, uncordon: bool) -> None:
        """Treat a node as if its mark for deletion were removed already, and with *uncordon* its cordon as well."""
        self.cluster.spare_node(name, uncordon=uncordon)

    def save_for_last(self, names: Iterable[str]) -> None:
        """Have pods that may go anywhere get these nodes last; replaces what was said before."""
        rows = self._rows([name for name in names if name in self.cluster.table.rows])
        self._spare = rows if len(rows) else None

    def place(self, pods: PodSet, *, on: Sequence[str] | None = None) -> Mapping[str, str]:
        """Put as many of *pods* as fit onto nodes; see `nodewright.api.Simulation`."""
        cluster = self.cluster
        pod_class = cluster.pod_classes.of(pods.pod)
        if on is not None:
            rows = self._fill(pod_class, pods.keys, self._rows(on))
        else:
            rows = self._fill(pod_class, pods.keys, but=self._spare)
            if self._spare is not None and len(rows) < len(pods):
                rows += self._fill(pod_class, pods.keys[len(rows) :])
        return Placement(pods.keys, rows, cluster.table.names)

    def _fill(
        self, pod_class: PodClass, keys: Sequence[str], on: Rows | None = None, *, but: Rows | None = None
    ) -> list[int]:
        """Put as many pods as fit onto the rows *on*, by default all *but* some; return the row of each."""
        cluster = self.cluster
        rows: list[int] = []
        full = False
        while len(rows) < len(keys) and not full:
            fresh, full = placement.next_rows(cluster, pod_class, len(keys) - len(rows), on, but=but)
            if not len(fresh):
                break
            for row in np.unique(fresh).tolist() if volumes.matter(pod_class) else ():
                volumes.assume(cluster, pod_class, row)
            cluster.take(pod_class, keys[len(rows) : len(rows) + len(fresh)], fresh)
            rows += fresh.tolist()
        return rows

    def why_not(self, pods: PodSet, node: str) -> Verdict | None:
        """Return why a pod of *pods* does not fit on *node* now; None if it does."""
        return refusal(self.cluster, self.cluster.pod_classes.of(pods.pod), self.cluster.table.rows[node])

    def rules(self, pods: PodSet) -> Sequence[PlacementRule]:
        """Return the rules of *pods* about other pods; see `nodewright.api.Simulation`."""
        return rules(self.cluster, self.cluster.pod_classes.of(pods.pod))

    def free(self, node: str) -> Resources:
        """Return the free room of *node*."""
        table = self.cluster.table
        amounts = table.free[:, table.rows[node]].tolist()
        return {name: amounts[index] for name, index in table.dimensions.items()}

    def guests(self, node: str) -> list[PodSet]:
        """Return the pods that were placed on *node* here, and would have to move if it went."""
        found = self.cluster.guests(self.cluster.table.rows[node])
        return [PodSet(pod=pod_class.pod, keys=(key,)) for pod_class, key in found]

    def _rows(self, names: Sequence[str]) -> Rows:
        """Return the rows of *names*, in the order of the table."""
        rows = self.cluster.table.rows
        return np.array(sorted({rows[name] for name in names}), dtype=np.intp)
