"""Where pods may be: how many of a kind one node takes, and whether that depends on other pods."""

from nodewright.api import Pod, PodSet, Resources, Simulation

_HOSTNAME = "kubernetes.io/hostname"


def is_independent(pod: Pod) -> bool:
    """Tell whether *pod* may be on a node whatever runs on other nodes."""
    if any(constraint.when_unsatisfiable == "DoNotSchedule" for constraint in pod.spec.topology_spread_constraints):
        return False
    affinity = pod.spec.affinity
    if affinity is None:
        return True
    if affinity.pod_affinity and affinity.pod_affinity.required:
        return False
    return all(key == _HOSTNAME for key in _repels_over(pod))


def most_on(node: str, pods: PodSet, simulation: Simulation) -> int:
    """Return how many of *pods* fit on the empty *node*, if they may be there at all."""
    if _is_plain(pods.pod):
        return min(len(pods), times(pods.pod.requests, simulation.free(node)))
    with simulation.fork() as trial:
        return len(trial.place(pods, on=[node]))


def times(request: Resources, free: Resources) -> int:
    """Return how many times *request*, which is not nothing, fits into *free*."""
    return max(0, min(free.get(name, 0) // amount for name, amount in request.items() if amount))


def _is_plain(pod: Pod) -> bool:
    """Tell whether nothing but its requests limits how many like *pod* fit on a node."""
    spec = pod.spec
    ports = any(port.host_port for container in (*spec.containers, *spec.init_containers) for port in container.ports)
    volumes = any(
        volume.persistent_volume_claim or volume.ephemeral or volume.csi or volume.names_disk for volume in spec.volumes
    )
    return not (ports or volumes or _repels_over(pod))


def _repels_over(pod: Pod) -> tuple[str, ...]:
    """Return the topology keys in whose domains *pod* does not want other pods."""
    affinity = pod.spec.affinity
    anti = affinity.pod_anti_affinity if affinity else None
    return tuple(term.topology_key for term in anti.required) if anti else ()
