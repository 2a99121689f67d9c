"""A node takes so many volumes of a storage driver; a volume that several of its pods use counts once."""

from collections import Counter

from nodewright.objects import PersistentVolumeClaim, Pod

from ..snapshot import NodeInfo, Snapshot

#: Driver and handle.
Attached = tuple[str, str]


def check(snapshot: Snapshot, pod: Pod, info: NodeInfo) -> tuple[str, ...]:
    there = {volume for other in info.pods for volume in attached(snapshot, other)}
    new = attached(snapshot, pod) - there
    before = Counter(driver for driver, _ in there)
    more = Counter(driver for driver, _ in new)
    limits = limits_of(snapshot, info.node.name)
    if any(before[driver] + count > limits[driver] for driver, count in more.items() if driver in limits):
        return ("node(s) exceed max volume count",)
    return ()


def limits_of(snapshot: Snapshot, node: str) -> dict[str, int]:
    """How many volumes the node takes, by driver; a driver that is not in it sets no limit."""
    if node not in snapshot.csi_nodes:
        return {}
    return {
        driver.name: driver.allocatable.count
        for driver in snapshot.csi_nodes[node].spec.drivers
        if driver.allocatable is not None and driver.allocatable.count is not None
    }


def attached(snapshot: Snapshot, pod: Pod) -> set[Attached]:
    """The volumes that a driver has to attach for *pod*."""
    claims = (snapshot.claim_of(pod, volume) for volume in pod.spec.volumes)
    volumes = (_volume(snapshot, claim) for claim in claims if claim is not None)
    return {volume for volume in volumes if volume is not None}


def _volume(snapshot: Snapshot, claim: PersistentVolumeClaim) -> Attached | None:
    """What is or will be attached for *claim*; before it has a volume, its class tells the driver."""
    volume = snapshot.volumes.get(claim.spec.volume_name)
    if volume is not None:
        source = volume.spec.csi
        return (source.driver, source.volume_handle) if source and source.driver and source.volume_handle else None
    storage_class = snapshot.storage_class_of(claim)
    if storage_class is None or not storage_class.provisioner:
        return None
    return storage_class.provisioner, f"claim {claim.metadata.key}"
