"""What a pod asks of a node, whatever else runs in the cluster."""

from collections.abc import Mapping
from dataclasses import dataclass

from nodewright.api import Resources, parse_resources

from nodewright_fake.apiserver.store import Object
from nodewright_fake.controllers.selectors import Selector, read_expressions
from nodewright_fake.controllers.taints import PodToleration, read_toleration

#: What kube-scheduler assumes of a container without requests, so that such pods spread all the same.
_ASSUMED = {"cpu": 100, "memory": 200 * 1024**2}


@dataclass(frozen=True)
class HostPort:
    """A port that a pod takes on its node; the address ``0.0.0.0`` stands for all of the node's."""

    address: str
    protocol: str
    port: int

    def clashes(self, other: "HostPort") -> bool:
        """Return whether both cannot be taken on one node."""
        same_port = self.port == other.port and self.protocol == other.protocol
        return same_port and (self.address == other.address or "0.0.0.0" in (self.address, other.address))


@dataclass(frozen=True)
class NodeTerm:
    """One alternative of a required node affinity; an empty one matches no node."""

    expressions: Selector
    fields: Selector

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Return whether the node *name* with *labels* satisfies all lines."""
        if not self.expressions and not self.fields:
            return False
        return all(line.matches(labels) for line in self.expressions) and all(
            line.matches({"metadata.name": name}) for line in self.fields
        )


@dataclass(frozen=True, eq=False, kw_only=True, slots=True, weakref_slot=True)
class Needs:
    """What a pod asks of a node, whatever else runs in the cluster."""

    requests: Resources
    #: How much of cpu and memory the pod will probably use, for scoring: one that asks for nothing is no nothing.
    weight: Resources
    ports: tuple[HostPort, ...]
    tolerations: tuple[PodToleration, ...]
    node_labels: Mapping[str, str]
    #: None if there is no required node affinity.
    node_terms: tuple[NodeTerm, ...] | None
    #: The only nodes that the affinity admits, where it names them.
    only_nodes: frozenset[str] | None

    def select(self, name: str, labels: Mapping[str, str]) -> bool:
        """Return whether node selector and required node affinity admit the node."""
        if any(labels.get(key) != value for key, value in self.node_labels.items()):
            return False
        return self.node_terms is None or any(term.matches(name, labels) for term in self.node_terms)


def read_needs(spec: Object) -> Needs:
    """Read the needs of a pod with the specification *spec*; raises `ValueError` for a malformed quantity."""
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    terms = None
    if required is not None:
        terms = tuple(
            NodeTerm(read_expressions(term.get("matchExpressions")), read_expressions(term.get("matchFields")))
            for term in required.get("nodeSelectorTerms") or ()
        )
    requests = _requests(spec)
    return Needs(
        requests=requests,
        weight={name: requests.get(name) or assumed for name, assumed in _ASSUMED.items()},
        ports=_host_ports(spec),
        tolerations=tuple(read_toleration(toleration) for toleration in spec.get("tolerations") or ()),
        node_labels=dict(spec.get("nodeSelector") or {}),
        node_terms=terms,
        only_nodes=_only_nodes(terms),
    )


def _only_nodes(terms: tuple[NodeTerm, ...] | None) -> frozenset[str] | None:
    if terms is None:
        return None
    names: set[str] = set()
    for term in terms:
        fields = [line.values for line in term.fields if line.key == "metadata.name" and line.operator == "In"]
        if not fields:
            return None
        names.update(fields[0])
    return frozenset(names)


def _requests(spec: Object) -> Resources:
    """Return what is asked of a node: the larger of the running containers and the peak of the initialisation.

    An init container that restarts always is a sidecar: it stays, and runs beside the init containers after it.
    """
    running: dict[str, int] = {}
    for container in spec.get("containers") or ():
        _add(running, _asked(container))
    beside: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in spec.get("initContainers") or ():
        step = dict(beside)
        _add(step, _asked(container))
        for name, amount in step.items():
            peak[name] = max(peak.get(name, 0), amount)
        if container.get("restartPolicy") == "Always":
            beside = step
    _add(running, beside)
    total = {name: max(running.get(name, 0), peak.get(name, 0)) for name in {**running, **peak}}
    # A request for the pod as a whole stands in place of the containers' sum.
    total.update(_asked(spec))
    _add(total, parse_resources(spec.get("overhead") or {}))
    return total


def _asked(holder: Object) -> Resources:
    return parse_resources((holder.get("resources") or {}).get("requests") or {})


def _add(total: dict[str, int], amounts: Resources) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount


def _host_ports(spec: Object) -> tuple[HostPort, ...]:
    sidecars = [
        container for container in spec.get("initContainers") or () if container.get("restartPolicy") == "Always"
    ]
    ports = []
    for container in (*(spec.get("containers") or ()), *sidecars):
        for port in container.get("ports") or ():
            number = port.get("hostPort") or (port.get("containerPort") if spec.get("hostNetwork") else 0)
            if number:
                ports.append(HostPort(port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", number))
    return tuple(ports)
