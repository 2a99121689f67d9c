"""Snapshots: what one loop saw, in the format of Cluster Autoscaler's ``/snapshotz``."""

from collections.abc import Callable, Mapping
from datetime import datetime
from threading import Condition, Lock
from time import monotonic
from typing import Any

import msgspec
from msgspec.structs import replace

from nodewright.api.decision import Decision
from nodewright.api.reasons import Reason
from nodewright.api.template import NodeTemplate
from nodewright.cluster import PodRow
from nodewright.cluster.annotations import TELLING_ANNOTATIONS
from nodewright.decision.world import World
from nodewright.objects import Node, Pod, format_resource
from nodewright.objects.meta import ObjectMeta
from nodewright.objects.node import NodeSpec, NodeStatus
from nodewright.objects.pod import MIRROR, PodSpec
from nodewright.objects.volume import Volume

#: Seconds between checks whether a waiting client is still there.
_LOOK_SECONDS = 1.0


class Snapshots:
    """Hands snapshots from the loop's thread to the server's threads. Does and keeps nothing unless a client waits."""

    def __init__(self) -> None:
        self._turn = Lock()
        self._changed = Condition()
        self._wanted = False
        self._taken: bytes | None = None

    @property
    def wanted(self) -> bool:
        """Whether a client waits for a snapshot."""
        return self._wanted

    def take(self, world: World, decision: Decision, ended: datetime) -> None:
        """Hand a snapshot of a loop to the waiting client. On the loop's thread, before the cluster changes."""
        # Only the loop's thread may read the cluster, so the whole snapshot is encoded here.
        taken = msgspec.json.encode(snapshot(world, decision, ended))
        with self._changed:
            self._taken, self._wanted = taken, False
            self._changed.notify_all()

    def wait(self, timeout: float, gone: Callable[[], bool]) -> bytes | None:
        """Return the snapshot of the next loop that ends, None if none does in time or the client is *gone*.

        Raises `BusyError` if another client is already waiting.
        """
        if not self._turn.acquire(blocking=False):
            raise BusyError
        try:
            return self._await(monotonic() + timeout, gone)
        finally:
            self._turn.release()

    def _await(self, until: float, gone: Callable[[], bool]) -> bytes | None:
        with self._changed:
            self._wanted, self._taken = True, None
            while self._taken is None:
                left = until - monotonic()
                if left <= 0 or gone():
                    break
                self._changed.wait(min(left, _LOOK_SECONDS))
            taken, self._taken, self._wanted = self._taken, None, False
            return taken


class BusyError(Exception):
    """Another client is already waiting, and only one is served at a time."""


def snapshot(world: World, decision: Decision, ended: datetime) -> dict[str, Any]:
    """Return what a loop saw, for JSON, with only the fields that decisions read."""
    cluster = world.cluster
    helped = (key for key, verdict in decision.pods.items() if verdict.reason is Reason.FITS)
    return {
        "NodeList": [
            {"Node": _node(node), "Pods": [_pod(pod) for pod in cluster.pods_on(name)]}
            for name, node in cluster.nodes.items()
        ],
        "TemplateNodes": {
            facts.id: {
                "Node": _template(facts.id, facts.template),
                "Pods": [
                    replace(pod, metadata=_telling(pod.metadata), spec=_telling_spec(pod.spec))
                    for pod in facts.template.pods
                ],
            }
            for facts in world.groups
            if facts.template is not None
        },
        "UnscheduledPodsCanBeScheduled": [_pod(pod) for key in helped if (pod := cluster.pending.get(key)) is not None],
        "StartTimestamp": decision.at,
        "EndTimestamp": ended,
        "Error": "",
    }


def _node(node: Node) -> Node:
    return replace(node, metadata=_telling(node.metadata))


def _pod(row: PodRow) -> Pod:
    known = row.pending or row.pod_class.pod
    owners = (row.owner,) if row.owner is not None else ()
    metadata = replace(
        _telling(known.metadata),
        name=row.name,
        uid=row.uid,
        labels={**known.metadata.labels, **dict(row.telling)},
        owner_references=owners,
        creation_timestamp=row.created,
        deletion_timestamp=row.deleted,
    )
    return replace(known, metadata=metadata, spec=replace(_telling_spec(known.spec), node_name=row.node))


def _template(group: str, template: NodeTemplate) -> Node:
    return Node(
        metadata=_telling(
            ObjectMeta(
                name=f"template-node-for-{group}", labels=dict(template.labels), annotations=dict(template.annotations)
            )
        ),
        spec=NodeSpec(taints=template.taints),
        status=NodeStatus(capacity=_written(template.capacity), allocatable=_written(template.allocatable)),
    )


def _written(amounts: Mapping[str, int]) -> dict[str, str | int | float]:
    return {name: format_resource(name, amount) for name, amount in amounts.items()}


def _telling_spec(spec: PodSpec) -> PodSpec:
    """Return *spec* without the options of volumes: only mounts read them, and they may hold passwords."""
    return replace(spec, volumes=tuple(map(_bare, spec.volumes))) if spec.volumes else spec


def _bare(volume: Volume) -> Volume:
    return replace(volume, **{name: {} for name in volume.__struct_fields__ if isinstance(getattr(volume, name), dict)})


def _telling(metadata: ObjectMeta) -> ObjectMeta:
    """Return *metadata* without annotations that no decision reads: they may hold whole manifests with passwords."""
    telling = {key: value for key, value in metadata.annotations.items() if key.startswith(TELLING_ANNOTATIONS)}
    if MIRROR in metadata.annotations:
        telling[MIRROR] = ""
    owners = tuple(owner for owner in metadata.owner_references if owner.controller)
    return replace(metadata, annotations=telling, owner_references=owners)
