"""Contradictions: what one decision says of one pod, node or group that can't be true together."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from nodewright.api import Reason
from nodewright.explain.explanation import SERVED, Look

#: What may be said of a node that is unneeded: that it goes, or why not yet.
_UNNEEDED = frozenset(
    [
        Reason.EMPTY,
        Reason.MOVABLE,
        Reason.CONSOLIDATED,
        Reason.NOT_LONG_ENOUGH,
        Reason.NOT_UNREADY_LONG_ENOUGH,
        Reason.COOLING_DOWN,
        Reason.BUDGET,
        Reason.DISRUPTION_BUDGET,
        Reason.EVICTION_LIMIT,
        Reason.SAVING_TOO_SMALL,
        Reason.LIMIT_MIN_RESOURCES,
        Reason.GROUP_AT_MIN,
        Reason.NOT_WHOLE,
        Reason.BLOCKED_ON_COMPLETION,
        Reason.PROTECTED,
        Reason.VETOED,
        Reason.LEFTOVER,
        # It was not looked at in this loop, so it keeps its time.
        Reason.NOT_EXAMINED,
        Reason.GROUP_FAULTY,
    ]
)
_GOING = frozenset([Reason.EMPTY, Reason.MOVABLE, Reason.CONSOLIDATED])
_NOT_FOR_PODS = (Reason.GROUP_BELOW_MIN, Reason.CONSOLIDATION)


def contradictions(look: Look, answer: dict[str, Any], *, every_node: bool = True) -> Iterator[str]:
    """Yield what contradicts itself in the decision of *look*, or in the *answer* made of it.

    *every_node* should have a verdict, unless scale-down is off.
    """
    yield from _of_pods(look)
    yield from _of_groups(look)
    yield from _of_nodes(look)
    if every_node:
        yield from _told("no verdict on the node", look.world.cluster.nodes.keys() - look.decision.nodes.keys())
    yield from _of_answer(answer)


def _of_pods(look: Look) -> Iterator[str]:
    decision = look.decision
    grown = {(key, grow.group) for grow in decision.grow for key in grow.pods}
    helped = {(key, verdict.detail) for key, verdict in decision.pods.items() if verdict.reason is Reason.HELPED}
    yield from _told("the pod is helped by one group and said to be by another, or none", grown ^ helped)
    known = decision.rejections.keys() - decision.pods.keys()
    yield from _told("the pod has refusals and no verdict", known)
    served = {key for key, verdict in decision.pods.items() if verdict.reason in SERVED}
    yield from _told(
        "the pod has a place, and refusals from where it is",
        (
            (key, group)
            for key in served
            for group in decision.rejections.get(key, ())
            if decision.pods[key].reason is Reason.FITS or group == decision.pods[key].detail
        ),
    )
    able = {group.id for group in look.findings.groups} - decision.groups.keys()
    for key, verdict in decision.pods.items():
        if verdict.reason is Reason.NO_GROUP_FITS:
            refusing = decision.rejections.get(key, {}).keys()
            yield from _told(
                "the pod fits no group, and one does not refuse it", ((key, group) for group in able - refusing)
            )


def _of_groups(look: Look) -> Iterator[str]:
    decision = look.decision
    growing = {grow.group for grow in decision.grow}
    for_pods = {grow.group for grow in decision.grow if grow.verdict.reason not in _NOT_FOR_PODS}
    yield from _told("the group grows, and took no part", for_pods & decision.groups.keys())
    yield from _told("the group grows, and can't", growing & look.findings.blocked.keys())
    yield from _told("the group grows and shrinks", growing & {shrink.group for shrink in decision.shrink})
    idle = {grow.group for grow in decision.grow if not grow.pods}
    yield from _told("the group grows for no pod", for_pods & idle)
    chosen = {option.group for option in decision.options if option.verdict.reason is Reason.CHOSEN}
    yield from _told("options are taken, and no group grows", chosen if not for_pods else ())
    yield from _told("the option was taken, and its group took no part", chosen & decision.groups.keys())
    per_round = Counter((option.group, option.round) for option in decision.options)
    yield from _told("the option is judged twice", (key for key, count in per_round.items() if count > 1))


def _of_nodes(look: Look) -> Iterator[str]:
    decision, memory = look.decision, look.memory
    draining = {drain.node for drain in decision.drain}
    deleted = {name for delete in decision.delete for name in delete.nodes if name in look.world.cluster.nodes}
    restored = {restore.node for restore in decision.restore}
    leaving = memory.leaving.removals.keys()
    if decision.halted is None:
        for name in sorted(decision.nodes):
            verdict = decision.nodes[name]
            if name in draining and verdict.reason not in _GOING:
                yield f"the node is drained, and stays: {name} {verdict.reason}"
            if name in deleted and verdict.reason is not Reason.BEING_DELETED:
                yield f"the node is deleted, and said not to be: {name} {verdict.reason}"
            if name in memory.unneeded.since and verdict.reason not in _UNNEEDED:
                yield f"the node is unneeded, and needed: {name} {verdict.reason}"
            if verdict.reason in _GOING and name not in draining:
                yield f"the node may go, and does not: {name} {verdict.reason}"
    yield from _told("the node is drained and deleted", draining & deleted)
    yield from _told("the node is drained and restored", draining & restored)
    yield from _told("the node is deleted and restored", deleted & restored)
    yield from _told("the node is restored and leaving", restored & (leaving - draining))
    yield from _told("the node is drained and not leaving", draining - leaving)
    yield from _told("the node is evicted from, and restored", restored & {evict.node for evict in decision.evict})
    yield from _told("the node is evicted from, and not leaving", {evict.node for evict in decision.evict} - leaving)
    yield from _told("the node is deleted and unneeded", deleted & memory.unneeded.since.keys())
    marked = {taint.node for taint in decision.soft_taint}
    cleared = {taint.node for taint in decision.soft_untaint}
    yield from _told("the node is marked and cleared", marked & cleared)
    yield from _told("the node is marked, and needed", marked - memory.unneeded.since.keys())


def _of_answer(answer: dict[str, Any]) -> Iterator[str]:
    places = {
        field: set(answer[field])
        for field in ("podsTriggeredScaleUp", "filteredOutSchedulable", "filteredOutExpendable", "filteredOutDaemonSet")
    }
    places["podsRemainUnschedulable"] = {entry["pod"] for entry in answer["podsRemainUnschedulable"]}
    for pod, count in Counter(pod for pods in places.values() for pod in pods).items():
        if count > 1:
            yield f"the pod is in {count} lists: {pod} {[field for field in places if pod in places[field]]}"
    now = {entry["node"] for entry in answer["removableNow"]}
    going = {*answer["scaleDownEmpty"], *(entry["node"] for entry in answer["scaleDownDrain"])}
    # Cluster Autoscaler counts a node that waits for the end of a pod among both.
    stays = {e["node"] for e in answer["unremovableNodes"] if e["reason"] != Reason.BLOCKED_ON_COMPLETION}
    yield from _told("the node may go now, and can't", now & stays)
    yield from _told("the node goes, and can't", going & stays)
    yield from _told("the node goes, and may not now", going - now)
    yield from _told("the node may go, and is needed", now - set(answer["unneededNodes"]))


def _told(what: str, subjects: Iterable[object]) -> Iterator[str]:
    for subject in sorted(subjects, key=str):
        yield f"{what}: {subject}"
