"""The cluster as columns. It is updated object by object, and can be forked to try something."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np
from msgspec.structs import replace

from nodewright.cluster.controllers import Controllers
from nodewright.cluster.journal import Journal
from nodewright.cluster.node_class import NodeMarks
from nodewright.cluster.node_table import Counts, Demand, NodeTable, Rows
from nodewright.cluster.pod_class import TELLING_LABELS, PodClass, PodClasses, unbound
from nodewright.cluster.pod_row import PodRow
from nodewright.cluster.pod_slots import PodSlots
from nodewright.cluster.storage import Storage
from nodewright.cluster.tally import Tally
from nodewright.cluster.waiting import Waiting
from nodewright.objects import (
    CapacityQuota,
    ConfigMap,
    CSINode,
    DaemonSet,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    Resources,
    StorageClass,
)

#: From this many pod classes on, `Cluster` looks for classes without pods.
_MANY_CLASSES = 4096


class Fork:
    """A fork of the cluster: its changes are undone at its end, unless they are kept."""

    def __init__(self) -> None:
        self.kept = False

    def keep(self) -> None:
        """Keep the changes when the fork ends."""
        self.kept = True


class Cluster:
    """All nodes and pods. Written and read by the loop's thread only.

    `put_*` and `drop_*` follow the API server and must not be called in a fork; a malformed quantity raises
    `ValueError` and changes nothing. `take`, `add_nodes`, `start_node`, `hide_node`, `empty_node` and `leave_out` try
    something and are called in forks only.
    """

    def __init__(self) -> None:
        self._journal = Journal()
        self.table = NodeTable(self._journal)
        self.tally = Tally(self.table, self._whereabouts)
        self.pod_classes = PodClasses(observe=self.table.observe)
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, PodRow] = {}
        self.pending: dict[str, PodRow] = {}
        self.waiting = Waiting()
        self.daemon_sets: dict[str, DaemonSet] = {}
        self.controllers = Controllers(self.daemon_sets)
        self.budgets: dict[str, PodDisruptionBudget] = {}
        #: Whether `budgets` is complete. If not, it is unknown whether there are any.
        self.budgets_seen = True
        self.quotas: dict[str, CapacityQuota] = {}
        self.config_maps: dict[str, ConfigMap] = {}
        self.storage = Storage(self.table, self._journal)
        self._slots = PodSlots()
        self._tidy_at = _MANY_CLASSES
        self._bound: dict[str, list[PodRow]] = {}
        self._guests: list[tuple[PodClass, Sequence[str], Rows]] = []
        #: The pods that came with nodes that were added or started in forks, by row.
        self._companions: dict[int, Sequence[PodClass]] = {}
        self._left_out: set[PodClass] = set()
        #: Rows of nodes whose pods were taken away in forks.
        self._emptied: set[int] = set()
        #: Which of the first *found* guests are on a row. Computed when it is asked for.
        self._guests_of: dict[int, list[int]] = {}
        self._found = 0

    def put_node(self, node: Node) -> None:
        """Add or replace a node."""
        # The capacity is read here as well, where a malformed one is refused like any other object.
        name, allocatable, _ = node.name, node.allocatable, node.capacity
        was = self.nodes.get(name)
        marks = NodeMarks(labels=node.metadata.labels, taints=node.spec.taints, unschedulable=node.spec.unschedulable)
        self.nodes[name] = node
        if was is not None:
            self.table.change(self.table.rows[name], marks, was.allocatable, allocatable)
            return
        row = self.table.add(name, marks, allocatable)
        self.storage.meet_node(name)
        for pod in self._bound.get(name, ()):
            self._slots.move(pod.slot, row)
            self._count(pod.pod_class, row, 1)

    def drop_node(self, name: str) -> None:
        """Remove a node. Pods that are bound to it stay known until they are removed themselves."""
        row = self.table.rows.get(name)
        if row is None:
            return
        for pod in self._bound.get(name, ()):
            self._slots.move(pod.slot, -1)
            self._count(pod.pod_class, row, -1)
        self.table.remove(name)
        del self.nodes[name]

    def see_budgets(self, seen: bool) -> None:
        """Note whether disruption budgets can be seen."""
        self.budgets_seen = seen

    def put_pod(self, pod: Pod) -> None:
        """Add or replace a pod."""
        meta = pod.metadata
        waits = not pod.spec.node_name and not pod.finished
        self.put_pod_row(
            PodRow(
                key=meta.key,
                uid=meta.uid,
                pod_class=self.pod_classes.of(unbound(pod)),
                node=pod.spec.node_name,
                owner=meta.controller,
                created=meta.creation_timestamp,
                deleted=meta.deletion_timestamp,
                finished=pod.finished,
                pending=pod if waits else None,
                telling=tuple((name, meta.labels[name]) for name in TELLING_LABELS & meta.labels.keys()),
            )
        )

    def put_pod_row(self, pod: PodRow) -> None:
        """Add or replace a pod whose class is known."""
        if self.pod_classes.unsettled and not self._journal.open:
            self._sort_anew()
        self.table.meet(pod.pod_class.requests)
        was = self.pods.get(pod.key)
        if was is not None and was.counts_as(pod):
            self._renew(was, pod)
            return
        self.drop_pod(pod.key)
        self.pods[pod.key] = pod
        if pod.finished:
            return
        if not pod.node:
            if pod.deleted is None:
                self.pending[pod.key] = pod
                self.waiting.put(pod)
            return
        self._bound.setdefault(pod.node, []).append(pod)
        row = self.table.rows.get(pod.node, -1)
        pod.slot = self._slots.add(pod.pod_class.index, row)
        if row >= 0:
            self._count(pod.pod_class, row, 1)

    def drop_pod(self, key: str) -> None:
        """Remove a pod."""
        pod = self.pods.pop(key, None)
        if pod is None or pod.finished:
            return
        if not pod.node:
            if self.pending.pop(key, None) is not None:
                self.waiting.drop(pod)
            return
        bound = self._bound[pod.node]
        # As in the scheduler's own lists, the last pod takes the place of the removed one.
        bound[bound.index(pod)] = bound[-1]
        bound.pop()
        if not bound:
            del self._bound[pod.node]
        self._slots.remove(pod.slot)
        row = self.table.rows.get(pod.node)
        if row is not None:
            self._count(pod.pod_class, row, -1)

    def put_namespace(self, namespace: Namespace) -> None:
        """Add or replace a namespace."""
        self.pod_classes.name_space(namespace.metadata.name, namespace.metadata.labels)

    def drop_namespace(self, name: str) -> None:
        """Remove a namespace."""
        self.pod_classes.drop_name_space(name)

    def put_claim(self, claim: PersistentVolumeClaim) -> None:
        """Add or replace a claim."""
        self.storage.put_claim(claim)

    def drop_claim(self, key: str) -> None:
        """Remove a claim."""
        self.storage.drop_claim(key)

    def put_volume(self, volume: PersistentVolume) -> None:
        """Add or replace a volume."""
        self.storage.put_volume(volume)

    def drop_volume(self, name: str) -> None:
        """Remove a volume."""
        self.storage.drop_volume(name)

    def put_storage_class(self, storage_class: StorageClass) -> None:
        """Add or replace a storage class."""
        self.storage.put_class(storage_class)

    def drop_storage_class(self, name: str) -> None:
        """Remove a storage class."""
        self.storage.drop_class(name)

    def put_csi_node(self, csi_node: CSINode) -> None:
        """Add or replace what storage drivers say about a node."""
        self.storage.put_csi_node(csi_node)

    def drop_csi_node(self, name: str) -> None:
        """Forget what storage drivers said about a node."""
        self.storage.drop_csi_node(name)

    def tidy(self) -> None:
        """Forget classes that have no pods any more, once there are many. Must not be called in a fork."""
        if self.pod_classes.unsettled:
            self._sort_anew()
        if len(self.pod_classes.known) < self._tidy_at:
            return
        live = {pod.pod_class for pod in self.pods.values()}
        self._slots.rename(self.pod_classes.forget_all_but(live))
        self.tally.clear()
        self._tidy_at = max(_MANY_CLASSES, 2 * len(live))

    def _sort_anew(self) -> None:
        """Assign pods to classes again: labels count now that their classes have ignored so far."""
        self.pod_classes.unsettled = False
        for pod in [pod for pod in self.pods.values() if pod.telling]:
            model = pod.pending or pod.pod_class.pod
            labels = {**model.metadata.labels, **dict(pod.telling)}
            told = replace(model, metadata=replace(model.metadata, labels=labels))
            self.put_pod_row(replace(pod, pod_class=self.pod_classes.of(told), slot=-1))

    def pods_on(self, node: str) -> list[PodRow]:
        """Return the unfinished pods bound to *node*, but for those left out."""
        bound = self._bound.get(node, [])
        return [pod for pod in bound if pod.pod_class not in self._left_out] if self._left_out else bound

    def used(self, node: str) -> Resources:
        """Return the sum of what the unfinished pods of *node* request."""
        total: dict[str, int] = {}
        for pod in self.pods_on(node):
            for name, amount in pod.pod_class.requests.items():
                total[name] = total.get(name, 0) + amount
        return total

    @contextmanager
    def fork(self) -> Iterator[Fork]:
        """Fork the cluster: at the end of the ``with`` block, all changes are undone unless `Fork.keep` was called."""
        fork = Fork()
        mark = self._journal.begin()
        try:
            yield fork
        except BaseException:
            fork.kept = False
            raise
        finally:
            if fork.kept:
                self._journal.commit(mark)
            else:
                self._journal.revert(mark)

    def add_nodes(
        self,
        names: Sequence[str],
        marks: NodeMarks,
        free: Resources,
        companions: Sequence[PodClass],
        attach_limits: Mapping[str, int],
    ) -> None:
        """Add equal nodes that do not exist, each with the pods that come with it."""
        rows = self.table.add_alike(names, marks, free)
        self._accompany(rows, companions)
        for row in rows.tolist() if attach_limits else ():
            self.storage.attachments.limit(row, attach_limits)
            self._journal.note(partial(self.storage.attachments.limit, row, {}))

    def start_node(
        self,
        name: str,
        marks: NodeMarks,
        allocatable: Resources,
        companions: Sequence[PodClass],
        attach_limits: Mapping[str, int],
    ) -> None:
        """Treat a node as it will be once it has started, when the *companions* that it lacks have come as well.

        Its pods stay. At most once for each node in a fork.
        """
        row = self.table.rows[name]
        self.table.pretend(row, marks, self.nodes[name].allocatable, allocatable)
        self._accompany(np.array([row], dtype=np.intp), companions)
        if attach_limits:
            self.storage.attachments.limit(row, attach_limits)
            self._journal.note(lambda: self.storage.meet_node(name))

    def hide_node(self, name: str) -> None:
        """Take a node out, with everything that runs on it."""
        self._take_off(name)
        self.table.hide(self.table.rows[name])

    def empty_node(self, name: str) -> None:
        """Take away everything that runs on a node, and treat the node as marked for deletion."""
        self._take_off(name)
        self.table.doom(self.table.rows[name])

    def spare_node(self, name: str, *, uncordon: bool) -> None:
        """Treat a node as if its mark for deletion were removed already, and its cordon as well with *uncordon*."""
        self.table.spare(self.table.rows[name], uncordon=uncordon)

    def leave_out(self, pod_class: PodClass) -> None:
        """Take all bound pods of a class out, as if they did not run."""
        counts = self._whereabouts(pod_class)
        for row in np.flatnonzero(counts).tolist():
            self._try_count(pod_class, row, -int(counts[row]))
        self._left_out.add(pod_class)
        self._journal.note(lambda: self._left_out.discard(pod_class))

    def take(self, pod_class: PodClass, keys: Sequence[str], at: Rows) -> None:
        """Put pods of one class onto nodes: one pod for each row in *at*, *keys* in the same order."""
        each = np.bincount(at, minlength=self.table.size)
        rows = np.flatnonzero(each)
        numbers = each[rows]
        self._put(pod_class, rows, numbers, 1)
        self._guests.append((pod_class, keys, at))

        def undo() -> None:
            self._guests.pop()
            if self._found > len(self._guests):
                self._found -= 1
                for row in rows.tolist():
                    self._guests_of[row].pop()
            self._put(pod_class, rows, numbers, -1)

        self._journal.note(undo)

    def demand(self, pod_class: PodClass) -> Demand:
        """Return what a pod of a class takes from a row."""
        demand: Demand | None = pod_class.memo.get("demand")
        if demand is None:
            demand = pod_class.memo["demand"] = self.table.demand(pod_class.requests)
        return demand

    def guests(self, row: int) -> list[tuple[PodClass, str]]:
        """Return the pods, with their keys, that forks have put onto a node and that are still there."""
        while self._found < len(self._guests):
            for home in np.unique(self._guests[self._found][2]).tolist():
                self._guests_of.setdefault(home, []).append(self._found)
            self._found += 1
        found = (self._guests[number] for number in self._guests_of.get(row, ()))
        return [
            (pod_class, keys[index]) for pod_class, keys, at in found for index in np.flatnonzero(at == row).tolist()
        ]

    def _accompany(self, rows: Rows, companions: Sequence[PodClass]) -> None:
        """Put the pods that come with nodes onto each of *rows*."""
        once = np.ones(len(rows), dtype=np.intp)
        for companion in companions:
            self._put(companion, rows, once, 1)
            self._journal.note(partial(self._put, companion, rows, once, -1))
        for row in rows.tolist() if companions else ():
            self._companions[row] = companions
            self._journal.note(partial(self._companions.__delitem__, row))

    def _take_off(self, name: str) -> None:
        row = self.table.rows[name]
        if row in self._emptied:
            return
        running = [pod.pod_class for pod in self.pods_on(name)]
        placed = [guest for guest, _ in self.guests(row)]
        for pod_class in (*running, *placed, *self._companions.get(row, ())):
            self._try_count(pod_class, row, -1)
        self._emptied.add(row)
        self._journal.note(lambda: self._emptied.discard(row))

    def _renew(self, was: PodRow, pod: PodRow) -> None:
        """Replace a pod whose change does not affect any count."""
        self.pods[pod.key] = pod
        if pod.key in self.pending:
            self.pending[pod.key] = pod
            self.waiting.replace(was, pod)
        pod.slot = was.slot
        if pod.slot >= 0:
            bound = self._bound[pod.node]
            # As in the scheduler's own lists, a pod that changed comes last.
            bound[bound.index(was)] = bound[-1]
            bound[-1] = pod

    def _put(self, pod_class: PodClass, rows: Rows, numbers: Rows, sign: int) -> None:
        self.table.charge_all(rows, sign * numbers, self.demand(pod_class))
        self.tally.add(pod_class, rows, sign * numbers)
        if pod_class.has_volumes:
            self.storage.attachments.add(pod_class, rows, sign * numbers)
        pod_class.population += sign * int(numbers.sum())

    def _try_count(self, pod_class: PodClass, row: int, number: int) -> None:
        self._count(pod_class, row, number)
        self._journal.note(lambda: self._count(pod_class, row, -number))

    def _count(self, pod_class: PodClass, row: int, number: int) -> None:
        pod_class.population += number
        self.table.charge(row, number, pod_class.requests)
        self.tally.add(pod_class, row, number)
        if pod_class.has_volumes:
            self.storage.attachments.add(pod_class, row, number)

    def _whereabouts(self, pod_class: PodClass) -> Counts:
        """Count the pods of a class again, including those that forks have put onto nodes."""
        rows = [self._slots.rows_of(pod_class.index)[: 0 if pod_class in self._left_out else None]]
        rows += [at for placed, _, at in self._guests if placed is pod_class]
        rows += [np.full(came.count(pod_class), row) for row, came in self._companions.items() if pod_class in came]
        at = np.concatenate(rows)
        # Pods on hidden or emptied nodes do not count while these nodes are hidden or emptied.
        at = at[self.table.class_of[at] >= 0]
        if self._emptied:
            at = at[~np.isin(at, list(self._emptied))]
        return np.bincount(at, minlength=self.table.capacity).astype(np.int32)
