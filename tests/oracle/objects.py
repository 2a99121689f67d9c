"""Objects for hand-made cases: written as in a manifest, with defaults that work."""

from typing import Any

from msgspec import convert
from nodewright.objects import CSINode, Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass

Json = dict[str, Any]

BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"


def node(name: str = "n", *, labels: Json | None = None, allocatable: Json | None = None, **spec: Any) -> Node:
    """A roomy node that is labelled with its name."""
    amounts = {"cpu": "4", "memory": "8Gi", "pods": 110, **(allocatable or {})}
    metadata = {"name": name, "labels": {HOSTNAME: name, **(labels or {})}}
    return convert({"metadata": metadata, "spec": spec, "status": {"allocatable": amounts}}, Node)


def pod(
    name: str = "p",
    *,
    labels: Json | None = None,
    namespace: str = "default",
    on: str = "",
    metadata: Json | None = None,
    phase: str = "",
    **spec: Any,
) -> Pod:
    """A pod that asks for nothing; *on* is the node it runs on."""
    meta = {"name": name, "namespace": namespace, "uid": f"uid-{name}", "labels": labels or {}, **(metadata or {})}
    status = {"phase": phase or ("Running" if on else "Pending")}
    return convert({"metadata": meta, "spec": {"nodeName": on, **spec}, "status": status}, Pod)


def asking(**requests: Any) -> list[Json]:
    """Containers that ask for *requests*."""
    return [{"name": "main", "resources": {"requests": requests}}]


def claim(
    name: str = "c", *, namespace: str = "default", metadata: Json | None = None, **spec: Any
) -> PersistentVolumeClaim:
    """A claim of 1 GiB; bound if it names its volume."""
    meta: Json = {"name": name, "namespace": namespace, "uid": f"uid-{name}", **(metadata or {})}
    if spec.get("volumeName"):
        meta.setdefault("annotations", BOUND)
    phase = spec.pop("phase", "Pending")
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return convert({"metadata": meta, "spec": spec, "status": {"phase": phase}}, PersistentVolumeClaim)


def volume(name: str = "v", *, labels: Json | None = None, phase: str = "Available", **spec: Any) -> PersistentVolume:
    """A volume of 1 GiB that can be reached from anywhere."""
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], **spec}
    metadata = {"name": name, "labels": labels or {}}
    return convert({"metadata": metadata, "spec": spec, "status": {"phase": phase}}, PersistentVolume)


def storage_class(
    name: str, *, provisioner: str = "disk.example.com", waits: bool = True, **fields: Any
) -> StorageClass:
    """A class of volumes that are made when a pod comes, unless it does not wait."""
    mode = "WaitForFirstConsumer" if waits else "Immediate"
    return convert(
        {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode, **fields}, StorageClass
    )


def csi_node(name: str, **limits: int | None) -> CSINode:
    """How many volumes of each driver the node takes; None sets no limit."""
    drivers = [
        {"name": driver, "allocatable": None if count is None else {"count": count}} for driver, count in limits.items()
    ]
    return convert({"metadata": {"name": name}, "spec": {"drivers": drivers}}, CSINode)


def namespace(name: str, **labels: str) -> Namespace:
    return convert({"metadata": {"name": name, "labels": labels}}, Namespace)


def using(*claims: str) -> list[Json]:
    """Volumes of a pod that uses *claims*."""
    return [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]


def in_zone(*zones: str) -> Json:
    """The node affinity of a volume that can be reached from *zones*."""
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [line(ZONE, "In", *zones)]}]}}


def line(key: str, operator: str, *values: str) -> Json:
    """One line of a selector."""
    return {"key": key, "operator": operator, "values": list(values)}
