"""The volumes behind a pod's claims must be reachable from the node; those not there yet must be possible there."""

from dataclasses import dataclass, field

from msgspec.structs import replace
from nodewright.objects import PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, parse_quantity
from nodewright.objects.volume import ClaimReference

from ..selectors import selects, term_matches
from ..snapshot import NodeInfo, Snapshot, claim_name, class_name

_SELECTED_NODE = "volume.kubernetes.io/selected-node"
_BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
_NO_PROVISIONER = "kubernetes.io/no-provisioner"


@dataclass(kw_only=True)
class Plan:
    """What happens to a pod's open claims if it comes to a node."""

    #: The volume that each claim gets, by the claim's key.
    volumes: dict[str, PersistentVolume] = field(default_factory=dict)
    #: Claims for which a volume is made.
    made: list[PersistentVolumeClaim] = field(default_factory=list)


def precheck(snapshot: Snapshot, pod: Pod) -> tuple[str, ...]:
    for volume in pod.spec.volumes:
        name = claim_name(pod, volume)
        if name is None:
            continue
        claim = snapshot.claim_of(pod, volume)
        if claim is None and volume.ephemeral is not None:
            return (f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"',)
        if claim is None:
            return (f'persistentvolumeclaim "{name}" not found',)
        if claim.status.phase == "Lost":
            gone = claim.spec.volume_name
            return (f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{gone}"',)
        if claim.metadata.deletion_timestamp is not None:
            return (f'persistentvolumeclaim "{name}" is being deleted',)
        if volume.ephemeral is not None and not _made_for(claim, pod):
            return (f"PVC {claim.metadata.key} was not created for pod {pod.key} (pod is not owner)",)
    if any(not _is_bound(claim) and not _waits_for_pod(snapshot, claim) for claim in _claims(snapshot, pod)):
        return ("pod has unbound immediate PersistentVolumeClaims",)
    return ()


def check(snapshot: Snapshot, pod: Pod, info: NodeInfo) -> tuple[str, ...]:
    claims = _claims(snapshot, pod)
    bound = _check_bound(snapshot, [claim for claim in claims if _is_bound(claim)], info)
    if _plan(snapshot, [claim for claim in claims if not _is_bound(claim)], info) is None:
        return (*bound, "node(s) didn't find available persistent volumes to bind")
    return bound


def assume(snapshot: Snapshot, pod: Pod, info: NodeInfo) -> None:
    """Write down what the pod's open claims get, now that it comes to this node."""
    plan = _plan(snapshot, [claim for claim in _claims(snapshot, pod) if not _is_bound(claim)], info)
    if plan is None:
        return
    for key, volume in plan.volumes.items():
        metadata = snapshot.claims[key].metadata
        owner = ClaimReference(namespace=metadata.namespace, name=metadata.name, uid=metadata.uid)
        snapshot.volumes[volume.metadata.name] = replace(volume, spec=replace(volume.spec, claim_ref=owner))
    for claim in plan.made:
        annotations = claim.metadata.annotations | {_SELECTED_NODE: info.node.name}
        snapshot.claims[claim.metadata.key] = replace(claim, metadata=replace(claim.metadata, annotations=annotations))


def _claims(snapshot: Snapshot, pod: Pod) -> list[PersistentVolumeClaim]:
    claims = (snapshot.claim_of(pod, volume) for volume in pod.spec.volumes)
    return [claim for claim in claims if claim is not None]


def _made_for(claim: PersistentVolumeClaim, pod: Pod) -> bool:
    return any(owner.controller and owner.uid == pod.metadata.uid for owner in claim.metadata.owner_references)


def _is_bound(claim: PersistentVolumeClaim) -> bool:
    return claim.spec.volume_name != "" and _BIND_COMPLETED in claim.metadata.annotations


def _waits_for_pod(snapshot: Snapshot, claim: PersistentVolumeClaim) -> bool:
    """Whether an open claim is left open until a pod comes; one that names its volume already is not."""
    storage_class = snapshot.storage_class_of(claim)
    waits = storage_class is not None and storage_class.volume_binding_mode == "WaitForFirstConsumer"
    return waits and claim.spec.volume_name == ""


def _check_bound(snapshot: Snapshot, claims: list[PersistentVolumeClaim], info: NodeInfo) -> tuple[str, ...]:
    for claim in claims:
        volume = snapshot.volumes.get(claim.spec.volume_name)
        if volume is None:
            return ("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",)
        if not _reachable(volume, info):
            return ("node(s) didn't match PersistentVolume's node affinity",)
    return ()


def _reachable(volume: PersistentVolume, info: NodeInfo) -> bool:
    """Whether the node's labels (nothing else) satisfy the node affinity of *volume*."""
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return True
    return any(term_matches(term, "", info.labels) for term in affinity.required.node_selector_terms)


def _plan(snapshot: Snapshot, claims: list[PersistentVolumeClaim], info: NodeInfo) -> Plan | None:
    """How *claims* are satisfied on the node: smallest claims first, existing volumes before new ones."""
    plan = Plan()
    chosen_nodes = [claim.metadata.annotations.get(_SELECTED_NODE) for claim in claims]
    if any(node is not None and node != info.node.name for node in chosen_nodes):
        return None
    for claim in sorted(claims, key=_size_of_claim):
        taken = {volume.metadata.name for volume in plan.volumes.values()}
        volume = None if _SELECTED_NODE in claim.metadata.annotations else _find(snapshot, claim, taken, info)
        if volume is not None:
            plan.volumes[claim.metadata.key] = volume
        elif _can_be_made(snapshot.storage_class_of(claim), info):
            plan.made.append(claim)
        else:
            return None
    return plan


def _can_be_made(storage_class: StorageClass | None, info: NodeInfo) -> bool:
    if storage_class is None or storage_class.provisioner in ("", _NO_PROVISIONER):
        return False
    terms = [topology.as_node_selector_term() for topology in storage_class.allowed_topologies or ()]
    return not terms or any(term_matches(term, "", info.labels) for term in terms)


def _find(snapshot: Snapshot, claim: PersistentVolumeClaim, taken: set[str], info: NodeInfo) -> PersistentVolume | None:
    """The volume kept for *claim* if it can be reached from here; else the smallest free one that will do."""
    big_enough = [
        volume
        for volume in sorted(snapshot.volumes.values(), key=_rank)
        if volume.metadata.name not in taken
        and class_name(volume) == class_name(claim)
        and _size(volume) >= _size_of_claim(claim)
        and volume.spec.volume_mode == claim.spec.volume_mode
        and volume.spec.volume_attributes_class_name == claim.spec.volume_attributes_class_name
        and volume.metadata.deletion_timestamp is None
    ]
    for volume in big_enough:
        if _is_kept_for(volume, claim):
            return volume if _reachable(volume, info) else None
    free = [volume for volume in big_enough if volume.spec.claim_ref is None and volume.status.phase == "Available"]
    return next((volume for volume in free if _suits(volume, claim) and _reachable(volume, info)), None)


def _is_kept_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    owner = volume.spec.claim_ref
    if owner is None or (owner.namespace, owner.name) != (claim.metadata.namespace, claim.metadata.name):
        return False
    return owner.uid in ("", claim.metadata.uid)


def _suits(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    if claim.spec.selector is not None and not selects(claim.spec.selector, volume.metadata.labels):
        return False
    return set(claim.spec.access_modes) <= set(volume.spec.access_modes)


def _rank(volume: PersistentVolume) -> tuple[int, str]:
    """Smaller volumes first; kube-scheduler's choice among equally large ones is chance."""
    return _size(volume), volume.metadata.name


def _size(volume: PersistentVolume) -> int:
    return parse_quantity(str(volume.spec.capacity.get("storage", 0)))


def _size_of_claim(claim: PersistentVolumeClaim) -> int:
    return parse_quantity(str(claim.spec.resources.requests.get("storage", 0)))
