"""What people read of decisions and their outcomes: log lines and events."""

import logging
from collections.abc import Callable

from nodewright.api.decision import Decision, Grow, Outcome
from nodewright.api.notice import Notice
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster
from nodewright.config.model import Settings
from nodewright.decision.memory import Memory
from nodewright.decision.world import World
from nodewright.explain.narrative import describe_actions, describe_failure, describe_learnt
from nodewright.kube.events import EventWriter
from nodewright.runtime.reporting.group_events import GroupEvents
from nodewright.runtime.reporting.pod_events import PodEvents
from nodewright.runtime.reporting.removal_events import RemovalEvents
from nodewright.scheduling.filters import texts

#: How many notices are remembered as reported, for each ConfigMap.
_NOTICES = 1024

_log = logging.getLogger("nodewright.decision")


class DecisionEvents:
    """Writes one log line per action, and events on pods, nodes and the autoscaler's status. For the loop's thread.

    *told* says of an error whether it was logged in full elsewhere.
    """

    def __init__(self, events: EventWriter, told: Callable[[str], bool] = lambda error: False) -> None:
        self._events = events
        self._told = told
        self._pods = PodEvents(events)
        self._groups = GroupEvents(events)
        self._removals = RemovalEvents(events, self._pods)
        #: Growth that was begun, by group, with the pods that get an event when it was accepted.
        self._begun: dict[str, _Growth] = {}
        #: By ConfigMap: the version that was there, and what was reported of it.
        self._reported: dict[str, tuple[str, set[Notice]]] = {}

    def decided(self, decision: Decision, before: Memory, memory: Memory, world: World, settings: Settings) -> None:
        """Report what *decision* found out; it was made on *world* and the memory *before*, and left *memory*."""
        self._groups.decided(decision, before, memory, world)
        most = settings.limits.nodes.max
        if most and any(map(_is_full, (*decision.pods.values(), *decision.groups.values()))):
            self._events.on_status("MaxNodesTotalReached", f"Max total nodes in cluster reached: {most}", warning=True)

    def acting(self, decision: Decision, before: Memory, world: World, settings: Settings) -> None:
        """Report *decision*, made on *world* and the memory *before*, which is about to be carried out."""
        cluster = world.cluster
        for line in describe_actions(decision):
            _log.info("%s", line)
        for line in describe_learnt(decision):
            _log.info("%s", line)
            self._events.on_status("TemplateDiffers", line, warning=True)
        maximum = {facts.id: facts.max_size for facts in world.groups}
        for grow in decision.grow:
            self._begin(_Growth(grow, maximum.get(grow.group, 0), cluster))
        self._groups.acting(decision)
        self._removals.acting(decision, before, world, settings.scale_down)
        self._report_unhelped(decision, cluster)
        for notice in decision.notices:
            self._report_notice(notice, cluster)

    def acted(self, outcomes: tuple[Outcome, ...]) -> None:
        """Report how actions went: growth that was accepted, and everything that failed."""
        triggered: dict[tuple[str, str], list[str]] = {}
        for outcome in outcomes:
            if not outcome.ok:
                # That a budget holds a pod back is normal.
                level = logging.INFO if outcome.action == "evict" and outcome.temporary else logging.WARNING
                level = logging.DEBUG if self._told(outcome.error) else level
                _log.log(level, "%s", describe_failure(outcome), extra={"action": outcome.action})
            if outcome.action == "grow":
                self._grown(outcome, triggered)
            elif not self._groups.acted(outcome):
                self._removals.acted(outcome)
        for (key, uid), groups in triggered.items():
            self._pods.happened(key, uid, "TriggeredScaleUp", f"pod triggered scale-up: [{' '.join(groups)}]")
        self._pods.deliver()

    def _begin(self, growth: "_Growth") -> None:
        self._begun[growth.group] = growth
        self._events.on_status("ScaledUpGroup", f"Scale-up: setting group {growth.group} size to {growth.change}")

    def _grown(self, outcome: Outcome, triggered: dict[tuple[str, str], list[str]]) -> None:
        growth = self._begun.pop(outcome.target, None)
        if not outcome.ok:
            message = f"Scale-up failed for group {outcome.target}: {outcome.error}"
            self._events.on_status("FailedToScaleUpGroup", message, warning=True)
        elif growth is not None:
            self._events.on_status("ScaledUpGroup", f"Scale-up: group {growth.group} size set to {growth.change}")
            for pod in growth.pods:
                triggered.setdefault(pod, []).append(growth.summary)

    def _report_unhelped(self, decision: Decision, cluster: Cluster) -> None:
        closed = {group: verdict for group, verdict in decision.groups.items() if verdict.reason is not Reason.NO_HELP}
        known: dict[int, str] = {}

        def why(key: str) -> str:
            # Pods of one kind share their rejections: count the reasons once.
            rejections = decision.rejections.get(key, {})
            reasons = known.get(id(rejections)) or _count_reasons({**closed, **rejections})
            known[id(rejections)] = reasons
            return f"pod didn't trigger scale-up: {reasons or decision.pods[key]}"

        unhelped = [key for key, verdict in decision.pods.items() if _is_without_option(key, verdict, decision)]
        self._pods.write(unhelped, why, cluster, decision.at)

    def _report_notice(self, notice: Notice, cluster: Cluster) -> None:
        """Report *notice*. One about a ConfigMap is reported once for each version of it."""
        found = cluster.config_maps.get(f"{self._events.namespace}/{notice.config_map}")
        version = found.metadata.resource_version if found else ""
        seen, reported = self._reported.get(notice.config_map, ("", set()))
        if seen != version or len(reported) >= _NOTICES:
            reported = set()
        self._reported[notice.config_map] = version, reported
        is_new = notice not in reported
        reported.add(notice)
        if is_new:
            _log.log(logging.WARNING if notice.warning else logging.INFO, "%s: %s", notice.reason, notice.message)
        if not notice.warning:
            return
        if not notice.config_map:
            # Write it in each loop while it holds: Kubernetes deletes events after an hour.
            self._events.on_status(notice.reason, notice.message, warning=True)
        elif is_new:
            uid = found.metadata.uid if found else ""
            self._events.on_config_map(notice.config_map, notice.reason, notice.message, uid=uid, warning=True)


