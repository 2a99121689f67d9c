"""How many pods of a set one new node takes, regardless of the plan's other pods."""

from collections.abc import Sequence

from nodewright.api import PlacementRule, Pod, PodSet, Reason, Resources, RuleKind, Simulation

HOSTNAME = "kubernetes.io/hostname"

#: A host port, with protocol and address.
_Port = tuple[int, str, str]


def most_on(node: str, pods: PodSet, rules: Sequence[PlacementRule], simulation: Simulation) -> int:
    """Return how many of *pods* one empty *node* takes, now or once other domains have more pods.

    For pods that are spread over nodes, it assumes that all other nodes get as many.
    """
    refusal = simulation.why_not(pods, node)
    has_volumes = bool(pods.pod.spec.volumes) and not _keeps_to_itself(pods.pod)
    waits = refusal is not None and refusal.reason is Reason.SPREAD and not refusal.detail and not has_volumes
    if refusal is not None and not waits:
        return 0
    most = min(len(pods), _times(pods.pod.requests, simulation.free(node)))
    if has_volumes:
        with simulation.fork() as trial:
            most = min(most, len(trial.place(pods, on=[node])))
    if host_ports(pods.pod):
        most = min(most, 1)
    for rule in rules:
        if is_spread_over_nodes(pods.pod, rule):
            others = [count for name, count in rule.counts.items() if name != node]
            if others or rule.min_domains > 1:
                most = min(most, rule.max_skew + min(others, default=0))
        elif rule.kind is RuleKind.APART and rule.selects(pods.pod):
            most = min(most, 1)
    return most


def is_spread_over_nodes(pod: Pod, rule: PlacementRule) -> bool:
    """Tell whether *rule* spreads pods like *pod* over nodes."""
    return rule.kind is RuleKind.SPREAD and rule.key == HOSTNAME and rule.selects(pod)


def is_at_odds(pod: Pod, other: Pod, rules: Sequence[PlacementRule]) -> bool:
    """Tell whether *pod*, which has *rules*, can't be on one node with *other*."""
    if any(rule.kind is RuleKind.APART and rule.selects(other) for rule in rules):
        return True
    return any(_clash(mine, theirs) for mine in host_ports(pod) for theirs in host_ports(other))


def host_ports(pod: Pod) -> list[_Port]:
    """Return the host ports of *pod*."""
    spec = pod.spec
    return [
        (port.host_port, port.protocol, port.host_ip)
        for container in (*spec.containers, *spec.init_containers)
        for port in container.ports
        if port.host_port
    ]


def _clash(one: _Port, other: _Port) -> bool:
    anywhere = ("", "0.0.0.0")
    return one[:2] == other[:2] and (one[2] == other[2] or one[2] in anywhere or other[2] in anywhere)


def _keeps_to_itself(pod: Pod) -> bool:
    """Tell whether the pod's volumes matter neither to other pods nor to the node."""
    return not any(
        volume.persistent_volume_claim or volume.ephemeral or volume.csi or volume.names_disk
        for volume in pod.spec.volumes
    )


def _times(request: Resources, free: Resources) -> int:
    """Return how many times *request*, which is not zero, fits into *free*."""
    return max(0, min(free.get(name, 0) // amount for name, amount in request.items() if amount))
