"""What the API server fills in where an object says nothing. Filling in twice is the same as once."""

import base64
from collections.abc import Callable
from typing import Any

from nodewright_fake.apiserver.document import Object
from nodewright_fake.apiserver.resources import BY_KEY, DEFINITIONS


def complete(resource: str, draft: Object, *, created: bool = False) -> None:
    """Fill in the defaults of *resource* (its name in the store); *created* is true for an object that is new."""
    known = BY_KEY.get(resource)
    if known is not None:
        draft.setdefault("apiVersion", known.api_version)
        draft.setdefault("kind", known.kind)
    if known is None or known.counts_generations:
        draft["metadata"].setdefault("generation", 1)
    fill = _FILLERS.get(resource)
    if fill is not None:
        fill(draft)
    if resource in _COUNTS:
        _fill(draft.setdefault("status", {}), **dict.fromkeys(_COUNTS[resource], 0))
    if created and resource == "jobs.batch":
        _select_own_pods(draft)


def _fill(target: dict[str, Any], **defaults: Any) -> None:
    for key, value in defaults.items():
        if target.get(key) is None:
            target[key] = value


def _pod(pod: Object) -> None:
    spec = pod.setdefault("spec", {})
    _pod_spec(spec)
    _fill(spec, enableServiceLinks=True)
    status = pod.setdefault("status", {})
    _fill(status, phase="Pending", qosClass=_quality_of_service(spec))
    for key in ("initContainerStatuses", "containerStatuses"):
        for container in status.get(key) or ():
            _fill(container, image="", imageID="", ready=False, restartCount=0)


def _node(node: Object) -> None:
    machine = (node.get("status") or {}).get("nodeInfo")
    if machine is not None:
        _fill(machine, **dict.fromkeys(_MACHINE, ""))


def _pod_spec(spec: dict[str, Any]) -> None:
    _fill(
        spec,
        restartPolicy="Always",
        terminationGracePeriodSeconds=30,
        dnsPolicy="ClusterFirst",
        schedulerName="default-scheduler",
        securityContext={},
    )
    for container in _containers(spec):
        _container(container, host_network=bool(spec.get("hostNetwork")))


def _containers(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]


def _container(container: dict[str, Any], *, host_network: bool) -> None:
    image = container.get("image", "")
    latest = image.endswith(":latest") or ":" not in image.rpartition("/")[2]
    _fill(container, resources={}, imagePullPolicy="Always" if latest else "IfNotPresent")
    for port in container.get("ports") or ():
        _fill(port, protocol="TCP")
        if host_network:
            _fill(port, hostPort=port.get("containerPort"))
    resources = container["resources"]
    if resources.get("limits"):
        resources["requests"] = {**resources["limits"], **(resources.get("requests") or {})}


def _quality_of_service(spec: dict[str, Any]) -> str:
    # Amounts are compared as they are written: requests that were left out are copies of the limits.
    asked = [container["resources"] for container in _containers(spec)]
    if not any(resources.get("requests") or resources.get("limits") for resources in asked):
        return "BestEffort"
    guaranteed = all(
        (resources.get("limits") or {}).keys() >= {"cpu", "memory"} and resources["limits"] == resources["requests"]
        for resources in asked
    )
    return "Guaranteed" if guaranteed else "Burstable"


def _template(workload: Object) -> dict[str, Any]:
    """Return the specification of a workload, with its pod template completed."""
    spec: dict[str, Any] = workload.setdefault("spec", {})
    if spec.get("template") is not None:
        _pod_spec(spec["template"].setdefault("spec", {}))
    return spec


def _deployment(deployment: Object) -> None:
    spec = _template(deployment)
    _fill(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600, strategy={})
    _fill(spec["strategy"], type="RollingUpdate")
    if spec["strategy"]["type"] == "RollingUpdate":
        _fill(spec["strategy"], rollingUpdate={})
        _fill(spec["strategy"]["rollingUpdate"], maxUnavailable="25%", maxSurge="25%")


def _replica_set(replica_set: Object) -> None:
    _fill(_template(replica_set), replicas=1)


def _replication_controller(controller: Object) -> None:
    spec = _template(controller)
    _fill(spec, replicas=1, selector=dict((spec.get("template") or {}).get("metadata", {}).get("labels") or {}))


def _stateful_set(stateful_set: Object) -> None:
    spec = _template(stateful_set)
    _fill(spec, replicas=1, podManagementPolicy="OrderedReady", revisionHistoryLimit=10, updateStrategy={})
    _fill(spec["updateStrategy"], type="RollingUpdate")
    if spec["updateStrategy"]["type"] == "RollingUpdate":
        _fill(spec["updateStrategy"], rollingUpdate={"partition": 0})


