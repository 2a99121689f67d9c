"""The announcer: tells people what was decided, in logs and events."""

import logging

from nodewright.api.decision import Decision, Grow, Outcome
from nodewright.api.notice import Notice
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster
from nodewright.config.model import Settings
from nodewright.decision.memory import Memory
from nodewright.decision.world import World
from nodewright.explain.narrative import tell, tell_learnt, tell_outcome
from nodewright.kube.events import EventWriter
from nodewright.runtime.group_news import GroupNews
from nodewright.runtime.pod_news import PodNews
from nodewright.runtime.removal_news import RemovalNews
from nodewright.scheduling.filters import texts

#: So many notices are remembered as told, for each ConfigMap.
_NOTICES = 1024

_log = logging.getLogger("nodewright.decision")


class Announcer:
    """Writes one log line per action, and events for pods, nodes and the autoscaler's status. For the loop's thread."""

    def __init__(self, events: EventWriter) -> None:
        self._events = events
        self._pods = PodNews(events)
        self._groups = GroupNews(events)
        self._removals = RemovalNews(events, self._pods)
        #: Growth that was begun, by group, with the pods that are there to be told of it.
        self._begun: dict[str, _Growth] = {}
        #: By ConfigMap: which version of it was there, and what was told of it.
        self._told: dict[str, tuple[str, set[Notice]]] = {}

    def explain(self, decision: Decision, before: Memory, memory: Memory, world: World, settings: Settings) -> None:
        """Tell what a loop's *decision* on *world* found out; memory is that of *before* and of afterwards."""
        self._groups.tell(decision, before, memory, world)
        most = settings.limits.nodes.max
        if most and any(map(_is_full, (*decision.pods.values(), *decision.groups.values()))):
            self._events.on_status("MaxNodesTotalReached", f"Max total nodes in cluster reached: {most}", warning=True)

    def announce(self, decision: Decision, before: Memory, world: World, settings: Settings) -> None:
        """Tell about a decision on *world* and the memory *before* that is about to be carried out."""
        cluster = world.cluster
        for line in tell(decision):
            _log.info("%s", line)
        for line in tell_learnt(decision):
            _log.info("%s", line)
            self._events.on_status("TemplateDiffers", line, warning=True)
        maximum = {facts.id: facts.max_size for facts in world.groups}
        for grow in decision.grow:
            self._begin(_Growth(grow, maximum.get(grow.group, 0), cluster))
        self._groups.begin(decision)
        self._removals.begin(decision, before, world, settings.scale_down)
        self._unhelped(decision, cluster)
        for notice in decision.notices:
            self._notice(notice, cluster)

    def report(self, outcomes: tuple[Outcome, ...]) -> None:
        """Tell how actions went: of growth that was accepted, and of everything that failed."""
        triggered: dict[tuple[str, str], list[str]] = {}
        for outcome in outcomes:
            if not outcome.ok:
                # A budget that holds a pod back is how evictions are meant to work.
                level = logging.INFO if outcome.action == "evict" and outcome.temporary else logging.WARNING
                _log.log(level, "%s", tell_outcome(outcome), extra={"action": outcome.action})
            if outcome.action == "grow":
                self._grown(outcome, triggered)
            elif not self._groups.heard(outcome):
                self._removals.heard(outcome)
        for (key, uid), groups in triggered.items():
            self._pods.happened(key, uid, "TriggeredScaleUp", f"pod triggered scale-up: [{' '.join(groups)}]")
        self._pods.deliver()

    def _begin(self, growth: "_Growth") -> None:
        self._begun[growth.group] = growth
        self._events.on_status("ScaledUpGroup", f"Scale-up: setting group {growth.group} size to {growth.change}")

    def _grown(self, outcome: Outcome, triggered: dict[tuple[str, str], list[str]]) -> None:
        growth = self._begun.pop(outcome.target, None)
        if not outcome.ok:
            told = f"Scale-up failed for group {outcome.target}: {outcome.error}"
            self._events.on_status("FailedToScaleUpGroup", told, warning=True)
        elif growth is not None:
            self._events.on_status("ScaledUpGroup", f"Scale-up: group {growth.group} size set to {growth.change}")
            for pod in growth.pods:
                triggered.setdefault(pod, []).append(growth.told)

    def _unhelped(self, decision: Decision, cluster: Cluster) -> None:
        closed = {group: verdict for group, verdict in decision.groups.items() if verdict.reason is not Reason.NO_HELP}
        known: dict[int, str] = {}

        def why(key: str) -> str:
            # Pods of one kind share what was found out about them.
            rejections = decision.rejections.get(key, {})
            told = known.get(id(rejections)) or _told({**closed, **rejections})
            known[id(rejections)] = told
            return f"pod didn't trigger scale-up: {told or decision.pods[key]}"

        unhelped = [key for key, verdict in decision.pods.items() if _is_without_option(key, verdict, decision)]
        self._pods.tell(unhelped, why, cluster, decision.at)

    def _notice(self, notice: Notice, cluster: Cluster) -> None:
        """Tell of *notice*; of one that is about a ConfigMap only if that is new, or has changed since."""
        found = cluster.config_maps.get(f"{self._events.namespace}/{notice.config_map}")
        version = found.metadata.resource_version if found else ""
        seen, told = self._told.get(notice.config_map, ("", set()))
        if seen != version or len(told) >= _NOTICES:
            told = set()
        self._told[notice.config_map] = version, told
        is_new = notice not in told
        told.add(notice)
        if is_new:
            _log.log(logging.WARNING if notice.warning else logging.INFO, "%s: %s", notice.reason, notice.message)
        if not notice.warning:
            return
        if not notice.config_map:
            # What goes on is told again, as events are forgotten after an hour.
            self._events.on_status(notice.reason, notice.message, warning=True)
        elif is_new:
            uid = found.metadata.uid if found else ""
            self._events.on_config_map(notice.config_map, notice.reason, notice.message, uid=uid, warning=True)


