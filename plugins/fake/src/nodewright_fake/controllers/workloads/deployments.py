"""Deployments: one ReplicaSet per template, and the replicas moved over from the old ones to the new."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from nodewright_fake.apiserver.store import Change, Object, Store
from nodewright_fake.controllers.conditions import with_condition
from nodewright_fake.controllers.pods import Key, PodIndex, controller_of, is_finished, key_of
from nodewright_fake.controllers.reconciler import Reconciler
from nodewright_fake.controllers.selectors import labels_of
from nodewright_fake.controllers.workloads.status import observed, portion
from nodewright_fake.controllers.workloads.templates import owner_reference, template_hash

RESOURCE = "deployments.apps"
SETS = "replicasets.apps"
HASH = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"


class OwnedIndex:
    """The objects of one resource by the uid of their controller."""

    def __init__(self, resource: str) -> None:
        self._resource = resource
        self._owned: defaultdict[str, dict[Key, Object]] = defaultdict(dict)

    def owned_by(self, uid: str) -> list[Object]:
        """Return the objects of the controller with *uid*, oldest first."""
        return list(self._owned[uid].values()) if uid in self._owned else []

    def observe(self, change: Change) -> None:
        """Keep track of *change*."""
        if change.resource != self._resource:
            return
        key = key_of(change.object)
        owner = controller_of(change.object)
        before = controller_of(change.before) if change.before is not None else None
        if before is not None and (change.type == "DELETED" or owner is None or owner.uid != before.uid):
            self._owned[before.uid].pop(key, None)
            if not self._owned[before.uid]:
                del self._owned[before.uid]
        if owner is not None and change.type != "DELETED":
            self._owned[owner.uid][key] = change.object


@dataclass(frozen=True)
class Size:
    """How many pods a ReplicaSet is to have, and how many of them are available."""

    replicas: int
    available: int


def next_sizes(
    wanted: int, current: Size, old: Sequence[Size], *, surge: int, unavailable: int
) -> tuple[int, list[int]]:
    """Return how many replicas the set with the newest template and the old ones should have next.

    No more than *wanted* + *surge* pods are asked for, and the update leaves no fewer than *wanted* - *unavailable*
    available. Old pods that are not available go first, because they serve no one.
    """
    others = sum(size.replicas for size in old)
    if current.replicas > wanted:
        newest = wanted
    else:
        room = max(0, wanted + surge - current.replicas - others)
        newest = min(wanted, current.replicas + room)
    enough = wanted - unavailable
    newest_serving = min(current.available, newest)
    spare = others + newest_serving - enough
    sizes = [size.replicas for size in old]
    for position, size in enumerate(old):
        idle = max(0, min(spare, size.replicas - size.available))
        sizes[position] -= idle
        spare -= idle
    for position, left in enumerate(sizes):
        step = max(0, min(spare, left))
        sizes[position] -= step
        spare -= step
    return newest, sizes


class Deployments(Reconciler[Key]):
    """Rolls templates out. Progress deadlines and ``minReadySeconds`` are not looked at."""

    def __init__(self, store: Store, pods: PodIndex) -> None:
        super().__init__(store)
        self._pods = pods
        self._sets = OwnedIndex(SETS)

    def observe(self, change: Change) -> None:
        """Note a Deployment that changed, whose ReplicaSet did, or whose pod went."""
        self._sets.observe(change)
        if change.resource == RESOURCE:
            self._touched.add(key_of(change.object))
        elif change.resource == SETS:
            self._note_owner(change.object)
        elif change.resource == "pods" and change.type == "DELETED":
            owner = controller_of(change.object)
            if owner is not None and owner.kind == "ReplicaSet":
                found = self.store.find(SETS, owner.name, key_of(change.object)[0])
                if found is not None:
                    self._note_owner(found)

    def sync(self, key: Key) -> None:
        """Bring the ReplicaSets of a Deployment a step further, and write its status."""
        found: Object | None = self.store.find(RESOURCE, key[1], key[0])
        if found is None or "deletionTimestamp" in found["metadata"]:
            return
        sets = self._sets.owned_by(found["metadata"]["uid"])
        label = template_hash(found["spec"].get("template") or {})
        current: Object | None = next((each for each in sets if labels_of(each).get(HASH) == label), None)
        old = [each for each in sets if each is not current]
        if not found["spec"].get("paused"):
            current = self._newest(found, current, old)
            current, old = self._step(found, current, old)
            found = self._show_revision(found, current)
        elif len(sets) == 1:
            self._scale(sets[0], _replicas(found))
        self._write_status(found, current, old)
        self._clean_up(found, old)

    def _newest(self, found: Object, current: Object | None, old: Sequence[Object]) -> Object:
        """Return the set for the template as it is now, with the highest revision of all."""
        last = max((_revision(each) for each in old), default=0)
        if current is None:
            return self._create_set(found, last + 1)
        if _revision(current) > last:
            return current
        annotations = {**(current["metadata"].get("annotations") or {}), REVISION: str(last + 1)}
        return self.store.update(SETS, {**current, "metadata": {**current["metadata"], "annotations": annotations}})

    def _create_set(self, found: Object, revision: int) -> Object:
        template = found["spec"].get("template") or {}
        label = template_hash(template)
        metadata = template.get("metadata") or {}
        labels = {**(metadata.get("labels") or {}), HASH: label}
        selector = found["spec"].get("selector") or {}
        return self.store.create(
            SETS,
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "metadata": {
                    "name": f"{found['metadata']['name']}-{label}",
                    "namespace": found["metadata"].get("namespace", ""),
                    "labels": labels,
                    "annotations": {REVISION: str(revision)},
                    "ownerReferences": [owner_reference(found, "apps/v1", "Deployment")],
                },
                "spec": {
                    "replicas": 0,
                    "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), HASH: label}},
                    "template": {**template, "metadata": {**metadata, "labels": labels}},
                },
                "status": {"replicas": 0},
            },
        )

    def _step(self, found: Object, current: Object, old: list[Object]) -> tuple[Object, list[Object]]:
        wanted = _replicas(found)
        if (found["spec"].get("strategy") or {}).get("type") == "Recreate":
            old = [self._scale(each, 0) for each in old]
            left = [pod for each in old for pod in self._pods.owned_by(each["metadata"]["uid"]) if not is_finished(pod)]
            return (current if left else self._scale(current, wanted)), old
        surge, unavailable = _leeway(found)
        newest, sizes = next_sizes(
            wanted, _size(current), [_size(each) for each in old], surge=surge, unavailable=unavailable
        )
        current = self._scale(current, newest)
        return current, [self._scale(each, size) for each, size in zip(old, sizes, strict=True)]

    def _scale(self, each: Object, replicas: int) -> Object:
        if _replicas(each) == replicas:
            return each
        return self.store.update(SETS, {**each, "spec": {**each["spec"], "replicas": replicas}})

    def _show_revision(self, found: Object, current: Object) -> Object:
        annotations = {**(found["metadata"].get("annotations") or {}), REVISION: str(_revision(current))}
        return self.store.update(RESOURCE, {**found, "metadata": {**found["metadata"], "annotations": annotations}})

    def _write_status(self, found: Object, current: Object | None, old: Sequence[Object]) -> None:
        sets = [each for each in (current, *old) if each is not None]
        wanted, available = _replicas(found), sum(_size(each).available for each in sets)
        updated = _count(current, "replicas") if current is not None else 0
        replicas = sum(_count(each, "replicas") for each in sets)
        status = observed(
            found,
            replicas=replicas,
            updatedReplicas=updated,
            readyReplicas=sum(_count(each, "readyReplicas") for each in sets),
            availableReplicas=available,
            unavailableReplicas=max(0, wanted - available),
        )
        now = self.store.clock.now()
        enough = available >= wanted - _leeway(found)[1]
        done = updated == replicas == available == wanted
        conditions = with_condition(
            status.get("conditions") or [],
            now,
            "Available",
            enough,
            "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable",
            f"Deployment {'has' if enough else 'does not have'} minimum availability.",
        )
        status["conditions"] = with_condition(
            conditions, now, "Progressing", True, "NewReplicaSetAvailable" if done else "ReplicaSetUpdated"
        )
        self.store.update(RESOURCE, {**found, "status": status})

    def _clean_up(self, found: Object, old: Sequence[Object]) -> None:
        idle = [each for each in old if not _replicas(each) and not _count(each, "replicas")]
        idle.sort(key=_revision)
        for each in idle[: max(0, len(idle) - found["spec"].get("revisionHistoryLimit", 10))]:
            self.store.delete(SETS, each["metadata"]["name"], key_of(each)[0])

    def _note_owner(self, replica_set: Object) -> None:
        owner = controller_of(replica_set)
        if owner is not None and owner.kind == "Deployment":
            self._touched.add((key_of(replica_set)[0], owner.name))


def _replicas(item: Object) -> int:
    return int(item["spec"].get("replicas", 1))


def _count(item: Object, name: str) -> int:
    return int((item.get("status") or {}).get(name, 0))


def _size(replica_set: Object) -> Size:
    return Size(_replicas(replica_set), _count(replica_set, "availableReplicas"))


def _revision(replica_set: Object) -> int:
    return int((replica_set["metadata"].get("annotations") or {}).get(REVISION, 0))


def _leeway(found: Object) -> tuple[int, int]:
    """Return how many pods more, and how many fewer, than wanted there may be during an update."""
    strategy = found["spec"].get("strategy") or {}
    if strategy.get("type") == "Recreate":
        return 0, 0
    rolling = strategy.get("rollingUpdate") or {}
    surge = portion(rolling.get("maxSurge", "25%"), _replicas(found), round_up=True)
    unavailable = portion(rolling.get("maxUnavailable", "25%"), _replicas(found), round_up=False)
    return surge, unavailable or (0 if surge else 1)
