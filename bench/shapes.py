"""Shapes of worlds: how many nodes, groups and pods, and which."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from msgspec.structs import replace
from nodewright.api import GroupFacts, Pod
from nodewright.cluster import Cluster, PodRow
from nodewright.cluster.binding import unbound
from nodewright.decision.world import World
from nodewright.objects import LabelSelector, Node
from nodewright.objects.affinity import Affinity, PodAffinity, PodAffinityTerm, TopologySpreadConstraint
from nodewright.objects.node import HOSTNAME, ZONE
from nodewright.testing.builders import a_group, a_node, a_pod, a_template
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_world

_ZONES = 3
_RUNNING_APPS = 200
#: What a mixed world has of constraints: a third of its apps has one.
_MIX = (
    "anti",
    "plain",
    "plain",
    "affinity",
    "plain",
    "plain",
    "spread",
    "plain",
    "plain",
    "zonespread",
    "plain",
    "plain",
)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A world of a given size: nodes of 16 cpu and 64 GiB, evenly over groups, groups over three zones."""

    nodes: int
    groups: int
    pending: int
    kind: str = "plain"
    #: Of how many ReplicaSets the pending pods are.
    apps: int = 20
    running_per_node: int = 30
    #: Of a node's cpu, how much the running pods take.
    load: float = 1.0
    #: In a world of kind ``down``, how many nodes of how many do little.
    idle: tuple[int, int] = (3, 10)

    def node(self, number: int) -> Node:
        """Return one of the nodes."""
        name = f"node-{number:05}"
        labels = {HOSTNAME: name, "pool": self._group(number % self.groups), ZONE: _zone(number % self.groups)}
        return a_node(name, cpu="16", memory="64Gi", labels=labels)

    def groups_of_nodes(self) -> list[GroupFacts]:
        """Return the groups."""
        return [
            a_group(
                self._group(number),
                size=len(range(number, self.nodes, self.groups)),
                max_size=100_000,
                template=a_template(cpu="16", memory="64Gi", zone=_zone(number), labels={"pool": self._group(number)}),
            )
            for number in range(self.groups)
        ]

    def pending_pods(self) -> Iterator[Pod]:
        """Return the pending pods, one of each ReplicaSet in turn."""
        for number in range(self.pending):
            app = number % self.apps
            yield self._pending(f"pending-{number:06}", app)

    def cluster(self) -> Cluster:
        """Return the cluster, without the pending pods."""
        cluster = Cluster()
        for number in range(self.nodes):
            cluster.put_node(self.node(number))
        numbers = count()
        apps = [self._running(app, 1.0) for app in range(_RUNNING_APPS)]
        idle = [self._running(app, 0.25) for app in range(_RUNNING_APPS)]
        for number in range(self.nodes):
            choice = idle if self._does_little(number) else apps
            for _ in range(self.running_per_node):
                serial = next(numbers)
                run_on(cluster, choice[serial % _RUNNING_APPS], f"running-{serial:06}", f"node-{number:05}")
        return cluster

    def world(self) -> World:
        """Return the whole world."""
        cluster = self.cluster()
        for pod in self.pending_pods():
            cluster.put_pod(pod)
        group_of = {f"node-{number:05}": self._group(number % self.groups) for number in range(self.nodes)}
        empty = a_world(groups=self.groups_of_nodes())
        return World(cluster=cluster, groups=empty.groups, group_of=group_of)

    def is_idle(self, node: Node) -> bool:
        """Tell whether a node is superfluous: only the shape ``down`` has such nodes."""
        return self._does_little(int(node.name.partition("-")[2]))

    def _does_little(self, number: int) -> bool:
        few, of = self.idle
        return self.kind == "down" and number % of < few

    def _group(self, number: int) -> str:
        return f"group-{number:02}"

    def _running(self, app: int, load: float) -> Pod:
        milli = int(16_000 * self.load * load / self.running_per_node)
        return a_pod(
            "running",
            cpu=f"{milli}m",
            memory="512Mi",
            labels={"app": f"running-{app}"},
            owner=f"ReplicaSet/running-{app}",
        )

    def _pending(self, name: str, app: int) -> Pod:

        label = f"app-{app}"
        pod = a_pod(
            name,
            cpu=f"{400 + 100 * (app % 12)}m",
            memory=f"{512 + 256 * (app % 7)}Mi",
            labels={"app": label},
            owner=f"ReplicaSet/{label}",
        )
        kind = _MIX[app % len(_MIX)] if self.kind == "mixed" else self.kind
        return replace(pod, spec=replace(pod.spec, **_constraint(kind, label)))


def _constraint(kind: str, app: str) -> dict[str, object]:
    own = LabelSelector(match_labels={"app": app})
    match kind:
        case "anti":
            term = PodAffinityTerm(topology_key=HOSTNAME, label_selector=own)
            return {"affinity": Affinity(pod_anti_affinity=PodAffinity(required=(term,)))}
        case "affinity":
            beside = LabelSelector(match_labels={"app": f"running-{app.partition('-')[2]}"})
            term = PodAffinityTerm(topology_key=ZONE, label_selector=beside)
            return {"affinity": Affinity(pod_affinity=PodAffinity(required=(term,)))}
        case "spread":
            return {"topology_spread_constraints": (_spread(HOSTNAME, 1, own),)}
        case "zonespread":
            return {"topology_spread_constraints": (_spread(ZONE, 5, own),)}
    return {}


def _spread(key: str, skew: int, selector: LabelSelector) -> TopologySpreadConstraint:
    return TopologySpreadConstraint(topology_key=key, max_skew=skew, label_selector=selector)


def run_on(cluster: Cluster, pod: Pod, name: str, node: str) -> None:
    """Bind a pod like *pod* to *node*."""
    cluster.put_pod_row(
        PodRow(
            key=f"default/{name}",
            uid=f"uid-of-{name}",
            pod_class=cluster.pod_classes.find(id(pod)) or cluster.pod_classes.alias(id(pod), unbound(pod)),
            node=node,
            owner=pod.metadata.controller,
            created=EPOCH,
            deleted=None,
            finished=False,
        )
    )


def _zone(number: int) -> str:
    return f"zone-{number % _ZONES}"
