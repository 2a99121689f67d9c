"""The announcer: tells people what was decided, in logs and events."""

import logging
from itertools import islice

from nodewright.api.decision import Decision, DeleteInstances, Drain, Grow, Outcome, Restore
from nodewright.api.notice import Notice
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster
from nodewright.kube.events import EventWriter
from nodewright.objects import Node
from nodewright.record.narrative import tell, tell_learnt, tell_outcome
from nodewright.world import World

#: So many pods get an event of their own in one loop; the log line has them all in any case.
_POD_EVENTS = 50
#: So many notices are remembered as told, for each ConfigMap.
_NOTICES = 1024

_log = logging.getLogger("nodewright.decision")


class Announcer:
    """Writes one log line per action, and events for pods, nodes and the autoscaler's status. For the loop's thread."""

    def __init__(self, events: EventWriter) -> None:
        self._events = events
        #: Growth that was begun, by group, with the pods that are there to be told of it.
        self._begun: dict[str, _Growth] = {}
        #: Nodes that are to be marked, and pods that were asked to leave, with their uids.
        self._marking: dict[str, Node] = {}
        self._asked: dict[str, str] = {}
        #: Deletions that were begun, by what their outcomes name.
        self._leaving: dict[str, _Leaving] = {}
        #: By ConfigMap: which version of it was there, and what was told of it.
        self._told: dict[str, tuple[str, set[Notice]]] = {}

    def announce(self, decision: Decision, world: World) -> None:
        """Tell about a decision on *world* that is about to be carried out."""
        cluster = world.cluster
        for line in tell(decision):
            _log.info("%s", line)
        for line in tell_learnt(decision):
            _log.info("%s", line)
            self._events.on_status("TemplateDiffers", line, warning=True)
        maximum = {facts.id: facts.max_size for facts in world.groups}
        for grow in decision.grow:
            self._begin(_Growth(grow, maximum.get(grow.group, 0), cluster))
        for drain in decision.drain:
            self._removal(drain, cluster)
        for evict in decision.evict:
            self._asked.update(islice(evict.uids.items(), _POD_EVENTS))
        for delete in decision.delete:
            self._leaving[delete.target] = _Leaving(delete, cluster)
        for restore in decision.restore:
            self._restored(restore, cluster)
        self._unhelped(decision, cluster)
        for notice in decision.notices:
            self._notice(notice, cluster)

    def report(self, outcomes: tuple[Outcome, ...]) -> None:
        """Tell how actions went: of growth that was accepted, and of everything that failed."""
        triggered: dict[tuple[str, str], list[str]] = {}
        for outcome in outcomes:
            if not outcome.ok:
                self._failure(outcome)
            elif outcome.action == "grow" and (growth := self._begun.pop(outcome.target, None)):
                self._events.on_status("ScaledUpGroup", f"Scale-up: group {outcome.target} size set to {growth.size}")
                for pod in growth.pods:
                    triggered.setdefault(pod, []).append(f"{{{outcome.target} {growth.size}}}")
            elif outcome.action == "delete-instances" and (leaving := self._leaving.pop(outcome.target, None)):
                self._left(leaving)
            elif outcome.action == "drain" and (node := self._marking.pop(outcome.target, None)):
                self._events.on_node(node, "ScaleDown", "marked the node as toBeDeleted/unschedulable")
            elif outcome.action == "evict" and (uid := self._asked.pop(outcome.target, "")):
                self._events.on_pod(outcome.target, uid, "ScaleDown", "deleting pod for node scale down")
        for (key, uid), groups in triggered.items():
            self._events.on_pod(key, uid, "TriggeredScaleUp", f"pod triggered scale-up: [{' '.join(groups)}]")

    def _begin(self, growth: "_Growth") -> None:
        self._begun[growth.group] = growth
        self._events.on_status("ScaledUpGroup", f"Scale-up: setting group {growth.group} size to {growth.size}")

    def _failure(self, outcome: Outcome) -> None:
        # A budget that holds a pod back is how evictions are meant to work.
        level = logging.INFO if outcome.action == "evict" and outcome.temporary else logging.WARNING
        _log.log(level, "%s", tell_outcome(outcome), extra={"action": outcome.action})
        self._marking.pop(outcome.target, None)
        self._asked.pop(outcome.target, None)
        if outcome.action == "delete-instances":
            self._leaving.pop(outcome.target, None)
        if outcome.action == "grow":
            self._begun.pop(outcome.target, None)
            self._events.on_status(
                "FailedToScaleUpGroup", f"Scale-up failed for group {outcome.target}: {outcome.error}", warning=True
            )

    def _removal(self, drain: Drain, cluster: Cluster) -> None:
        if node := cluster.nodes.get(drain.node):
            self._marking[drain.node] = node
        reason = "ScaleDown" if drain.pods else "ScaleDownEmpty"
        moving = f", pods to reschedule: {', '.join(drain.pods[:_POD_EVENTS])}" if drain.pods else ""
        self._events.on_status(reason, f"Scale-down: removing node {drain.node}{moving}")

    def _left(self, leaving: "_Leaving") -> None:
        reason = "ScaleDownEmpty" if leaving.verdict.reason is Reason.EMPTY else "ScaleDown"
        for node in leaving.nodes:
            self._events.on_node(node, "ScaleDown", "node removed by cluster autoscaler")
            self._events.on_status(reason, f"Scale-down: node {node.name} removed")

    def _restored(self, restore: Restore, cluster: Cluster) -> None:
        node = cluster.nodes.get(restore.node)
        if node is None:
            return
        if restore.verdict.reason is Reason.LEFTOVER:
            self._events.on_node(node, "ClusterAutoscalerCleanup", "marking the node as schedulable")
        else:
            why = restore.verdict.detail
            self._events.on_node(node, "ScaleDownFailed", f"failed to remove the node: {why}", warning=True)

    def _unhelped(self, decision: Decision, cluster: Cluster) -> None:
        unhelped = [key for key, verdict in decision.pods.items() if _is_without_option(key, verdict, decision)]
        closed = {group: verdict for group, verdict in decision.groups.items() if verdict.reason is not Reason.NO_HELP}
        for key in unhelped[:_POD_EVENTS]:
            reasons: dict[str, int] = {}
            for verdict in {**closed, **decision.rejections.get(key, {})}.values():
                reasons[str(verdict)] = reasons.get(str(verdict), 0) + 1
            told = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
            told = told or str(decision.pods[key])
            if pod := cluster.pods.get(key):
                self._events.on_pod(pod.key, pod.uid, "NotTriggerScaleUp", f"pod didn't trigger scale-up: {told}")

    def _notice(self, notice: Notice, cluster: Cluster) -> None:
        """Tell of *notice* unless that was done already and the ConfigMap that it is about has not changed since."""
        found = cluster.config_maps.get(f"{self._events.namespace}/{notice.config_map}")
        version = found.metadata.resource_version if found else ""
        seen, told = self._told.get(notice.config_map, ("", set()))
        if seen != version or len(told) >= _NOTICES:
            told = set()
        self._told[notice.config_map] = version, told
        if notice in told:
            return
        told.add(notice)
        _log.log(logging.WARNING if notice.warning else logging.INFO, "%s: %s", notice.reason, notice.message)
        if not notice.warning:
            return
        if notice.config_map:
            uid = found.metadata.uid if found else ""
            self._events.on_config_map(notice.config_map, notice.reason, notice.message, uid=uid, warning=True)
        else:
            self._events.on_status(notice.reason, notice.message, warning=True)


class _Growth:
    """Growth of a group as events tell it; the pods are those that were there when it was decided."""

    def __init__(self, grow: Grow, maximum: int, cluster: Cluster) -> None:
        self.group = grow.group
        self.size = f"{grow.from_size}->{grow.from_size + grow.count} (max: {maximum})"
        found = (cluster.pods.get(key) for key in grow.pods[:_POD_EVENTS])
        self.pods = [(pod.key, pod.uid) for pod in found if pod is not None]


class _Leaving:
    """Nodes whose machines are deleted, as events tell it: they may be gone when the cloud has answered."""

    def __init__(self, delete: DeleteInstances, cluster: Cluster) -> None:
        self.verdict = delete.verdict
        self.nodes = [node for name in delete.nodes if (node := cluster.nodes.get(name)) is not None]


def _is_without_option(key: str, verdict: Verdict, decision: Decision) -> bool:
    """Tell whether no group could have grown for the pod; one that just was not chosen may grow in the next loop."""
    if verdict.reason is not Reason.WAITING:
        return verdict.reason in (Reason.NO_GROUP_FITS, Reason.LIMIT_NODES, Reason.LIMIT_RESOURCES)
    return {option.group for option in decision.options} <= decision.rejections.get(key, {}).keys()
