"""Filter VolumeBinding: a node must reach the volumes of a pod, or it must be possible to get them there."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster, PodClass
from nodewright.objects import PersistentVolumeClaim
from nodewright.scheduling.filters.open_claims import OpenClaim, open_claims, plan, reachable
from nodewright.scheduling.filters.static import Mask, allowed_by_labels

OUT_OF_REACH = Verdict(reason=Reason.VOLUME_NODE_AFFINITY)
MISSING = Verdict(reason=Reason.VOLUME_MISSING)
REFUSAL = Verdict(reason=Reason.VOLUME_BINDING)


def prefilter(cluster: Cluster, pod: PodClass) -> Verdict | None:
    """Return why *pod* can't run anywhere, because one of its claims can't be used now. None if all can."""
    for name, key in zip(pod.claims, pod.claim_keys, strict=True):
        problem = _problem(pod, name, cluster.storage.claims.get(key))
        if problem:
            return Verdict(reason=Reason.VOLUME_CLAIM, detail=problem)
    if any(not claim.bound and not cluster.storage.waits_for_pod(claim) for claim in _claims(cluster, pod)):
        return Verdict(reason=Reason.VOLUME_CLAIM, detail="pod has unbound immediate PersistentVolumeClaims")
    return None


def refusal(cluster: Cluster, pod: PodClass, row: int) -> Verdict | None:
    """Return why a node can neither reach nor get the pod's volumes, or None."""
    labels = cluster.table.marks(row).labels
    bound = _bound_refusal(cluster, pod, labels)
    if plan(_open(cluster, pod), cluster.table.names[row], labels) is not None:
        return bound
    return REFUSAL if bound is None else replace(bound, detail=REFUSAL.reason.text)


def allowed(cluster: Cluster, pod: PodClass, mask: Mask) -> Mask:
    """Return *mask* without the rows that can neither reach nor get the pod's volumes."""
    still_open = _open(cluster, pod)
    chosen = {claim.node for claim in still_open if claim.node}
    for node in chosen:
        mask = mask & (np.arange(len(mask)) == cluster.table.rows.get(node, -1))
    node = next(iter(chosen), "")
    return allowed_by_labels(
        cluster,
        mask,
        _labels(cluster, pod, still_open),
        lambda labels: _bound_refusal(cluster, pod, labels) is None and plan(still_open, node, labels) is not None,
    )


def settled(cluster: Cluster, pod: PodClass) -> bool:
    """Return whether all volumes of *pod* exist already."""
    return all(claim.bound for claim in _claims(cluster, pod))


def assume(cluster: Cluster, pod: PodClass, row: int) -> None:
    """Assume that the open claims of *pod* get their volumes on a node on which it may run."""
    found = plan(_open(cluster, pod), cluster.table.names[row], cluster.table.marks(row).labels)
    for claim, volume in (found or {}).items():
        cluster.storage.assume(claim, volume, row)


def _claims(cluster: Cluster, pod: PodClass) -> list[PersistentVolumeClaim]:
    claims = cluster.storage.claims
    return [claims[key] for key in pod.claim_keys if key in claims]


def _open(cluster: Cluster, pod: PodClass) -> list[OpenClaim]:
    return open_claims(cluster.storage, (claim for claim in _claims(cluster, pod) if not claim.bound))


def _problem(pod: PodClass, name: str, claim: PersistentVolumeClaim | None) -> str:
    ephemeral = name not in pod.named_claims
    if claim is None:
        if ephemeral:
            return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
        return f'persistentvolumeclaim "{name}" not found'
    if claim.status.phase == "Lost":
        return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.spec.volume_name}"'
    if claim.metadata.deletion_timestamp is not None:
        return f'persistentvolumeclaim "{name}" is being deleted'
    if ephemeral and not claim.made_for(pod.pod.metadata):
        return f"PVC {claim.metadata.key} was not created for pod {pod.pod.key} (pod is not owner)"
    return ""


def _bound_refusal(cluster: Cluster, pod: PodClass, labels: Mapping[str, str]) -> Verdict | None:
    for claim in _claims(cluster, pod):
        if claim.bound:
            volume = cluster.storage.volumes.get(claim.spec.volume_name)
            if volume is None:
                return MISSING
            if not reachable(volume, labels):
                return OUT_OF_REACH
    return None


def _labels(cluster: Cluster, pod: PodClass, still_open: list[OpenClaim]) -> set[str]:
    """Return the labels of nodes that determine whether the pod can get its volumes there."""
    labels = {label for claim in still_open for label in claim.labels}
    volumes = (cluster.storage.volumes.get(claim.spec.volume_name) for claim in _claims(cluster, pod) if claim.bound)
    terms = (term for volume in volumes if volume is not None for term in volume.node_terms or ())
    return labels.union(line.key for term in terms for line in term.match_expressions)
