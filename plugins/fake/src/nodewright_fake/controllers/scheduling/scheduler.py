"""The scheduler: takes waiting pods in order and binds each to the best node that every filter admits.

It has kube-scheduler's filters for taints, node selection, host ports, resources, topology spread and inter-pod
affinity. It has no preemption, looks at no volumes, and scores by free room and soft taints alone: preferred
affinities and soft spread do not count.
"""

import logging
from collections import Counter, OrderedDict, deque
from datetime import timedelta

from nodewright_fake.apiserver.store import Change, Object, Store
from nodewright_fake.controllers.conditions import condition_of, with_condition
from nodewright_fake.controllers.events import Recorder
from nodewright_fake.controllers.pods import is_finished, is_leaving, key_of, node_of
from nodewright_fake.controllers.reconciler import MALFORMED
from nodewright_fake.controllers.scheduling.cache import Placement, PodId, SchedulerCache
from nodewright_fake.controllers.scheduling.feasible_nodes import FeasibleNodes
from nodewright_fake.controllers.scheduling.filters import InterPodAffinity, TopologySpread
from nodewright_fake.controllers.scheduling.needs import Needs
from nodewright_fake.controllers.scheduling.pod_shape import PodShape, PodShapes
from nodewright_fake.controllers.scheduling.queue import Line, Queue
from nodewright_fake.controllers.selectors import labels_of

NAME = "default-scheduler"
#: At most this often, the status of waiting pods is updated with changed reasons.
TOLD_AGAIN = timedelta(seconds=30)

_KEPT_CANDIDATES = 512

_log = logging.getLogger(__name__)