class _Growth:
    """Growth of a group as events tell it; the pods are those that were there when it was decided."""

    def __init__(self, grow: Grow, maximum: int, cluster: Cluster) -> None:
        size = grow.from_size + grow.count
        self.group = grow.group
        self.change = f"{size} instead of {grow.from_size} (max: {maximum})"
        self.told = f"{{{grow.group} {grow.from_size}->{size} (max: {maximum})}}"
        found = (cluster.pods.get(key) for key in grow.pods)
        self.pods = [(pod.key, pod.uid) for pod in found if pod is not None]


def _told(against: dict[str, Verdict]) -> str:
    """Return how many groups each reason speaks *against*, in Cluster Autoscaler's words where it has some."""
    reasons: dict[str, int] = {}
    for verdict in against.values():
        for reason in _words(verdict):
            reasons[reason] = reasons.get(reason, 0) + 1
    return ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))


def _words(verdict: Verdict) -> tuple[str, ...]:
    if verdict.reason is Reason.GROUP_AT_MAX:
        return (verdict.reason.text,)
    # What a scheduler says has its own form; anything else tells with its detail what is the matter.
    said = texts(verdict)
    return said if said != (verdict.reason.text,) else (str(verdict),)


def _is_full(verdict: Verdict) -> bool:
    # With a detail it is about one group, not about the cluster.
    return verdict.reason is Reason.LIMIT_NODES and not verdict.detail


def _is_without_option(key: str, verdict: Verdict, decision: Decision) -> bool:
    """Tell whether no group could have grown for the pod; one that just was not chosen may grow in the next loop."""
    if verdict.reason is not Reason.WAITING:
        return verdict.reason in (Reason.NO_GROUP_FITS, Reason.LIMIT_NODES, Reason.LIMIT_RESOURCES)
    return {option.group for option in decision.options} <= decision.rejections.get(key, {}).keys()
