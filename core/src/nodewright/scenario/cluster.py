"""The cluster in a scenario: its objects, in a list for each kind."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from nodewright.cluster import Cluster, PodClass, PodRow
from nodewright.cluster.annotations import BUILT_IN, PodAnnotations
from nodewright.cluster.controllers import DAEMON_SET
from nodewright.objects import (
    CapacityQuota,
    Controller,
    CSINode,
    DaemonSet,
    Namespace,
    Node,
    ObjectMeta,
    OwnerReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    StorageClass,
)
from nodewright.objects.meta import KubeStruct
from nodewright.scenario import objects as sieves
from nodewright.scenario.fields import Entry, Field, ListOf, Plain, wrong
from nodewright.scenario.names import Names, Role
from nodewright.scenario.objects import sift
from nodewright.scenario.sieve import Sieve

#: Objects by the key of their list.
Objects = Mapping[str, tuple[Any, ...]]

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class _List:
    """Where the objects of one kind stand, in a scenario and in a cluster."""

    key: str
    kind: type[KubeStruct]
    sieve: Sieve
    #: Returns the objects of a cluster; None if nothing is known of the kind.
    of: Callable[[Cluster], Iterable[Any] | None]
    put: Callable[[Cluster, Any], None]
    #: What pods call these, if they are controllers. Where there is a list, a controller that is not in it is gone.
    controller: str = ""

    def read(self, document: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the objects that *document* lists."""
        found: tuple[Any, ...] = Field(self.key, ListOf(Plain(self.kind)), ()).read(document)
        return found

    def write(self, cluster: Cluster, names: Names) -> Iterator[Raw] | None:
        """Return the list for *cluster*, one object at a time; None for no list."""
        if self.kind is Pod:
            return _write_pods(cluster, names)
        found = self.of(cluster)
        return None if found is None else self._sifted(found, names)

    def _sifted(self, things: Iterable[Any], names: Names) -> Iterator[Raw]:
        for thing in things:
            yield Raw(_encode(sift(thing, self.sieve, names, namespace=thing.metadata.namespace)))


def _namespaces(cluster: Cluster) -> Iterator[Namespace]:
    for name, labels in cluster.pod_classes.namespaces.items():
        yield Namespace(metadata=ObjectMeta(name=name, labels=dict(labels)))


def _controllers(key: str, kind: str) -> _List:
    return _List(
        key,
        Controller,
        sieves.CONTROLLER,
        lambda cluster: cluster.controllers.of(kind).values() if kind in cluster.controllers.seen else None,
        lambda cluster, each: cluster.controllers.put(kind, each),
        kind,
    )


def _daemon_sets(cluster: Cluster) -> Iterable[DaemonSet] | None:
    known = cluster.daemon_sets
    return known.values() if known or DAEMON_SET in cluster.controllers.seen else None


def _into(attribute: str) -> Callable[[Cluster, Any], None]:
    """Return what puts objects into a mapping of the cluster, by their keys."""

    def put(cluster: Cluster, each: Any) -> None:
        getattr(cluster, attribute)[each.metadata.key] = each

    return put


#: In the order in which they are written and put into a cluster: pods refer to what comes before.
_LISTS = (
    _List("namespaces", Namespace, sieves.NAMESPACE, _namespaces, Cluster.put_namespace),
    _List(
        "storageClasses",
        StorageClass,
        sieves.STORAGE_CLASS,
        lambda cluster: cluster.storage.classes.values(),
        Cluster.put_storage_class,
    ),
    _List(
        "persistentVolumes",
        PersistentVolume,
        sieves.VOLUME,
        lambda cluster: cluster.storage.volumes.values(),
        Cluster.put_volume,
    ),
    _List(
        "persistentVolumeClaims",
        PersistentVolumeClaim,
        sieves.CLAIM,
        lambda cluster: cluster.storage.claims.values(),
        Cluster.put_claim,
    ),
    _List("nodes", Node, sieves.NODE, lambda cluster: cluster.nodes.values(), Cluster.put_node),
    _List(
        "csiNodes", CSINode, sieves.CSI_NODE, lambda cluster: cluster.storage.csi_nodes.values(), Cluster.put_csi_node
    ),
    _controllers("replicaSets", "ReplicaSet"),
    _controllers("replicationControllers", "ReplicationController"),
    _controllers("statefulSets", "StatefulSet"),
    _controllers("jobs", "Job"),
    _List("daemonSets", DaemonSet, sieves.DAEMON_SET, _daemon_sets, _into("daemon_sets"), DAEMON_SET),
    _List("pdbs", PodDisruptionBudget, sieves.BUDGET, lambda cluster: cluster.budgets.values(), _into("budgets")),
    _List("capacityQuotas", CapacityQuota, sieves.QUOTA, lambda cluster: cluster.quotas.values(), _into("quotas")),
    _List("pods", Pod, sieves.POD, lambda cluster: cluster.pods.values(), Cluster.put_pod),
)
KEYS = tuple(each.key for each in _LISTS)
NODES = "nodes"