class _Growth:
    """Growth of a group in the words of events, with the pods that were there when it was decided."""

    def __init__(self, grow: Grow, maximum: int, cluster: Cluster) -> None:
        size = grow.from_size + grow.count
        self.group = grow.group
        self.change = f"{size} instead of {grow.from_size} (max: {maximum})"
        self.summary = f"{{{grow.group} {grow.from_size}->{size} (max: {maximum})}}"
        found = (cluster.pods.get(key) for key in grow.pods)
        self.pods = [(pod.key, pod.uid) for pod in found if pod is not None]


def _count_reasons(against: dict[str, Verdict]) -> str:
    """Return how many groups each reason *against* them holds for, in Cluster Autoscaler's words if it has some."""
    reasons: dict[str, int] = {}
    for verdict in against.values():
        for reason in _words(verdict):
            reasons[reason] = reasons.get(reason, 0) + 1
    return ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))


def _words(verdict: Verdict) -> tuple[str, ...]:
    if verdict.reason is Reason.GROUP_AT_MAX:
        return (verdict.reason.text,)
    # A scheduler's reasons have a form of their own. Any other reason is understood only with its detail.
    reasons = texts(verdict)
    return reasons if reasons != (verdict.reason.text,) else (str(verdict),)


def _is_full(verdict: Verdict) -> bool:
    # A detail means that it is about one group, not about the cluster.
    return verdict.reason is Reason.LIMIT_NODES and not verdict.detail


def _is_without_option(key: str, verdict: Verdict, decision: Decision) -> bool:
    """Return whether no group could have grown for the pod. One that was just not chosen may grow in the next loop."""
    if verdict.reason is not Reason.WAITING:
        return verdict.reason in (Reason.NO_GROUP_FITS, Reason.LIMIT_NODES, Reason.LIMIT_RESOURCES)
    return {option.group for option in decision.options} <= decision.rejections.get(key, {}).keys()
