"""ReplicaSets, and ReplicationControllers, which are the same thing under an older name."""

from collections import Counter
from collections.abc import Collection

from nodewright_fake.apiserver.store import Change, Object, Store
from nodewright_fake.controllers.pods import (
    Key,
    PodIndex,
    controller_of,
    is_active,
    is_ready,
    key_of,
    node_of,
    phase_of,
)
from nodewright_fake.controllers.reconciler import Reconciler
from nodewright_fake.controllers.workloads.status import observed
from nodewright_fake.controllers.workloads.templates import new_pod, owner_reference

_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


class ReplicaSets(Reconciler[Key]):
    """Keeps as many pods of each ReplicaSet as it asks for. Pods without an owner are not adopted."""

    resource = "replicasets.apps"
    api_version = "apps/v1"
    kind = "ReplicaSet"

    def __init__(self, store: Store, pods: PodIndex) -> None:
        super().__init__(store)
        self._pods = pods

    def observe(self, change: Change) -> None:
        """Note a set that changed, or whose pod did."""
        if change.resource == self.resource:
            self._touched.add(key_of(change.object))
        elif change.resource == "pods":
            owner = controller_of(change.object)
            if owner is not None and owner.kind == self.kind:
                self._touched.add((key_of(change.object)[0], owner.name))

    def sync(self, key: Key) -> None:
        """Create or delete pods, and write the status."""
        found = self.store.find(self.resource, key[1], key[0])
        if found is None:
            return
        active = [pod for pod in self._pods.owned_by(found["metadata"]["uid"]) if is_active(pod)]
        if "deletionTimestamp" not in found["metadata"]:
            missing = found["spec"].get("replicas", 1) - len(active)
            if missing > 0:
                reference = owner_reference(found, self.api_version, self.kind)
                pod = new_pod(found, reference, found["spec"].get("template") or {})
                active += [self.store.create("pods", pod) for _ in range(missing)]
            elif missing < 0:
                for pod in self._least_wanted(active)[:-missing]:
                    self.store.delete("pods", pod["metadata"]["name"], key[0])
                    active.remove(pod)
        self._write_status(found, active)

    @staticmethod
    def _least_wanted(pods: Collection[Object]) -> list[Object]:
        """Return *pods* in the order in which ReplicaSets give them up.

        Those without a node first, then by phase, not ready, of lower deletion cost, on a node with more of them,
        younger.
        """
        crowd = Counter(node_of(pod) for pod in pods)
        numbered = list(enumerate(pods))
        numbered.sort(
            key=lambda item: (
                bool(node_of(item[1])),
                _PHASES.get(phase_of(item[1]), 2),
                is_ready(item[1]),
                _deletion_cost(item[1]),
                -crowd[node_of(item[1])],
                -item[0],
            )
        )
        return [pod for _, pod in numbered]

    def _write_status(self, found: Object, pods: Collection[Object]) -> None:
        ready = sum(is_ready(pod) for pod in pods)
        status = observed(
            found, replicas=len(pods), fullyLabeledReplicas=len(pods), readyReplicas=ready, availableReplicas=ready
        )
        self.store.update(self.resource, {**found, "status": status})


class ReplicationControllers(ReplicaSets):
    """Keeps as many pods of each ReplicationController as it asks for."""

    resource = "replicationcontrollers"
    api_version = "v1"
    kind = "ReplicationController"


def _deletion_cost(pod: Object) -> int:
    try:
        return int((pod["metadata"].get("annotations") or {}).get(_DELETION_COST, 0))
    except ValueError:
        return 0
