"""The watched kinds of objects: where each is served, and how it goes into the cluster."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import msgspec

from nodewright.cluster import Cluster
from nodewright.cluster.annotations import PodAnnotations
from nodewright.cluster.controllers import DAEMON_SET
from nodewright.config.model import Settings
from nodewright.kube.pod_reader import PodReader
from nodewright.objects import (
    CapacityQuota,
    ConfigMap,
    Controller,
    CSINode,
    DaemonSet,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    StorageClass,
)
from nodewright.objects.meta import KubeStruct

#: Decodes an object; raises `msgspec.MsgspecError` for a malformed one. For one thread.
Reader = Callable[[msgspec.Raw], Any]


def _key(seen: Any) -> str:
    key: str = seen.metadata.key
    return key


def _nothing(cluster: Cluster) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class WatchedKind:
    """One watched kind: where it is served, and how it goes into the cluster."""

    name: str
    path: str
    #: Creates a reader of its objects.
    reader: Callable[[], Reader]
    put: Callable[[Cluster, Any], None]
    drop: Callable[[Cluster, str], None]
    known: Callable[[Cluster], list[str]]
    #: Whether decisions go on without it if the API server does not serve it or does not let us read it.
    optional: bool = False
    #: Called after a complete list was put.
    note_complete: Callable[[Cluster], None] = _nothing
    #: Called once it is known that decisions go on without it.
    note_absent: Callable[[Cluster], None] = _nothing
    #: Query parameters that select the objects to list and watch; all by default.
    query: Mapping[str, str] = field(default_factory=dict)
    #: Returns the key of an object from the reader.
    key: Callable[[Any], str] = _key
    #: Tells whether an object from the reader should wake the loop; None if none does.
    urgent: Callable[[Any], bool] | None = None
    #: Whether no decision may be made on a stale state of it.
    vital: bool = False


def reader_of(struct: type[KubeStruct]) -> Callable[[], Reader]:
    """Return a factory of readers for objects that are kept as they are."""
    return lambda: msgspec.json.Decoder(struct).decode


def _keep_in(where: Callable[[Cluster], dict[str, Any]]) -> Callable[[Cluster, Any], None]:
    """Return a function that puts objects by key into a mapping of the cluster."""

    def put(cluster: Cluster, seen: Any) -> None:
        where(cluster)[seen.metadata.key] = seen

    return put


def _drop_from(where: Callable[[Cluster], dict[str, Any]]) -> Callable[[Cluster, str], None]:
    """Return a function that removes objects from a mapping of the cluster."""

    def drop(cluster: Cluster, key: str) -> None:
        where(cluster).pop(key, None)

    return drop


def _put_quota(cluster: Cluster, quota: CapacityQuota) -> None:
    # Parsed here, so that a malformed one is reported when it arrives.
    assert quota.maximum is not None
    cluster.quotas[quota.metadata.key] = quota


def _controllers(kind: str, path: str) -> WatchedKind:
    """Return the kind of the controllers that pods call *kind*. Little is kept of them."""
    return WatchedKind(
        name=path.rpartition("/")[2],
        path=path,
        reader=reader_of(Controller),
        put=lambda cluster, seen: cluster.controllers.put(kind, seen),
        drop=lambda cluster, key: cluster.controllers.drop(kind, key),
        known=lambda cluster: list(cluster.controllers.of(kind)),
        note_complete=lambda cluster: cluster.controllers.see(kind),
        optional=True,
    )


def one_config_map(namespace: str, name: str) -> WatchedKind:
    """Return a kind with at most one object: the ConfigMap *name* in *namespace*."""
    key = f"{namespace}/{name}"
    return WatchedKind(
        name=f"configmap {key}",
        path=f"/api/v1/namespaces/{namespace}/configmaps",
        reader=reader_of(ConfigMap),
        put=_keep_in(lambda cluster: cluster.config_maps),
        drop=_drop_from(lambda cluster: cluster.config_maps),
        known=lambda cluster: [key] if key in cluster.config_maps else [],
        optional=True,
        query={"fieldSelector": f"metadata.name={name}"},
    )


#: The kinds that are always watched.
KINDS = (
    WatchedKind(
        name="nodes",
        path="/api/v1/nodes",
        reader=reader_of(Node),
        put=Cluster.put_node,
        drop=Cluster.drop_node,
        known=lambda cluster: list(cluster.nodes),
        vital=True,
    ),
    WatchedKind(
        name="pods",
        path="/api/v1/pods",
        reader=PodReader,
        put=lambda cluster, seen: seen.put_into(cluster),
        drop=Cluster.drop_pod,
        known=lambda cluster: list(cluster.pods),
        key=lambda seen: seen.key,
        urgent=lambda seen: seen.wants_node,
        vital=True,
        # Finished pods need no resources. The watch reports the end of a pod as its deletion.
        query={"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"},
    ),
    WatchedKind(
        name="daemonsets",
        path="/apis/apps/v1/daemonsets",
        reader=reader_of(DaemonSet),
        put=_keep_in(lambda cluster: cluster.daemon_sets),
        drop=_drop_from(lambda cluster: cluster.daemon_sets),
        known=lambda cluster: list(cluster.daemon_sets),
        note_complete=lambda cluster: cluster.controllers.see(DAEMON_SET),
        optional=True,
    ),
    WatchedKind(
        name="poddisruptionbudgets",
        path="/apis/policy/v1/poddisruptionbudgets",
        reader=reader_of(PodDisruptionBudget),
        put=_keep_in(lambda cluster: cluster.budgets),
        drop=_drop_from(lambda cluster: cluster.budgets),
        known=lambda cluster: list(cluster.budgets),
        note_complete=lambda cluster: cluster.see_budgets(True),
        note_absent=lambda cluster: cluster.see_budgets(False),
        optional=True,
    ),
    WatchedKind(
        name="namespaces",
        path="/api/v1/namespaces",
        reader=reader_of(Namespace),
        put=Cluster.put_namespace,
        drop=Cluster.drop_namespace,
        known=lambda cluster: list(cluster.pod_classes.namespaces),
        optional=True,
    ),
    WatchedKind(
        name="storageclasses",
        path="/apis/storage.k8s.io/v1/storageclasses",
        reader=reader_of(StorageClass),
        put=Cluster.put_storage_class,
        drop=Cluster.drop_storage_class,
        known=lambda cluster: list(cluster.storage.classes),
        optional=True,
    ),
    WatchedKind(
        name="persistentvolumes",
        path="/api/v1/persistentvolumes",
        reader=reader_of(PersistentVolume),
        put=Cluster.put_volume,
        drop=Cluster.drop_volume,
        known=lambda cluster: list(cluster.storage.volumes),
        optional=True,
    ),
    WatchedKind(
        name="persistentvolumeclaims",
        path="/api/v1/persistentvolumeclaims",
        reader=reader_of(PersistentVolumeClaim),
        put=Cluster.put_claim,
        drop=Cluster.drop_claim,
        known=lambda cluster: list(cluster.storage.claims),
        optional=True,
    ),
    WatchedKind(
        name="csinodes",
        path="/apis/storage.k8s.io/v1/csinodes",
        reader=reader_of(CSINode),
        put=Cluster.put_csi_node,
        drop=Cluster.drop_csi_node,
        known=lambda cluster: list(cluster.storage.csi_nodes),
        optional=True,
    ),
)

PODS = "pods"

#: Needed only if pods of unknown controllers keep their nodes.
_CONTROLLERS = (
    _controllers("ReplicaSet", "/apis/apps/v1/replicasets"),
    _controllers("ReplicationController", "/api/v1/replicationcontrollers"),
    _controllers("StatefulSet", "/apis/apps/v1/statefulsets"),
    _controllers("Job", "/apis/batch/v1/jobs"),
)
_CAPACITY_QUOTAS = WatchedKind(
    name="capacityquotas",
    path="/apis/autoscaling.x-k8s.io/v1beta1/capacityquotas",
    reader=reader_of(CapacityQuota),
    put=_put_quota,
    drop=_drop_from(lambda cluster: cluster.quotas),
    known=lambda cluster: list(cluster.quotas),
    optional=True,
)


def pods_with(annotations: PodAnnotations) -> WatchedKind:
    """Return the kind of pods, read with those *annotations* that tell."""
    (kind,) = (kind for kind in KINDS if kind.name == PODS)
    return replace(kind, reader=partial(PodReader, annotations))


def wanted_kinds(settings: Settings) -> tuple[WatchedKind, ...]:
    """Return the kinds that *settings* need beyond `KINDS`."""
    quotas = (_CAPACITY_QUOTAS,) if settings.limits.capacity_quotas else ()
    scale_down = settings.scale_down
    return quotas + (_CONTROLLERS if scale_down.enabled and scale_down.skip_custom_controller_pods else ())
