"""A volume with zone or region labels can be used on nodes there, and on nodes that know of no places at all."""

from nodewright.objects import PersistentVolume, Pod

from ..snapshot import NodeInfo, Snapshot

#: The label that took the place of each of the older ones.
_SUCCESSOR = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
}
_PLACE_LABELS = (*_SUCCESSOR, *_SUCCESSOR.values())


def precheck(snapshot: Snapshot, pod: Pod) -> tuple[str, ...]:
    for volume in pod.spec.volumes:
        claim = snapshot.claim_of(pod, volume) if volume.persistent_volume_claim else None
        if claim is not None and claim.spec.volume_name and claim.spec.volume_name not in snapshot.volumes:
            return (f'persistentvolume "{claim.spec.volume_name}" not found',)
    return ()


def check(snapshot: Snapshot, pod: Pod, info: NodeInfo) -> tuple[str, ...]:
    if not any(label in info.labels for label in _PLACE_LABELS):
        return ()
    if all(_reachable(volume, info) for volume in _volumes(snapshot, pod)):
        return ()
    return ("node(s) had no available volume zone",)


def _volumes(snapshot: Snapshot, pod: Pod) -> list[PersistentVolume]:
    """The volumes behind the claims that *pod* names; those of ephemeral claims are not looked at."""
    claims = [snapshot.claim_of(pod, volume) for volume in pod.spec.volumes if volume.persistent_volume_claim]
    names = [claim.spec.volume_name for claim in claims if claim is not None]
    return [snapshot.volumes[name] for name in names if name in snapshot.volumes]


def _reachable(volume: PersistentVolume, info: NodeInfo) -> bool:
    for label in _PLACE_LABELS:
        if label not in volume.metadata.labels:
            continue
        places = [place.strip() for place in volume.metadata.labels[label].split("__")]
        if not all(places):
            continue  # no set of places: kube-scheduler ignores the label
        here = info.labels.get(label, info.labels.get(_SUCCESSOR.get(label, label)))
        if here not in places:
            return False
    return True