class Scheduler:
    """Binds the pods that ask for ``default-scheduler``, and writes into the others why they wait."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.cluster = SchedulerCache()
        self._queue = Queue()
        self._shapes = PodShapes()
        self._placer = Placer(self.cluster)
        self._events = Recorder(store, NAME)
        self._changed_pods: dict[PodId, None] = {}
        self._changed_nodes: dict[str, None] = {}
        self._changed_namespaces: dict[str, None] = {}
        self._to_tell: deque[tuple[PodId, str, str]] = deque()

    def observe(self, change: Change) -> None:
        """Note which pod, node or namespace changed. Called with the store locked."""
        metadata = change.object["metadata"]
        if change.resource == "pods":
            self._changed_pods[(*key_of(change.object), metadata["uid"])] = None
        elif change.resource == "nodes":
            self._changed_nodes[metadata["name"]] = None
        elif change.resource == "namespaces":
            self._changed_namespaces[metadata["name"]] = None

    def reconcile(self) -> bool:
        """Place all pods that can be placed; return whether anything was written."""
        wrote, going = False, True
        while going:
            # One pod at a time, so that requests get their turn and every decision sees what they changed.
            with self.store.lock:
                version = self.store.version
                self._take_in_changes()
                going = self._tell_next() or self._place_next()
                wrote |= self.store.version != version
        return wrote

    def _take_in_changes(self) -> None:
        namespaces, self._changed_namespaces = self._changed_namespaces, {}
        for name in namespaces:
            namespace = self.store.find("namespaces", name)
            self.cluster.set_namespace(name, labels_of(namespace) if namespace else None)
        nodes, self._changed_nodes = self._changed_nodes, {}
        changed = [self._take_in_node(name) for name in nodes]
        pods, self._changed_pods = self._changed_pods, {}
        left = [self._take_in_pod(pod) for pod in pods]
        if namespaces or any(changed) or any(left):
            for line in self._queue.lines():
                self._queue.wake(line)

    def _take_in_node(self, name: str) -> bool:
        """Return whether the change may help a pod."""
        node = self.store.find("nodes", name)
        if node is None:
            self.cluster.drop_node(name)
            return True
        try:
            return self.cluster.set_node(node)
        except MALFORMED as error:
            _log.warning("node %s is left out: %s", name, error, exc_info=True)
            self.cluster.drop_node(name)
            return True

    def _take_in_pod(self, pod_id: PodId) -> bool:
        """Return whether the pod made room on a node."""
        pod = self._find(pod_id)
        before = self.cluster.placement(pod_id)
        now = self._placement(pod)
        if pod is None or now is not None or not self._takes_care_of(pod):
            self._queue.remove(pod_id)
        elif pod["spec"].get("schedulingGates"):
            self._queue.remove(pod_id)
            message = "Scheduling is blocked due to non-empty scheduling gates"
            self._to_tell.append((pod_id, "SchedulingGated", message))
        elif shape := self._shape(pod):
            created = pod["metadata"]["creationTimestamp"]
            self._queue.add(pod_id, shape, pod["spec"].get("priority") or 0, created)
        if before == now:
            return False
        if before is not None:
            self.cluster.lift(pod_id)
        if now is not None:
            self.cluster.place(pod_id, now)
            self._wake_companions(now.shape)
        return before is not None

    def _placement(self, pod: Object | None) -> Placement | None:
        if pod is None or is_finished(pod) or not node_of(pod):
            return None
        shape = self._shape(pod)
        return Placement(node_of(pod), shape, is_leaving(pod)) if shape else None

    def _shape(self, pod: Object) -> PodShape | None:
        try:
            return self._shapes.of(pod)
        except MALFORMED as error:
            _log.warning("pod %s/%s is left out: %s", *key_of(pod), error, exc_info=True)
            return None

    @staticmethod
    def _takes_care_of(pod: Object) -> bool:
        mine = (pod["spec"].get("schedulerName") or NAME) == NAME
        return mine and not is_finished(pod) and not is_leaving(pod)

    def _wake_companions(self, placed: PodShape) -> None:
        labels = self.cluster.namespace_labels(placed.namespace)
        for line in self._queue.lines_that_look_around():
            if line.listed is None and line.shape.heeds(placed, labels):
                self._queue.wake(line)

    def _place_next(self) -> bool:
        turn = self._queue.next()
        if turn is None:
            return False
        pod_id, line = turn
        found = self._placer.find(line.shape)
        if isinstance(found, str):
            self._bind(pod_id, found)
            self._queue.remove(pod_id)
            self._queue.wake(line)
        else:
            self._give_notice(line, found)
        return True

    def _bind(self, pod_id: PodId, node: str) -> None:
        namespace, name, _ = pod_id
        pod = self.store.get("pods", name, namespace)
        status = pod.get("status") or {}
        conditions = with_condition(status.get("conditions") or [], self.store.clock.now(), "PodScheduled", True)
        bound = {**pod, "spec": {**pod["spec"], "nodeName": node}, "status": {**status, "conditions": conditions}}
        self.store.update("pods", bound)

    def _give_notice(self, line: Line, reasons: Counter[str]) -> None:
        now = self.store.clock.now()
        notice = self._message(reasons)
        recent = line.noticed_at is not None and now - line.noticed_at < TOLD_AGAIN
        told, line.untold = line.untold, []
        if notice != line.notice and not recent:
            told, line.notice, line.noticed_at = self._queue.pods_of(line), notice, now
        self._to_tell.extend((pod_id, "Unschedulable", notice) for pod_id in told)

    def _message(self, reasons: Counter[str]) -> str:
        total = len(self.cluster.nodes)
        if not total:
            return "no nodes available to schedule pods"
        counted = sorted(f"{count} {reason}" for reason, count in reasons.items())
        return f"0/{total} nodes are available: {', '.join(counted)}."

    def _tell_next(self) -> bool:
        if not self._to_tell:
            return False
        pod_id, reason, message = self._to_tell.popleft()
        pod = self._find(pod_id)
        if pod is None or node_of(pod) or is_finished(pod):
            return True
        known = condition_of(pod, "PodScheduled") or {}
        if (known.get("status"), known.get("reason"), known.get("message")) != ("False", reason, message):
            status = pod.get("status") or {}
            now = self.store.clock.now()
            conditions = with_condition(status.get("conditions") or [], now, "PodScheduled", False, reason, message)
            told = self.store.update("pods", {**pod, "status": {**status, "conditions": conditions}})
            if reason == "Unschedulable":
                self._events.record(told, "FailedScheduling", message, warning=True)
        return True

    def _find(self, pod_id: PodId) -> Object | None:
        namespace, name, uid = pod_id
        pod = self.store.find("pods", name, namespace)
        return pod if pod is not None and pod["metadata"]["uid"] == uid else None


class Placer:
    """Finds a node for a pod: applies all filters and picks the node of the best rank."""

    def __init__(self, cluster: SchedulerCache) -> None:
        self._cluster = cluster
        self._candidates: OrderedDict[Needs, FeasibleNodes] = OrderedDict()

    def find(self, shape: PodShape) -> str | Counter[str]:
        """Return the name of the best node for a pod of *shape*, or how many nodes refuse it for which reason."""
        candidates = self._candidates_for(shape.needs)
        if not shape.looks_around and not self._cluster.repelling_terms(shape):
            return candidates.best() or candidates.reasons
        around = (TopologySpread(shape, self._cluster), InterPodAffinity(shape, self._cluster))
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

    def _candidates_for(self, needs: Needs) -> FeasibleNodes:
        candidates = self._candidates.get(needs)
        if candidates is None:
            candidates = self._candidates[needs] = FeasibleNodes(needs, self._cluster)
        self._candidates.move_to_end(needs)
        if len(self._candidates) > _KEPT_CANDIDATES:
            self._candidates.popitem(last=False)
        candidates.refresh()
        return candidates
