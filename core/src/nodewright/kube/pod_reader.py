"""Decoding pods: the fields that make a pod's class stay bytes, so that constraints are parsed once per class."""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import replace

from nodewright.cluster import Cluster, PodRow
from nodewright.cluster.annotations import BUILT_IN, PodAnnotations
from nodewright.cluster.pod_class import PINNED, TELLING_LABELS, unbound
from nodewright.objects import ObjectMeta, OwnerReference, Pod
from nodewright.objects.pod import FINAL_PHASES, MIRROR, PodStatus

#: Beyond this many prototypes all are dropped and read again.
_MOST_PROTOTYPES = 20_000
#: The volume of a service account's token has a random name.
_TOKEN = re.compile(rb'\{"name":"kube-api-access-[a-z0-9]+","projected":')
_TELLING_LABELS = tuple(label.encode() for label in TELLING_LABELS)

_Bytes = Raw | UnsetType


class PodPrototype(Struct, gc=False, eq=False, frozen=True):
    """What pods have in common whose fields that decisions read are the same bytes."""

    key: bytes
    #: The first such pod, without the node that it runs on.
    pod: Pod


class SeenPod(Struct, gc=False, eq=False, frozen=True, kw_only=True):
    """A pod from the API server, before its class is known."""

    key: str
    uid: str
    prototype: PodPrototype
    node: str
    owner: OwnerReference | None
    created: datetime | None
    deleted: datetime | None
    finished: bool
    #: The pod itself if it has no node; shares the spec of its prototype.
    pending: Pod | None
    #: The labels that distinguish it from other pods of its prototype.
    telling: tuple[tuple[str, str], ...] = ()

    @property
    def wants_node(self) -> bool:
        """Whether the scheduler found no node for it."""
        return self.pending is not None and self.pending.marked_unschedulable

    def put_into(self, cluster: Cluster) -> None:
        """Add the pod to *cluster*, or replace it there. Raises `ValueError` if a quantity in it is malformed."""
        classes = cluster.pod_classes
        if any(name in classes.watched for name, _ in self.telling):
            pod_class = classes.of(_with_labels(self.prototype.pod, self.telling))
        else:
            pod_class = classes.find(self.prototype.key) or classes.alias(self.prototype.key, self.prototype.pod)
        cluster.put_pod_row(
            PodRow(
                key=self.key,
                uid=self.uid,
                pod_class=pod_class,
                node=self.node,
                owner=self.owner,
                created=self.created,
                deleted=self.deleted,
                finished=self.finished,
                pending=self.pending,
                telling=self.telling,
            )
        )


class PodReader:
    """Decodes pods, with those of their *annotations* that tell. A pod without a node keeps all of its own.

    For one thread; raises `msgspec.MsgspecError` for a malformed pod.
    """

    def __init__(self, annotations: PodAnnotations = BUILT_IN) -> None:
        self._annotations = annotations
        #: What is in the JSON of annotations that tell. An escape may hide any character.
        self._words = tuple(each.encode() for each in (*annotations.prefixes, *annotations.declared, MIRROR, "\\"))
        self._wire = msgspec.json.Decoder(_Pod)
        self._whole = msgspec.json.Decoder(Pod)
        self._own = msgspec.json.Decoder(_OwnParts)
        self._key = msgspec.json.Encoder()
        self._prototypes: dict[bytes, PodPrototype] = {}
        self._nodes: dict[str, str] = {}

    def __call__(self, raw: Raw | bytes) -> SeenPod:
        """Return the pod in an object's JSON."""
        wire = self._wire.decode(raw)
        meta, spec, status = wire.metadata, wire.spec, wire.status
        node, finished = spec.node_name, status.phase in FINAL_PHASES
        owner = None if meta.owner_references is UNSET else _controller(bytes(meta.owner_references))
        annotations = self._telling(meta.annotations)
        key = self._key.encode(_telling(wire, annotations, owner))
        prototype = self._prototypes.get(key)
        if prototype is None:
            pod = unbound(self._whole.decode(raw))
            shared = replace(pod, metadata=replace(pod.metadata, annotations=dict(annotations or {})))
            prototype = self._remember(PodPrototype(key, shared))
        pending = None
        if not node and not finished:
            own = self._own.decode(raw)
            pending = Pod(metadata=own.metadata, spec=prototype.pod.spec, status=own.status)
        return SeenPod(
            key=f"{meta.namespace}/{meta.name}",
            uid=meta.uid,
            prototype=prototype,
            node=self._nodes.setdefault(node, node),
            owner=owner,
            created=meta.creation_timestamp,
            deleted=meta.deletion_timestamp,
            finished=finished,
            pending=pending,
            telling=() if meta.labels is UNSET else _telling_labels(bytes(meta.labels)),
        )

    def _telling(self, annotations: _Bytes) -> Mapping[str, str] | None:
        if annotations is UNSET:
            return None
        text = bytes(annotations)
        if not _mentions(text, self._words):
            return None
        decoded = msgspec.json.decode(text, type=dict[str, str] | None) or {}
        kept = self._annotations.among(decoded)
        # Only its presence counts, as its value differs for each pod.
        return kept | {MIRROR: ""} if MIRROR in decoded else kept

    def _remember(self, prototype: PodPrototype) -> PodPrototype:
        if len(self._prototypes) >= _MOST_PROTOTYPES:
            self._prototypes.clear()
            self._nodes.clear()
        self._prototypes[prototype.key] = prototype
        return prototype