def read_objects(document: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Return the objects of each list that *document* has."""
    return {each.key: each.read(document) for each in _LISTS if each.key in document}


def cluster_of(objects: Objects, annotations: PodAnnotations = BUILT_IN) -> Cluster:
    """Return a new cluster of *objects*, whose pods differ in those *annotations* that tell.

    Raises `ConfigurationError` that names the object with a malformed quantity.
    """
    cluster = Cluster()
    cluster.pod_classes.tell_by(annotations)
    for each in _LISTS:
        if each.controller and each.key in objects:
            cluster.controllers.see(each.controller)
        for thing in objects.get(each.key, ()):
            try:
                each.put(cluster, thing)
            except ValueError as error:
                raise wrong(f"{each.key} ({thing.metadata.key})", str(error)) from None
    return cluster


def write_objects(cluster: Cluster, names: Names) -> Iterator[Entry]:
    """Yield the lists of *cluster*."""
    for each in _LISTS:
        written = each.write(cluster, names)
        if written is not None:
            yield each.key, written


def _write_pods(cluster: Cluster, names: Names) -> Iterator[Raw]:
    """Yield all pods that have not ended: those of each node in the order that decisions see, then the rest."""
    writer = _PodWriter(names, cluster.pod_classes.annotations)
    for node in cluster.nodes:
        for row in cluster.pods_on(node):
            yield writer.write(row)
    # Those that wait are served in turn.
    turns = [(turn, key) for sort in cluster.waiting.sorts.values() for key, turn in sort.items()]
    for _, key in sorted(turns):
        yield writer.write(cluster.pods[key])
    for row in cluster.waiting.nominated.values():
        yield writer.write(row)
    for row in cluster.pods.values():
        if not row.finished and row.node not in cluster.nodes and row.key not in cluster.pending:
            yield writer.write(row)


class _PodWriter:
    """Writes pods from their rows. What the pods of a class share, and what they share with an owner, is made once."""

    def __init__(self, names: Names, annotations: PodAnnotations) -> None:
        self._names = names
        self._annotations = annotations
        self._classes: dict[PodClass, tuple[dict[str, Any], bytes]] = {}
        self._owners: dict[OwnerReference, list[dict[str, Any]]] = {}

    def write(self, row: PodRow) -> Raw:
        """Return a pod as JSON."""
        if row.pending is not None:
            return Raw(_encode(self._whole(row, row.pending)))
        shared = self._classes.get(row.pod_class)
        if shared is None:
            shared = self._classes[row.pod_class] = self._shared(row.pod_class)
        metadata, rest = shared
        own = metadata | self._own(row)
        if row.telling:
            own["labels"] = own.get("labels", {}) | {key: self._names.label(key, value) for key, value in row.telling}
        node = _encode(self._names.of(Role.NODE, row.node)) if row.node else b'""'
        return Raw(b'{"metadata":%s,"spec":{"nodeName":%s%s' % (_encode(own), node, rest))

    def _whole(self, row: PodRow, pod: Pod) -> Any:
        owner = (row.owner,) if row.owner is not None else ()
        pod = replace(pod, metadata=replace(pod.metadata, owner_references=owner))
        return self._sifted(pod)

    def _sifted(self, pod: Pod) -> Any:
        meta = pod.metadata
        return sift(
            pod, sieves.POD, self._names, namespace=meta.namespace, pod=meta.name, annotations=self._annotations
        )

    def _shared(self, pod_class: PodClass) -> tuple[dict[str, Any], bytes]:
        """Return the metadata that all pods of a class have, and the JSON behind the name of their node."""
        example = pod_class.pod
        meta, status = example.metadata, example.status
        # Of the example's state only what was given to its containers is that of all.
        status = replace(status, phase="Running", conditions=(), nominated_node_name="", start_time=None)
        example = replace(example, metadata=replace(meta, owner_references=()), status=status)
        sifted = self._sifted(example)
        spec = _encode({key: value for key, value in sifted.get("spec", {}).items() if key != "nodeName"})[1:]
        comma = b"" if spec == b"}" else b","
        return sifted["metadata"], b'%s%s,"status":%s}' % (comma, spec, _encode(sifted["status"]))

    def _own(self, row: PodRow) -> dict[str, Any]:
        """Return the metadata that a pod shares with no other."""
        own: dict[str, Any] = {
            "name": self._names.of(Role.POD, row.name),
            "namespace": self._names.of(Role.NAMESPACE, row.namespace),
            "uid": self._names.of(Role.UID, row.uid),
        }
        if row.owner is not None:
            own["ownerReferences"] = self._owner(row.owner)
        times: dict[str, datetime | None] = {"creationTimestamp": row.created, "deletionTimestamp": row.deleted}
        return own | {key: time for key, time in times.items() if time is not None}

    def _owner(self, owner: OwnerReference) -> list[dict[str, Any]]:
        known = self._owners.get(owner)
        if known is None:
            like = Pod(metadata=replace(Pod().metadata, owner_references=(owner,)))
            known = self._owners[owner] = sift(like, sieves.POD, self._names)["metadata"]["ownerReferences"]
        return known
