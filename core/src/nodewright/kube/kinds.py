"""The kinds of objects that are watched."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from nodewright.cluster import Cluster
from nodewright.cluster.controllers import DAEMON_SET
from nodewright.config.model import Settings
from nodewright.kube.pod_wire import PodReader
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

#: Reads an object; raises `msgspec.MsgspecError` for a malformed one. Each belongs to one thread.
Reader = Callable[[msgspec.Raw], Any]


def _key(seen: Any) -> str:
    key: str = seen.metadata.key
    return key


def _nothing(cluster: Cluster) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One watched kind: where it is served, and where it goes in the cluster."""

    name: str
    path: str
    #: Makes a reader of its objects.
    reader: Callable[[], Reader]
    put: Callable[[Cluster, Any], None]
    drop: Callable[[Cluster, str], None]
    known: Callable[[Cluster], list[str]]
    #: Whether we do without it where the API server does not know it or does not let us see it.
    optional: bool = False
    #: Called when all there are have been put.
    note_complete: Callable[[Cluster], None] = _nothing
    #: Called when it is found out that we have to do without it.
    note_absent: Callable[[Cluster], None] = _nothing
    #: Which of them are listed and watched, as query parameters; all by default.
    query: Mapping[str, str] = field(default_factory=dict)
    #: The key of what a reader returned.
    key: Callable[[Any], str] = _key
    #: Whether the loop should not wait with what a reader returned; None if it never is so.
    urgent: Callable[[Any], bool] | None = None
    #: Whether nothing may be decided on an old state of them.
    vital: bool = False


def reader_of(struct: type[KubeStruct]) -> Callable[[], Reader]:
    """Return what makes readers of objects that are kept as they are."""
    return lambda: msgspec.json.Decoder(struct).decode


def _keep_in(where: Callable[[Cluster], dict[str, Any]]) -> Callable[[Cluster, Any], None]:
    """Return what puts objects by their key into one of a cluster's mappings."""

    def put(cluster: Cluster, seen: Any) -> None:
        where(cluster)[seen.metadata.key] = seen

    return put


def _drop_from(where: Callable[[Cluster], dict[str, Any]]) -> Callable[[Cluster, str], None]:
    """Return what takes them out again."""

    def drop(cluster: Cluster, key: str) -> None:
        where(cluster).pop(key, None)

    return drop


def _put_quota(cluster: Cluster, quota: CapacityQuota) -> None:
    # Read here, so that a malformed one is told of when it comes.
    assert quota.maximum is not None
    cluster.quotas[quota.metadata.key] = quota


def _controllers(kind: str, path: str) -> Kind:
    """Return a kind of controllers, *kind* as pods name it; what is kept of them is little."""
    return Kind(
        name=path.rpartition("/")[2],
        path=path,
        reader=reader_of(Controller),
        put=lambda cluster, seen: cluster.controllers.put(kind, seen),
        drop=lambda cluster, key: cluster.controllers.drop(kind, key),
        known=lambda cluster: list(cluster.controllers.of(kind)),
        note_complete=lambda cluster: cluster.controllers.see(kind),
        optional=True,
    )


def one_config_map(namespace: str, name: str) -> Kind:
    """Return the kind of which there is one object at most: the ConfigMap *name* in *namespace*."""
    key = f"{namespace}/{name}"
    return Kind(
        name=f"configmap {key}",
        path=f"/api/v1/namespaces/{namespace}/configmaps",
        reader=reader_of(ConfigMap),
        put=_keep_in(lambda cluster: cluster.config_maps),
        drop=_drop_from(lambda cluster: cluster.config_maps),
        known=lambda cluster: [key] if key in cluster.config_maps else [],
        optional=True,
        query={"fieldSelector": f"metadata.name={name}"},
    )


#: What is always watched, all of it.
KINDS = (
    Kind(
        name="nodes",
        path="/api/v1/nodes",
        reader=reader_of(Node),
        put=Cluster.put_node,
        drop=Cluster.drop_node,
        known=lambda cluster: list(cluster.nodes),
        vital=True,
    ),
    Kind(
        name="pods",
        path="/api/v1/pods",
        reader=PodReader,
        put=lambda cluster, seen: seen.put_into(cluster),
        drop=Cluster.drop_pod,
        known=lambda cluster: list(cluster.pods),
        key=lambda seen: seen.key,
        urgent=lambda seen: seen.wants_node,
        vital=True,
        # Pods that have ended take nothing. The watch tells of their end as if they were deleted.
        query={"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"},
    ),
    Kind(
        name="daemonsets",
        path="/apis/apps/v1/daemonsets",
        reader=reader_of(DaemonSet),
        put=_keep_in(lambda cluster: cluster.daemon_sets),
        drop=_drop_from(lambda cluster: cluster.daemon_sets),
        known=lambda cluster: list(cluster.daemon_sets),
        note_complete=lambda cluster: cluster.controllers.see(DAEMON_SET),
        optional=True,
    ),
    Kind(
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
    Kind(
        name="namespaces",
        path="/api/v1/namespaces",
        reader=reader_of(Namespace),
        put=Cluster.put_namespace,
        drop=Cluster.drop_namespace,
        known=lambda cluster: list(cluster.pod_classes.namespaces),
        optional=True,
    ),
    Kind(
        name="storageclasses",
        path="/apis/storage.k8s.io/v1/storageclasses",
        reader=reader_of(StorageClass),
        put=Cluster.put_storage_class,
        drop=Cluster.drop_storage_class,
        known=lambda cluster: list(cluster.storage.classes),
        optional=True,
    ),
    Kind(
        name="persistentvolumes",
        path="/api/v1/persistentvolumes",
        reader=reader_of(PersistentVolume),
        put=Cluster.put_volume,
        drop=Cluster.drop_volume,
        known=lambda cluster: list(cluster.storage.volumes),
        optional=True,
    ),
    Kind(
        name="persistentvolumeclaims",
        path="/api/v1/persistentvolumeclaims",
        reader=reader_of(PersistentVolumeClaim),
        put=Cluster.put_claim,
        drop=Cluster.drop_claim,
        known=lambda cluster: list(cluster.storage.claims),
        optional=True,
    ),
    Kind(
        name="csinodes",
        path="/apis/storage.k8s.io/v1/csinodes",
        reader=reader_of(CSINode),
        put=Cluster.put_csi_node,
        drop=Cluster.drop_csi_node,
        known=lambda cluster: list(cluster.storage.csi_nodes),
        optional=True,
    ),
)

#: Whether these are there is asked where pods of other controllers keep their nodes.
_CONTROLLERS = (
    _controllers("ReplicaSet", "/apis/apps/v1/replicasets"),
    _controllers("ReplicationController", "/api/v1/replicationcontrollers"),
    _controllers("StatefulSet", "/apis/apps/v1/statefulsets"),
    _controllers("Job", "/apis/batch/v1/jobs"),
)
_CAPACITY_QUOTAS = Kind(
    name="capacityquotas",
    path="/apis/autoscaling.x-k8s.io/v1beta1/capacityquotas",
    reader=reader_of(CapacityQuota),
    put=_put_quota,
    drop=_drop_from(lambda cluster: cluster.quotas),
    known=lambda cluster: list(cluster.quotas),
    optional=True,
)


def wanted_kinds(settings: Settings) -> tuple[Kind, ...]:
    """Return what is watched beyond that because *settings* want it."""
    quotas = (_CAPACITY_QUOTAS,) if settings.limits.capacity_quotas else ()
    scale_down = settings.scale_down
    return quotas + (_CONTROLLERS if scale_down.enabled and scale_down.skip_custom_controller_pods else ())