class _Wire(Struct, gc=False, rename="camel", omit_defaults=True):
    """A part of a pod that is decoded for every pod."""


class _OwnParts(Struct, gc=False):
    """The parts that a pending pod does not share with its prototype."""

    metadata: ObjectMeta = ObjectMeta()
    status: PodStatus = PodStatus()


class _Meta(_Wire):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: _Bytes = UNSET
    annotations: _Bytes = UNSET
    owner_references: _Bytes = UNSET
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None


class _Container(_Wire):
    name: str = ""
    resources: _Bytes = UNSET
    ports: _Bytes = UNSET
    restart_policy: str = ""


class _Spec(_Wire):
    node_name: str = ""
    containers: list[_Container] = []
    init_containers: list[_Container] = []
    resources: _Bytes = UNSET
    overhead: _Bytes = UNSET
    node_selector: _Bytes = UNSET
    affinity: _Bytes = UNSET
    tolerations: _Bytes = UNSET
    topology_spread_constraints: _Bytes = UNSET
    volumes: _Bytes = UNSET
    host_network: bool = False
    priority: int | None = None
    priority_class_name: str = ""
    scheduler_name: str = ""
    restart_policy: str = ""
    termination_grace_period_seconds: int | None = None


class _ContainerStatus(_Wire):
    name: str = ""
    resources: _Bytes = UNSET
    allocated_resources: _Bytes = UNSET


class _Status(_Wire):
    phase: str = ""
    container_statuses: list[_ContainerStatus] = []
    init_container_statuses: list[_ContainerStatus] = []


class _Pod(_Wire):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


def _telling(wire: _Pod, annotations: Mapping[str, str] | None, owner: OwnerReference | None) -> tuple[object, ...]:
    """Return the fields of a pod that its class depends on; changes *wire*."""
    meta, spec, status = wire.metadata, wire.spec, wire.status
    ephemeral = False
    if spec.volumes is not UNSET:
        volumes = bytes(spec.volumes)
        ephemeral = b'"ephemeral"' in volumes
        spec.volumes = Raw(_TOKEN.sub(b'{"projected":', volumes))
    if spec.node_name and spec.affinity is not UNSET:
        pin = PINNED % spec.node_name.encode()
        spec.affinity = Raw(bytes(spec.affinity).replace(pin, PINNED % b""))
    spec.node_name = ""
    return (
        meta.namespace,
        _labels(meta.labels),
        annotations,
        owner and (owner.kind, owner.api_version),
        meta.deletion_timestamp is not None,
        # Claims of ephemeral volumes belong to their pod and are named after it.
        (meta.name, meta.uid) if ephemeral else "",
        spec,
        status.container_statuses,
        status.init_container_statuses,
    )


def _labels(labels: _Bytes) -> Raw | Mapping[str, str] | None:
    if labels is UNSET:
        return None
    text = bytes(labels)
    if not _mentions(text, _TELLING_LABELS):
        return labels
    decoded = msgspec.json.decode(text, type=dict[str, str])
    return {key: value for key, value in decoded.items() if key not in TELLING_LABELS}


def _telling_labels(text: bytes) -> tuple[tuple[str, str], ...]:
    if not _mentions(text, _TELLING_LABELS):
        return ()
    labels = msgspec.json.decode(text, type=dict[str, str])
    return tuple((name, labels[name]) for name in TELLING_LABELS & labels.keys())


def _with_labels(pod: Pod, labels: tuple[tuple[str, str], ...]) -> Pod:
    merged = {**pod.metadata.labels, **dict(labels)}
    return replace(pod, metadata=replace(pod.metadata, labels=merged))


def _mentions(text: bytes, words: tuple[bytes, ...]) -> bool:
    for word in words:  # noqa: SIM110  a generator would cost more than the search
        if word in text:
            return True
    return False


@lru_cache(maxsize=65536)
def _controller(owners: bytes) -> OwnerReference | None:
    references = msgspec.json.decode(owners, type=tuple[OwnerReference, ...] | None) or ()
    return next((owner for owner in references if owner.controller), None)
