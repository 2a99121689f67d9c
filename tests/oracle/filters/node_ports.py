"""Each host port, per protocol and address, is taken by one pod of the node at most."""

from nodewright.objects import Pod

from ..snapshot import NodeInfo, Snapshot

_ANY_ADDRESS = "0.0.0.0"

#: Address, protocol, number.
HostPort = tuple[str, str, int]


def check(snapshot: Snapshot, pod: Pod, info: NodeInfo) -> tuple[str, ...]:
    if any(ports_clash(pod, other) for other in info.pods):
        return ("node(s) didn't have free ports for the requested pod ports",)
    return ()


def ports_clash(one: Pod, other: Pod) -> bool:
    """Whether two pods can't share a node because of their host ports."""
    return any(_clash(mine, theirs) for mine in host_ports(one) for theirs in host_ports(other))


def host_ports(pod: Pod) -> set[HostPort]:
    """The host ports of containers and sidecars; plain init containers have ended before anybody can mind."""
    sidecars = [container for container in pod.spec.init_containers if container.restart_policy == "Always"]
    return {
        (port.host_ip or _ANY_ADDRESS, port.protocol or "TCP", port.host_port)
        for container in (*pod.spec.containers, *sidecars)
        for port in container.ports
        if port.host_port > 0
    }


def _clash(one: HostPort, other: HostPort) -> bool:
    return one[1:] == other[1:] and (one[0] == other[0] or _ANY_ADDRESS in (one[0], other[0]))
