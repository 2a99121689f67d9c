"""StatefulSets: pods with names that stay, started and stopped in order."""

from nodewright_fake.apiserver.store import Change, Object, Store
from nodewright_fake.controllers.pods import (
    Key,
    PodIndex,
    controller_of,
    is_active,
    is_finished,
    is_leaving,
    is_ready,
    key_of,
)
from nodewright_fake.controllers.reconciler import Reconciler
from nodewright_fake.controllers.selectors import labels_of
from nodewright_fake.controllers.workloads.status import observed
from nodewright_fake.controllers.workloads.templates import new_pod, owner_reference, template_hash

RESOURCE = "statefulsets.apps"
HASH = "controller-revision-hash"


class StatefulSets(Reconciler[Key]):
    """Keeps the pods of each StatefulSet, of both management policies.

    Volume claims are not made, and no revision history is kept: a pod that is missing comes back from the newest
    template, even below the partition of an update.
    """

    def __init__(self, store: Store, pods: PodIndex) -> None:
        super().__init__(store)
        self._pods = pods

    def observe(self, change: Change) -> None:
        """Note a set that changed, or whose pod did."""
        if change.resource == RESOURCE:
            self._touched.add(key_of(change.object))
        elif change.resource == "pods":
            owner = controller_of(change.object)
            if owner is not None and owner.kind == "StatefulSet":
                self._touched.add((key_of(change.object)[0], owner.name))

    def sync(self, key: Key) -> None:
        """Go as far as the policy allows, and write the status."""
        found = self.store.find(RESOURCE, key[1], key[0])
        if found is None:
            return
        if "deletionTimestamp" not in found["metadata"]:
            pods = self._by_ordinal(found)
            if self._fill(found, pods) and self._shrink(found, pods):
                self._update(found, pods)
        self._write_status(found)

    def _fill(self, found: Object, pods: dict[int, Object]) -> bool:
        """Create what is missing; return whether all are there and, if the order counts, ready."""
        ordered = found["spec"].get("podManagementPolicy") != "Parallel"
        for ordinal in _ordinals(found):
            pod = pods.get(ordinal)
            if pod is None:
                pod = self.store.create("pods", self._new_pod(found, ordinal))
            elif is_finished(pod) and not is_leaving(pod):
                self._delete(pod)
            if ordered and (not is_ready(pod) or not is_active(pod)):
                return False
        return True

    def _shrink(self, found: Object, pods: dict[int, Object]) -> bool:
        """Delete what is too much, the highest first; return whether nothing is."""
        surplus = sorted(set(pods) - set(_ordinals(found)), reverse=True)
        ordered = found["spec"].get("podManagementPolicy") != "Parallel"
        for ordinal in surplus:
            if not is_leaving(pods[ordinal]):
                self._delete(pods[ordinal])
            if ordered:
                break
        return not surplus

    def _update(self, found: Object, pods: dict[int, Object]) -> None:
        """Replace the highest pod of an older template, once those above it are ready."""
        strategy = found["spec"].get("updateStrategy") or {}
        if strategy.get("type") == "OnDelete":
            return
        partition = (strategy.get("rollingUpdate") or {}).get("partition", 0)
        for ordinal in sorted(_ordinals(found), reverse=True):
            pod = pods.get(ordinal)
            if ordinal < partition or pod is None:
                return
            if labels_of(pod).get(HASH) != _revision(found) and is_active(pod):
                self._delete(pod)
                return
            if not is_ready(pod) or not is_active(pod):
                return

    def _new_pod(self, found: Object, ordinal: int) -> Object:
        name = f"{found['metadata']['name']}-{ordinal}"
        reference = owner_reference(found, "apps/v1", "StatefulSet")
        pod = new_pod(found, reference, found["spec"].get("template") or {}, name=name)
        pod["metadata"]["labels"] |= {
            HASH: _revision(found),
            "statefulset.kubernetes.io/pod-name": name,
            "apps.kubernetes.io/pod-index": str(ordinal),
        }
        pod["spec"] |= {"hostname": name, "subdomain": found["spec"].get("serviceName") or ""}
        return pod

    def _by_ordinal(self, found: Object) -> dict[int, Object]:
        pods = {}
        for pod in self._pods.owned_by(found["metadata"]["uid"]):
            number = pod["metadata"]["name"].removeprefix(found["metadata"]["name"] + "-")
            if number.isdigit():
                pods[int(number)] = pod
        return pods

    def _delete(self, pod: Object) -> None:
        namespace, name = key_of(pod)
        self.store.delete("pods", name, namespace)

    def _write_status(self, found: Object) -> None:
        pods = [pod for pod in self._pods.owned_by(found["metadata"]["uid"]) if not is_finished(pod)]
        newest = _revision(found)
        ready = sum(is_ready(pod) and not is_leaving(pod) for pod in pods)
        updated = sum(labels_of(pod).get(HASH) == newest for pod in pods if not is_leaving(pod))
        current = (found.get("status") or {}).get("currentRevision") or newest
        if updated == ready == len(pods):
            current = newest
        status = observed(
            found,
            replicas=len(pods),
            readyReplicas=ready,
            availableReplicas=ready,
            updatedReplicas=updated,
            currentReplicas=sum(labels_of(pod).get(HASH) == current for pod in pods if not is_leaving(pod)),
        )
        self.store.update(
            RESOURCE, {**found, "status": {**status, "currentRevision": current, "updateRevision": newest}}
        )


def _ordinals(found: Object) -> range:
    first = (found["spec"].get("ordinals") or {}).get("start", 0)
    return range(first, first + found["spec"].get("replicas", 1))


def _revision(found: Object) -> str:
    return f"{found['metadata']['name']}-{template_hash(found['spec'].get('template') or {})}"
