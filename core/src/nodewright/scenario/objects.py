"""What of each kind of object is in a picture: the fields that decisions read, and no others.

Environment, commands, images, secrets, addresses and most annotations are not. A test holds the sieves against the
structs of `nodewright.objects`.
"""

from dataclasses import replace
from typing import Any

import msgspec

from nodewright.cluster.annotations import BUILT_IN, TELLING_ANNOTATIONS, PodAnnotations
from nodewright.objects.meta import KubeStruct
from nodewright.scenario.names import Names, Role
from nodewright.scenario.sieve import (
    Scope,
    Sieve,
    annotations,
    claim_name,
    each,
    field_requirement,
    labels,
    marked,
    named,
    owners,
    pod_annotations,
    presence,
    record,
    requirement,
    saying,
    whole,
)


def sift(
    thing: KubeStruct,
    sieve: Sieve,
    names: Names,
    *,
    namespace: str = "",
    pod: str = "",
    annotations: PodAnnotations = BUILT_IN,
) -> Any:
    """Return, as JSON, what of *thing* gets through *sieve*; of pods those *annotations* that tell."""
    scope = Scope(names=names, namespace=namespace, pod=pod, annotations=annotations)
    return sieve(msgspec.to_builtins(thing), scope)


def _mount(value: dict[str, Any], scope: Scope) -> dict[str, Any]:
    if "ephemeral" in value:
        scope.names.note_made_claim(scope.namespace, scope.pod, value.get("name", ""))
        scope.names.claim(scope.namespace, f"{scope.pod}-{value.get('name', '')}")
    kept: dict[str, Any] = POD_VOLUME(value, scope)
    return kept


_telling = annotations(prefixes=TELLING_ANNOTATIONS)
_namespace = named(Role.NAMESPACE)
TAINTS = each(saying(marked, effect="NoSchedule"))
_requests = record("requests")
CONDITION = record("type status reason lastTransitionTime")
_conditions = each(CONDITION)

SELECTOR = record(matchLabels=labels, matchExpressions=each(requirement))
NODE_TERM = record(matchExpressions=each(requirement), matchFields=each(field_requirement))
NODE_SELECTOR = record(nodeSelectorTerms=each(NODE_TERM))
POD_TERM = record(
    "topologyKey matchLabelKeys mismatchLabelKeys",
    labelSelector=SELECTOR,
    namespaces=each(_namespace),
    namespaceSelector=SELECTOR,
)
POD_AFFINITY = record(requiredDuringSchedulingIgnoredDuringExecution=each(POD_TERM))
SPREAD = record(
    "maxSkew topologyKey whenUnsatisfiable minDomains nodeAffinityPolicy nodeTaintsPolicy matchLabelKeys",
    labelSelector=SELECTOR,
)
_disk = named(Role.DISK)
POD_VOLUME = record(
    name=named(Role.MOUNT),
    persistentVolumeClaim=record("readOnly", claimName=claim_name),
    ephemeral=presence,
    emptyDir=record("medium"),
    hostPath=presence,
    csi=presence,
    gcePersistentDisk=record("readOnly", pdName=_disk),
    awsElasticBlockStore=record("readOnly", volumeID=_disk),
    iscsi=record("readOnly", iqn=_disk),
    rbd=record("readOnly", pool=_disk, image=_disk, monitors=each(_disk)),
)
CONTAINER = record(
    "restartPolicy",
    name=named(Role.CONTAINER),
    resources=_requests,
    ports=each(record("hostPort hostIP protocol"), having="hostPort"),
)
_POD_SPEC: dict[str, Sieve] = {
    "nodeName": named(Role.NODE),
    "containers": each(CONTAINER),
    "initContainers": each(CONTAINER),
    "resources": _requests,
    "nodeSelector": labels,
    "affinity": record(
        nodeAffinity=record(requiredDuringSchedulingIgnoredDuringExecution=NODE_SELECTOR),
        podAffinity=POD_AFFINITY,
        podAntiAffinity=POD_AFFINITY,
    ),
    "tolerations": each(marked),
    "topologySpreadConstraints": each(saying(SPREAD, maxSkew=1, whenUnsatisfiable="DoNotSchedule")),
    "volumes": each(_mount),
    **dict.fromkeys(("overhead", "priority", "schedulerName", "restartPolicy", "terminationGracePeriodSeconds"), whole),
}
CONTAINER_STATUS = record("allocatedResources", name=named(Role.CONTAINER), resources=_requests)
_statuses = each(CONTAINER_STATUS, having="resources")

