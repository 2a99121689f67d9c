"""What of each kind of Kubernetes object is in a picture: the fields that decisions read, and no others.

Not in it: environment, commands, images, secrets, most annotations, addresses. A test holds the lists against the
structs of `nodewright.objects`.
"""

from typing import Any

import msgspec

from nodewright.cluster.pod_class import TELLING_ANNOTATIONS
from nodewright.objects.meta import KubeStruct
from nodewright.objects.pod import MIRROR
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
    presence,
    record,
    requirement,
    saying,
    whole,
)


def sift(thing: KubeStruct, sieve: Sieve, names: Names, *, namespace: str = "", pod: str = "") -> Any:
    """Return, as JSON, what of *thing* gets through *sieve*."""
    return sieve(msgspec.to_builtins(thing), Scope(names=names, namespace=namespace, pod=pod))


def _mount(value: dict[str, Any], scope: Scope) -> dict[str, Any]:
    if "ephemeral" in value:
        scope.names.note_made_claim(scope.namespace, scope.pod, value.get("name", ""))
        scope.names.claim(scope.namespace, f"{scope.pod}-{value.get('name', '')}")
    kept: dict[str, Any] = POD_VOLUME(value, scope)
    return kept


_telling = annotations(prefixes=TELLING_ANNOTATIONS)
_namespace = named(Role.NAMESPACE)
TAINTS = each(saying(marked, effect="NoSchedule"))
_requests = record(requests=whole)
CONDITION = record(type=whole, status=whole, reason=whole, lastTransitionTime=whole)
_conditions = each(CONDITION)

SELECTOR = record(matchLabels=labels, matchExpressions=each(requirement))
NODE_TERM = record(matchExpressions=each(requirement), matchFields=each(field_requirement))
NODE_SELECTOR = record(nodeSelectorTerms=each(NODE_TERM))
POD_TERM = record(
    topologyKey=whole,
    labelSelector=SELECTOR,
    namespaces=each(_namespace),
    namespaceSelector=SELECTOR,
    matchLabelKeys=whole,
    mismatchLabelKeys=whole,
)
POD_AFFINITY = record(requiredDuringSchedulingIgnoredDuringExecution=each(POD_TERM))
SPREAD = record(
    maxSkew=whole,
    topologyKey=whole,
    whenUnsatisfiable=whole,
    labelSelector=SELECTOR,
    minDomains=whole,
    nodeAffinityPolicy=whole,
    nodeTaintsPolicy=whole,
    matchLabelKeys=whole,
)
_disk = named(Role.DISK)
POD_VOLUME = record(
    name=named(Role.MOUNT),
    persistentVolumeClaim=record(claimName=claim_name, readOnly=whole),
    ephemeral=presence,
    emptyDir=record(medium=whole),
    hostPath=presence,
    csi=presence,
    gcePersistentDisk=record(pdName=_disk, readOnly=whole),
    awsElasticBlockStore=record(volumeID=_disk, readOnly=whole),
    iscsi=record(iqn=_disk, readOnly=whole),
    rbd=record(pool=_disk, image=_disk, monitors=each(_disk), readOnly=whole),
)
CONTAINER = record(
    name=named(Role.CONTAINER),
    resources=_requests,
    ports=each(record(hostPort=whole, hostIP=whole, protocol=whole), having="hostPort"),
    restartPolicy=whole,
)
_POD_SPEC: dict[str, Sieve] = {
    "nodeName": named(Role.NODE),
    "containers": each(CONTAINER),
    "initContainers": each(CONTAINER),
    "resources": _requests,
    "overhead": whole,
    "nodeSelector": labels,
    "affinity": record(
        nodeAffinity=record(requiredDuringSchedulingIgnoredDuringExecution=NODE_SELECTOR),
        podAffinity=POD_AFFINITY,
        podAntiAffinity=POD_AFFINITY,
    ),
    "tolerations": each(marked),
    "topologySpreadConstraints": each(saying(SPREAD, maxSkew=1, whenUnsatisfiable="DoNotSchedule")),
    "volumes": each(_mount),
    "priority": whole,
    "schedulerName": whole,
    "restartPolicy": whole,
    "terminationGracePeriodSeconds": whole,
}
CONTAINER_STATUS = record(name=named(Role.CONTAINER), resources=_requests, allocatedResources=whole)
_statuses = each(CONTAINER_STATUS, having="resources")

