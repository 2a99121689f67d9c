"""Events about removals: which nodes go, what becomes of their pods, and what fails."""

from dataclasses import dataclass

from nodewright.api.decision import Decision, Drain, Outcome, Restore
from nodewright.api.reasons import Reason
from nodewright.config.model import ScaleDown
from nodewright.decision.memory import Memory
from nodewright.decision.scaledown.utilization import Utilizations
from nodewright.decision.world import World
from nodewright.explain.golang import go_float, go_quoted
from nodewright.kube.events import EventWriter
from nodewright.objects import Node
from nodewright.objects.node import TO_BE_DELETED
from nodewright.runtime.reporting.pod_events import PodEvents


@dataclass(frozen=True, kw_only=True)
class _Leaving:
    """Nodes whose machines are being deleted. They may be gone when the cloud answers."""

    nodes: tuple[Node, ...]
    empty: bool


@dataclass(frozen=True, kw_only=True)
class _Staying:
    """A node whose removal is taken back."""

    node: Node
    leftover: bool


class RemovalEvents:
    """Writes them on nodes, their pods and the status, in Cluster Autoscaler's words. For the loop's thread."""

    def __init__(self, events: EventWriter, pods: PodEvents) -> None:
        self._events = events
        self._pods = pods
        self._marking: dict[str, Node] = {}
        self._leaving: dict[str, _Leaving] = {}
        self._staying: dict[str, _Staying] = {}
        #: Uids of pods whose eviction was begun, and of those whose eviction was refused, by key.
        self._evicting: dict[str, str] = {}
        self._refused: dict[str, str] = {}

    def acting(self, decision: Decision, before: Memory, world: World, settings: ScaleDown) -> None:
        """Report what *decision*, made on *world* and the memory *before*, is about to do with nodes."""
        nodes = world.cluster.nodes
        self._refused = {key: uid for key, uid in self._refused.items() if key in world.cluster.pods}
        for restore in decision.restore:
            if (node := nodes.get(restore.node)) is not None:
                self._give_back(restore, node, before, world)
        for delete in decision.delete:
            known = tuple(nodes[name] for name in delete.nodes if name in nodes)
            if known:
                self._leaving[delete.target] = _Leaving(nodes=known, empty=delete.verdict.reason is Reason.EMPTY)
        if decision.drain:
            self._drain(decision, world, settings)
        for evict in decision.evict:
            self._evicting |= evict.uids

    def acted(self, outcome: Outcome) -> None:
        """Report how an action on a node or a pod went."""
        match outcome.action:
            case "delete-instances":
                leaving = self._leaving.pop(outcome.target, None)
                if outcome.ok and leaving is not None:
                    self._deleted(leaving)
            case "drain":
                self._marked(outcome)
            case "restore":
                self._given_back(outcome)
            case "evict":
                self._evicted(outcome)

    def _drain(self, decision: Decision, world: World, settings: ScaleDown) -> None:
        options = {facts.id: facts.options for facts in world.groups}
        utilizations = Utilizations(world.cluster, settings, decision.at)
        for drain in decision.drain:
            node = world.cluster.nodes.get(drain.node)
            if node is None:
                continue
            self._marking[drain.node] = node
            if not drain.pods:
                message = f"Scale-down: removing empty node {go_quoted(drain.node)}"
                self._events.on_status("ScaleDownEmpty", message)
                continue
            gpu, group = world.gpus.get(drain.node), options.get(drain.group)
            ignored = group is not None and group.ignore_daemonsets_utilization
            used = utilizations.of(node, gpu=gpu, ignore_daemons=ignored)
            resource = gpu.resource if gpu else "cpu" if used.of_cpu else "memory"
            shares = (used.cpu, used.memory, used.gpu or 0.0, 0.0)
            shown = f"{{{' '.join(map(go_float, shares))} {resource} {go_float(used.value)}}}"
            self._events.on_status(
                "ScaleDown",
                f"Scale-down: removing node {drain.node}, utilization: {shown}, pods to reschedule: {_names(drain)}",
            )

    def _give_back(self, restore: Restore, node: Node, before: Memory, world: World) -> None:
        leftover = restore.verdict.reason is Reason.LEFTOVER
        self._staying[restore.node] = _Staying(node=node, leftover=leftover)
        if leftover:
            return
        removal = before.leaving.removals.get(restore.node)
        what = "failed to drain and delete node" if removal and removal.drains else "failed to delete empty node"
        self._events.on_node(node, "ScaleDownFailed", f"{what}: {restore.verdict.detail}", warning=True)
        for row in world.cluster.pods_on(restore.node):
            if uid := self._refused.pop(row.key, ""):
                message = "failed to delete pod for ScaleDown"
                self._pods.happened(row.key, uid, "ScaleDownFailed", message, warning=True)

    def _given_back(self, outcome: Outcome) -> None:
        staying = self._staying.pop(outcome.target, None)
        if staying is None:
            return
        name = staying.node.name
        if not outcome.ok:
            message = f"failed to clean {TO_BE_DELETED} on node {name}: {outcome.error}"
            self._events.on_node(staying.node, "ClusterAutoscalerCleanup", message, warning=True)
        elif staying.leftover:
            message = f"removed {TO_BE_DELETED} taint from node {name}"
            self._events.on_node(staying.node, "ClusterAutoscalerCleanup", message)

    def _marked(self, outcome: Outcome) -> None:
        node = self._marking.pop(outcome.target, None)
        if node is None:
            return
        if outcome.ok:
            self._events.on_node(node, "ScaleDown", "marked the node as toBeDeleted/unschedulable")
        else:
            message = f"failed to mark the node as toBeDeleted/unschedulable: {outcome.error}"
            self._events.on_node(node, "ScaleDownFailed", message, warning=True)

    def _deleted(self, leaving: _Leaving) -> None:
        for node in leaving.nodes:
            self._events.on_node(node, "ScaleDown", "nodes removed by cluster autoscaler")
            if leaving.empty:
                self._events.on_status("ScaleDownEmpty", f"Scale-down: empty node {node.name} removed")
            else:
                self._events.on_status("ScaleDown", f"Scale-down: node {node.name} removed with drain")

    def _evicted(self, outcome: Outcome) -> None:
        uid = self._evicting.pop(outcome.target, "")
        if not uid:
            return
        if outcome.ok:
            self._refused.pop(outcome.target, None)
            self._pods.happened(outcome.target, uid, "ScaleDown", "deleting pod for node scale down")
        else:
            self._refused[outcome.target] = uid


def _names(drain: Drain) -> str:
    return ",".join(key.partition("/")[2] for key in drain.pods)
