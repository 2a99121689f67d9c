"""The columns of ``kubectl get``, by resource."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nodewright_fake.apiserver.ages import human, since
from nodewright_fake.apiserver.document import Object, dig
from nodewright_fake.apiserver.pod_phrases import pod_ready, pod_restarts, pod_status, readiness_gates
from nodewright_fake.apiserver.selectors import selector_text

NONE = "<none>"
WIDE = 1

Cell = Callable[[Object, datetime], Any]


@dataclass(frozen=True)
class Column:
    """One column: its head and what a cell of it shows. Columns with a priority appear in wide output only."""

    name: str
    cell: Cell
    type: str = "string"
    priority: int = 0
    description: str = ""


def _path(name: str, path: str, *, absent: Any = NONE, wide: bool = False) -> Column:
    """Return a column that shows a field."""

    def cell(document: Object, now: datetime) -> Any:
        value = dig(document, path)
        return absent if value is None or value == "" else value

    return Column(name, cell, type="integer" if absent == 0 else "string", priority=WIDE if wide else 0)


def _text(name: str, show: Callable[[Object], Any], *, wide: bool = False) -> Column:
    """Return a column that shows something made of the whole object."""
    return Column(name, lambda document, now: show(document), priority=WIDE if wide else 0)


def _age(name: str, path: str, *, wide: bool = False) -> Column:
    """Return a column that shows how long ago something was."""
    return Column(name, lambda document, now: since(dig(document, path), now), priority=WIDE if wide else 0)


def _ratio(name: str, part: str, whole: str) -> Column:
    return _text(name, lambda document: f"{dig(document, part) or 0}/{dig(document, whole) or 0}")


def _labels(labels: Mapping[str, str] | None) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or NONE


def _containers(key: str) -> Callable[[Object], str]:
    return lambda document: ",".join(
        container.get(key, "") for container in dig(document, "spec.template.spec.containers") or ()
    )


NAME = Column("Name", lambda document, now: document["metadata"]["name"])
AGE = _age("Age", "metadata.creationTimestamp")

_WORKLOAD = (
    _text("Containers", _containers("name"), wide=True),
    _text("Images", _containers("image"), wide=True),
    _text("Selector", lambda document: selector_text(dig(document, "spec.selector")) or NONE, wide=True),
)


def _node_status(node: Object) -> str:
    conditions = {one["type"]: one["status"] for one in dig(node, "status.conditions") or ()}
    ready = "Unknown" if "Ready" not in conditions else "Ready" if conditions["Ready"] == "True" else "NotReady"
    return f"{ready},SchedulingDisabled" if dig(node, "spec.unschedulable") else ready


def _node_roles(node: Object) -> str:
    prefix = "node-role.kubernetes.io/"
    labels = node["metadata"].get("labels") or {}
    return ",".join(sorted(label.removeprefix(prefix) for label in labels if label.startswith(prefix))) or NONE


def _address(kind: str) -> Callable[[Object], str]:
    return lambda node: next(
        (one["address"] for one in dig(node, "status.addresses") or () if one["type"] == kind), NONE
    )


def _pod_ip(pod: Object) -> str:
    return dig(pod, "status.podIP") or NONE


def _job_status(job: Object) -> str:
    held = {one["type"] for one in dig(job, "status.conditions") or () if one["status"] == "True"}
    for condition, word in (("Complete", "Complete"), ("Failed", "Failed"), ("FailureTarget", "FailureTarget")):
        if condition in held:
            return word
    if job["metadata"].get("deletionTimestamp"):
        return "Terminating"
    return "Suspended" if "Suspended" in held else "Running"


def _job_completions(job: Object) -> str:
    done = dig(job, "status.succeeded") or 0
    wanted = dig(job, "spec.completions")
    parallelism = dig(job, "spec.parallelism") or 0
    return (
        f"{done}/{wanted}" if wanted is not None else f"{done}/1 of {parallelism}" if parallelism > 1 else f"{done}/1"
    )


def _job_duration(job: Object, now: datetime) -> str:
    started, ended = dig(job, "status.startTime"), dig(job, "status.completionTime")
    if started is None:
        return ""
    return since(started, now) if ended is None else human(_moment(ended).timestamp() - _moment(started).timestamp())


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _ports(service: Object) -> str:
    def one(port: Object) -> str:
        node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
        return f"{port['port']}{node_port}/{port.get('protocol', 'TCP')}"

    return ",".join(one(port) for port in dig(service, "spec.ports") or ()) or NONE


def _external_ip(service: Object) -> str:
    ingress = dig(service, "status.loadBalancer.ingress") or ()
    addresses = [one.get("ip") or one.get("hostname") for one in ingress] or dig(service, "spec.externalIPs") or []
    if dig(service, "spec.type") == "LoadBalancer" and not addresses:
        return "<pending>"
    return ",".join(addresses) or NONE


def _involved(event: Object) -> str:
    involved = event.get("involvedObject") or {}
    return f"{involved.get('kind', '').lower()}/{involved.get('name', '')}"


def _last_seen(event: Object, now: datetime) -> str:
    seen = (
        dig(event, "series.lastObservedTime")
        or event.get("lastTimestamp")
        or event.get("eventTime")
        or event.get("firstTimestamp")
    )
    return since(seen, now)


def _event_source(event: Object) -> str:
    source = event.get("source") or {}
    parts = (source.get("component") or event.get("reportingComponent"), source.get("host"))
    return ", ".join(part for part in parts if part)


_SELECTOR = _text("Selector", lambda document: _labels(dig(document, "spec.selector")), wide=True)
_DATA = Column("Data", lambda document, now: len(document.get("data") or ()), type="integer")

COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "pods": (
        NAME,
        _text("Ready", pod_ready),
        _text("Status", pod_status),
        Column("Restarts", lambda pod, now: pod_restarts(pod, now)),
        AGE,
        _text("IP", _pod_ip, wide=True),
        _path("Node", "spec.nodeName", wide=True),
        _path("Nominated Node", "status.nominatedNodeName", wide=True),
        _text("Readiness Gates", readiness_gates, wide=True),
    ),
    "nodes": (
        NAME,
        _text("Status", _node_status),
        _text("Roles", _node_roles),
        AGE,
        _path("Version", "status.nodeInfo.kubeletVersion", absent=""),
        _text("Internal-IP", _address("InternalIP"), wide=True),
        _text("External-IP", _address("ExternalIP"), wide=True),
        _path("OS-Image", "status.nodeInfo.osImage", absent="<unknown>", wide=True),
        _path("Kernel-Version", "status.nodeInfo.kernelVersion", absent="<unknown>", wide=True),
        _path("Container-Runtime", "status.nodeInfo.containerRuntimeVersion", absent="<unknown>", wide=True),
    ),
    "namespaces": (NAME, _path("Status", "status.phase"), AGE),
    "configmaps": (NAME, _DATA, AGE),
    "secrets": (NAME, _path("Type", "type"), _DATA, AGE),
    "services": (
        NAME,
        _path("Type", "spec.type"),
        _path("Cluster-IP", "spec.clusterIP"),
        _text("External-IP", _external_ip),
        _text("Port(s)", _ports),
        AGE,
        _SELECTOR,
    ),
    "events": (
        Column("Last Seen", _last_seen),
        _path("Type", "type"),
        _path("Reason", "reason"),
        _text("Object", _involved),
        _path("Subobject", "involvedObject.fieldPath", absent="", wide=True),
        _text("Source", _event_source, wide=True),
        _path("Message", "message", absent=""),
        _age("First Seen", "firstTimestamp", wide=True),
        Column("Count", lambda event, now: event.get("count") or 1, type="integer", priority=WIDE),
        Column("Name", NAME.cell, priority=WIDE),
    ),
    "persistentvolumeclaims": (
        NAME,
        _path("Status", "status.phase"),
        _path("Volume", "spec.volumeName", absent=""),
        _path("Capacity", "status.capacity.storage", absent=""),
        _path("StorageClass", "spec.storageClassName", absent=""),
        AGE,
    ),
    "persistentvolumes": (
        NAME,
        _path("Capacity", "spec.capacity.storage", absent=""),
        _path("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
        _path("Status", "status.phase"),
        _path("StorageClass", "spec.storageClassName", absent=""),
        AGE,
    ),
    "replicationcontrollers": (
        NAME,
        _path("Desired", "spec.replicas", absent=0),
        _path("Current", "status.replicas", absent=0),
        _path("Ready", "status.readyReplicas", absent=0),
        AGE,
        *_WORKLOAD,
    ),
    "deployments.apps": (
        NAME,
        _ratio("Ready", "status.readyReplicas", "spec.replicas"),
        _path("Up-to-date", "status.updatedReplicas", absent=0),
        _path("Available", "status.availableReplicas", absent=0),
        AGE,
        *_WORKLOAD,
    ),
    "replicasets.apps": (
        NAME,
        _path("Desired", "spec.replicas", absent=0),
        _path("Current", "status.replicas", absent=0),
        _path("Ready", "status.readyReplicas", absent=0),
        AGE,
        *_WORKLOAD,
    ),
    "statefulsets.apps": (NAME, _ratio("Ready", "status.readyReplicas", "spec.replicas"), AGE, *_WORKLOAD[:2]),
    "daemonsets.apps": (
        NAME,
        _path("Desired", "status.desiredNumberScheduled", absent=0),
        _path("Current", "status.currentNumberScheduled", absent=0),
        _path("Ready", "status.numberReady", absent=0),
        _path("Up-to-date", "status.updatedNumberScheduled", absent=0),
        _path("Available", "status.numberAvailable", absent=0),
        _text("Node Selector", lambda document: _labels(dig(document, "spec.template.spec.nodeSelector"))),
        AGE,
        *_WORKLOAD,
    ),
    "jobs.batch": (
        NAME,
        _text("Status", _job_status),
        _text("Completions", _job_completions),
        Column("Duration", _job_duration),
        AGE,
        *_WORKLOAD,
    ),
    "cronjobs.batch": (
        NAME,
        _path("Schedule", "spec.schedule"),
        Column("Suspend", lambda cron_job, now: bool(dig(cron_job, "spec.suspend")), type="boolean"),
        Column("Active", lambda cron_job, now: len(dig(cron_job, "status.active") or ()), type="integer"),
        AGE,
    ),
    "poddisruptionbudgets.policy": (
        NAME,
        _path("Min Available", "spec.minAvailable", absent="N/A"),
        _path("Max Unavailable", "spec.maxUnavailable", absent="N/A"),
        _path("Allowed Disruptions", "status.disruptionsAllowed", absent=0),
        AGE,
    ),
    "leases.coordination.k8s.io": (NAME, _path("Holder", "spec.holderIdentity", absent=""), AGE),
    "priorityclasses.scheduling.k8s.io": (
        NAME,
        _path("Value", "value", absent=0),
        Column("Global-Default", lambda chosen, now: bool(chosen.get("globalDefault")), type="boolean"),
        AGE,
    ),
    "storageclasses.storage.k8s.io": (
        NAME,
        _path("Provisioner", "provisioner"),
        _path("ReclaimPolicy", "reclaimPolicy"),
        _path("VolumeBindingMode", "volumeBindingMode"),
        AGE,
    ),
    "customresourcedefinitions.apiextensions.k8s.io": (NAME, _path("Created At", "metadata.creationTimestamp")),
}