POD = record(
    metadata=record(
        name=named(Role.POD),
        namespace=_namespace,
        uid=named(Role.UID),
        labels=labels,
        annotations=annotations(prefixes=TELLING_ANNOTATIONS, present=(MIRROR,)),
        ownerReferences=owners,
        creationTimestamp=whole,
        deletionTimestamp=whole,
    ),
    spec=record(**_POD_SPEC),
    status=record(
        phase=whole,
        conditions=_conditions,
        nominatedNodeName=named(Role.NODE),
        containerStatuses=_statuses,
        initContainerStatuses=_statuses,
    ),
)
NODE = record(
    metadata=record(
        name=named(Role.NODE),
        labels=labels,
        annotations=_telling,
        creationTimestamp=whole,
        deletionTimestamp=whole,
    ),
    spec=record(providerID=named(Role.INSTANCE), unschedulable=whole, taints=TAINTS),
    status=record(capacity=whole, allocatable=whole, conditions=_conditions),
)
DAEMON_SET = record(
    metadata=record(name=named(Role.OWNER), namespace=_namespace, uid=named(Role.UID)),
    spec=record(
        template=record(
            metadata=record(labels=labels, annotations=_telling),
            # Whether its pods force their way onto new nodes depends on the priority's name, too.
            spec=record(**_POD_SPEC, priorityClassName=whole, preemptionPolicy=whole),
        )
    ),
)
CONTROLLER = record(
    metadata=record(name=named(Role.OWNER), namespace=_namespace),
    spec=record(replicas=whole),
)
BUDGET = record(
    metadata=record(name=named(Role.BUDGET), namespace=_namespace),
    spec=record(selector=SELECTOR),
    status=record(disruptionsAllowed=whole),
)
QUOTA = record(
    metadata=record(name=named(Role.BUDGET)),
    spec=record(selector=SELECTOR, limits=record(resources=whole)),
)
NAMESPACE = record(metadata=record(name=_namespace, labels=labels))
CLAIM = record(
    metadata=record(
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
        deletionTimestamp=whole,
    ),
    spec=record(
        volumeName=named(Role.VOLUME),
        storageClassName=named(Role.STORAGE_CLASS),
        accessModes=whole,
        resources=_requests,
        volumeMode=whole,
        volumeAttributesClassName=named(Role.STORAGE_CLASS),
        selector=SELECTOR,
    ),
    status=record(phase=whole),
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
        name=named(Role.VOLUME),
        labels=labels,
        annotations=annotations({"volume.beta.kubernetes.io/storage-class": named(Role.STORAGE_CLASS)}),
        deletionTimestamp=whole,
    ),
    spec=record(
        capacity=whole,
        accessModes=whole,
        storageClassName=named(Role.STORAGE_CLASS),
        volumeMode=whole,
        volumeAttributesClassName=named(Role.STORAGE_CLASS),
        nodeAffinity=record(required=NODE_SELECTOR),
        claimRef=_claim_reference,
        csi=record(driver=whole, volumeHandle=_disk),
    ),
    status=record(phase=whole),
)
STORAGE_CLASS = record(
    metadata=record(name=named(Role.STORAGE_CLASS)),
    provisioner=whole,
    volumeBindingMode=whole,
    allowedTopologies=each(record(matchLabelExpressions=each(requirement))),
)
CSI_NODE = record(
    metadata=record(name=named(Role.NODE)),
    spec=record(drivers=each(record(name=whole, allocatable=record(count=whole)))),
)