POD = record(
    metadata=record(
        "creationTimestamp deletionTimestamp",
        name=named(Role.POD),
        namespace=_namespace,
        uid=named(Role.UID),
        labels=labels,
        annotations=pod_annotations,
        ownerReferences=owners,
    ),
    spec=record(**_POD_SPEC),
    status=record(
        "phase",
        conditions=_conditions,
        nominatedNodeName=named(Role.NODE),
        containerStatuses=_statuses,
        initContainerStatuses=_statuses,
    ),
)
NODE = record(
    metadata=record("creationTimestamp deletionTimestamp", name=named(Role.NODE), labels=labels, annotations=_telling),
    spec=record("unschedulable", providerID=named(Role.INSTANCE), taints=TAINTS),
    status=record("capacity allocatable", conditions=_conditions),
)
DAEMON_SET = record(
    metadata=record(name=named(Role.OWNER), namespace=_namespace, uid=named(Role.UID)),
    spec=record(
        template=record(
            metadata=record(labels=labels, annotations=_telling),
            # Whether its pods are forced onto new nodes depends on the priority's name, too.
            spec=record("priorityClassName preemptionPolicy", **_POD_SPEC),
        )
    ),
)
CONTROLLER = record(metadata=record(name=named(Role.OWNER), namespace=_namespace), spec=record("replicas"))
BUDGET = record(
    metadata=record(name=named(Role.BUDGET), namespace=_namespace),
    spec=record(selector=SELECTOR),
    status=record("disruptionsAllowed"),
)
QUOTA = record(metadata=record(name=named(Role.BUDGET)), spec=record(selector=SELECTOR, limits=record("resources")))
NAMESPACE = record(metadata=record(name=_namespace, labels=labels))
CLAIM = record(
    metadata=record(
        "deletionTimestamp",
        name=claim_name,
        namespace=_namespace,
        uid=named(Role.UID),
        annotations=annotations(
            {
                "pv.kubernetes.io/bind-completed": whole,
                "volume.kubernetes.io/selected-node": named(Role.NODE),
                "volume.beta.kubernetes.io/storage-class": named(Role.STORAGE_CLASS),
            }
        ),
        ownerReferences=owners,
    ),
    spec=record(
        "accessModes volumeMode",
        volumeName=named(Role.VOLUME),
        storageClassName=named(Role.STORAGE_CLASS),
        resources=_requests,
        volumeAttributesClassName=named(Role.STORAGE_CLASS),
        selector=SELECTOR,
    ),
    status=record("phase"),
)


def _claim_reference(value: dict[str, Any], scope: Scope) -> dict[str, Any]:
    namespace = value.get("namespace", "")
    return {
        "namespace": scope.names.of(Role.NAMESPACE, namespace),
        "name": scope.names.claim(namespace, value.get("name", "")),
        "uid": scope.names.of(Role.UID, value.get("uid", "")),
    }


VOLUME = record(
    metadata=record(
        "deletionTimestamp",
        name=named(Role.VOLUME),
        labels=labels,
        annotations=annotations({"volume.beta.kubernetes.io/storage-class": named(Role.STORAGE_CLASS)}),
    ),
    spec=record(
        "capacity accessModes volumeMode",
        storageClassName=named(Role.STORAGE_CLASS),
        volumeAttributesClassName=named(Role.STORAGE_CLASS),
        nodeAffinity=record(required=NODE_SELECTOR),
        claimRef=_claim_reference,
        csi=record("driver", volumeHandle=_disk),
    ),
    status=record("phase"),
)
STORAGE_CLASS = record(
    "provisioner volumeBindingMode",
    metadata=record(name=named(Role.STORAGE_CLASS)),
    allowedTopologies=each(record(matchLabelExpressions=each(requirement))),
)
CSI_NODE = record(
    metadata=record(name=named(Role.NODE)), spec=record(drivers=each(record("name", allocatable=record("count"))))
)


def _template_pod(value: dict[str, Any], scope: Scope) -> Any:
    meta = value["metadata"]
    return POD(value, replace(scope, namespace=meta.get("namespace", ""), pod=meta.get("name", "")))


#: A `NodeTemplate`, by the names of its attributes.
TEMPLATE = record(
    "capacity allocatable csi_drivers unschedulable",
    labels=labels,
    annotations=_telling,
    taints=TAINTS,
    pods=each(_template_pod),
    zones=each(named(Role.VALUE)),
    from_node=named(Role.NODE),
)
