"""Pods in a picture: written from the rows of the cluster, with what a class of them shares written once."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from nodewright.cluster import Cluster, PodClass, PodRow
from nodewright.objects import OwnerReference, Pod
from nodewright.scenario.names import Names, Role
from nodewright.scenario.picture_objects import POD, sift

_encode = msgspec.json.Encoder().encode


def pods_of(cluster: Cluster, names: Names) -> Iterator[Raw]:
    """Yield all pods that have not ended as JSON: those of each node in the order that decisions see, then the rest."""
    writer = _PodWriter(names)
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
    """Writes pods one by one, and remembers what it wrote of their classes and owners."""

    def __init__(self, names: Names) -> None:
        self._names = names
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
        return sift(pod, POD, self._names, namespace=row.namespace, pod=row.name)

    def _shared(self, pod_class: PodClass) -> tuple[dict[str, Any], bytes]:
        """Return the metadata that all pods of a class have, and the JSON behind the name of their node."""
        example = pod_class.pod
        meta, status = example.metadata, example.status
        # Of the example's state only what was given to its containers is that of all.
        status = replace(status, phase="Running", conditions=(), nominated_node_name="", start_time=None)
        example = replace(
            example,
            metadata=replace(meta, owner_references=()),
            status=status,
        )
        sifted = sift(example, POD, self._names, namespace=meta.namespace, pod=meta.name)
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
            known = self._owners[owner] = sift(like, POD, self._names)["metadata"]["ownerReferences"]
        return known