def _daemon_set(daemon_set: Object) -> None:
    spec = _template(daemon_set)
    _fill(spec, revisionHistoryLimit=10, updateStrategy={})
    _fill(spec["updateStrategy"], type="RollingUpdate")
    if spec["updateStrategy"]["type"] == "RollingUpdate":
        _fill(spec["updateStrategy"], rollingUpdate={})
        _fill(spec["updateStrategy"]["rollingUpdate"], maxUnavailable=1, maxSurge=0)


def _job(job: Object) -> None:
    spec = _template(job)
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    _fill(spec, parallelism=1, backoffLimit=6, completionMode="NonIndexed", suspend=False)


def _select_own_pods(job: Object) -> None:
    """Give a new job a selector that no other job's pods match, unless it brings its own."""
    spec = job["spec"]
    if spec.get("manualSelector") or spec.get("template") is None:
        return
    own = {"batch.kubernetes.io/controller-uid": job["metadata"]["uid"]}
    _fill(spec, selector={"matchLabels": own})
    labels = spec["template"].setdefault("metadata", {}).setdefault("labels", {})
    _fill(
        labels, **own, **{"batch.kubernetes.io/job-name": job["metadata"]["name"], "job-name": job["metadata"]["name"]}
    )


def _cron_job(cron_job: Object) -> None:
    spec = cron_job.setdefault("spec", {})
    _fill(spec, concurrencyPolicy="Allow", suspend=False, successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1)


def _service(service: Object) -> None:
    spec = service.setdefault("spec", {})
    _fill(spec, type="ClusterIP", sessionAffinity="None")
    for port in spec.get("ports") or ():
        _fill(port, protocol="TCP", targetPort=port.get("port"))


def _namespace(namespace: Object) -> None:
    namespace["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = namespace["metadata"]["name"]
    _fill(namespace.setdefault("status", {}), phase="Active")


def _secret(secret: Object) -> None:
    _fill(secret, type="Opaque")
    for key, text in (secret.pop("stringData", None) or {}).items():
        secret.setdefault("data", {})[key] = base64.b64encode(text.encode()).decode()


def _claim(claim: Object) -> None:
    _fill(claim.setdefault("spec", {}), volumeMode="Filesystem")
    _fill(claim.setdefault("status", {}), phase="Pending")


def _volume(volume: Object) -> None:
    _fill(volume.setdefault("spec", {}), volumeMode="Filesystem", persistentVolumeReclaimPolicy="Retain")
    _fill(volume.setdefault("status", {}), phase="Available")


def _storage_class(storage_class: Object) -> None:
    _fill(storage_class, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def _priority_class(priority_class: Object) -> None:
    _fill(priority_class, preemptionPolicy="PreemptLowerPriority")


def _definition(definition: Object) -> None:
    """Accept a custom resource definition; what it defines is served from this moment on."""
    spec = definition["spec"]
    names = spec["names"]
    _fill(names, singular=names["kind"].lower(), listKind=f"{names['kind']}List")
    met = {"status": "True", "lastTransitionTime": definition["metadata"].get("creationTimestamp")}
    _fill(
        definition.setdefault("status", {}),
        conditions=[
            {"type": "NamesAccepted", "reason": "NoConflicts", "message": "no conflicts found", **met},
            {
                "type": "Established",
                "reason": "InitialNamesAccepted",
                "message": "the initial names have been accepted",
                **met,
            },
        ],
        acceptedNames=names,
        storedVersions=[version["name"] for version in spec.get("versions") or () if version.get("storage")],
    )


#: Numbers in the status that are always there: typed clients insist on them.
_COUNTS: dict[str, tuple[str, ...]] = {
    "replicationcontrollers": ("replicas",),
    "replicasets.apps": ("replicas",),
    "statefulsets.apps": ("replicas",),
    "daemonsets.apps": ("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"),
    "poddisruptionbudgets.policy": ("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods"),
}
#: Texts about a node's machine that are always there, for the same reason.
_MACHINE = (
    "architecture",
    "bootID",
    "containerRuntimeVersion",
    "kernelVersion",
    "kubeProxyVersion",
    "kubeletVersion",
    "machineID",
    "operatingSystem",
    "osImage",
    "systemUUID",
)

_FILLERS: dict[str, Callable[[Object], None]] = {
    "pods": _pod,
    "nodes": _node,
    "namespaces": _namespace,
    "services": _service,
    "secrets": _secret,
    "persistentvolumes": _volume,
    "persistentvolumeclaims": _claim,
    "replicationcontrollers": _replication_controller,
    "deployments.apps": _deployment,
    "replicasets.apps": _replica_set,
    "statefulsets.apps": _stateful_set,
    "daemonsets.apps": _daemon_set,
    "jobs.batch": _job,
    "cronjobs.batch": _cron_job,
    "storageclasses.storage.k8s.io": _storage_class,
    "priorityclasses.scheduling.k8s.io": _priority_class,
    DEFINITIONS: _definition,
}
