"""Holding decisions against vectors, field by field."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from math import isclose
from typing import Any

from nodewright.api import Reason
from nodewright.api.decision import Grow
from nodewright.api.verdict import Verdict
from nodewright.decision.memory import Memory, ScaleUpRequest
from nodewright.objects import parse_resources
from nodewright.plugins import Faults, Registry
from nodewright.runtime.strategies import Strategies
from nodewright.scenario.answer import answer
from nodewright.scenario.rehearsal import rehearse_once
from nodewright.scenario.scenario import carry_out, read_scenario
from nodewright.testing.clock import SteppedClock

from tests.parity.vectors import Vector

#: One option after the other, loop by loop, as Cluster Autoscaler has it.
ITS_WAY = {("scaleUp", "optionsPerLoop"): 1}

Answer = dict[str, Any]

#: Fields that are held against all runs of Cluster Autoscaler: any of their answers will do, and a better one, too.
_FREE = ("options", "scaleUp", "unneededNodes", "unremovableNodes", "scaleDownEmpty", "scaleDownDrain", "removableNow")


@dataclass(frozen=True, kw_only=True)
class Result:
    """How one field of one iteration compares: what differs is told, nothing if it is as good."""

    vector: str
    iteration: int
    field: str
    difference: str

    def __str__(self) -> str:
        return f"{self.vector}[{self.iteration}].{self.field}: {self.difference}"


def compare(vector: Vector) -> Iterator[Result]:
    """Decide on all iterations of *vector* and yield how each field compares.

    Each iteration begins from what Cluster Autoscaler had ordered in those before, so that one difference counts once.
    """
    scenario = read_scenario(vector.scenario, ITS_WAY)
    policy = Strategies(Registry(), Faults(SteppedClock())).policy(scenario.settings)
    world, memory = scenario.world(), scenario.memory
    for index, expected in enumerate(vector.iterations):
        before, now = memory.orders.requests, scenario.time_of(index)
        rehearsed = rehearse_once(world, memory, policy, now)
        answered = answer(rehearsed, scenario.settings)
        # Nothing on its way is left out there.
        expected = {"upcomingNodes": {}, **expected}
        for field, difference in _FIELDS.items():
            if field in expected and (vector.firm(index, field) or field in _FREE):
                firm = vector.firm(index, "unneededNodes") and vector.firm(index, "unremovableNodes")
                told = [
                    difference(answered, {**expected, **answers, "firm": firm})
                    for answers in vector.answers(index, field)
                ]
                yield Result(vector=vector.name, iteration=index, field=field, difference=min(told, key=len))
        grown = {grow["group"]: grow["delta"] for grow in expected["scaleUp"]}
        memory = _as_if_grown(rehearsed.look.memory, before, grown, now)
        told = Verdict(reason=Reason.CHOSEN)
        grow = tuple(Grow(group=group, count=count, from_size=0, verdict=told) for group, count in grown.items())
        world = carry_out(replace(rehearsed.look.decision, grow=grow), world)


def _as_if_grown(memory: Memory, before: dict[str, ScaleUpRequest], grown: dict[str, int], now: datetime) -> Memory:
    """Return *memory* with the orders that were made there in place of those that were made here.

    Among equal options it is always the first one's turn there.
    """
    requests = {
        group: before.get(group) if known.at == now else known for group, known in memory.orders.requests.items()
    }
    kept = {group: known for group, known in requests.items() if known is not None}
    ordered = {
        group: ScaleUpRequest(at=now, count=count + (kept[group].count if group in kept else 0))
        for group, count in grown.items()
    }
    return replace(memory, orders=replace(memory.orders, requests=kept | ordered, turn=0))


def _equal(field: str) -> Callable[[Answer, Answer], str]:
    def difference(answered: Answer, expected: Answer) -> str:
        found, wanted = answered.get(field), expected[field]
        return "" if found == wanted or not (found or wanted) else f"{found} is not {wanted}"

    return difference


def _same_pods(field: str) -> Callable[[Answer, Answer], str]:
    return lambda answered, expected: _sets(set(answered[field]), set(expected[field]))


def _options(answered: Answer, expected: Answer) -> str:
    """Compare what each group could do: for the same pods no more nodes, or more pods."""
    found = {option["group"]: option for option in answered["options"]}
    for wanted in expected["options"]:
        group, pods = wanted["group"], set(wanted["pods"])
        here = found.get(group, {"pods": (), "nodeCount": 0})
        # Who has a place already needs no node.
        missing = pods.difference(here["pods"], answered["filteredOutSchedulable"])
        if missing:
            return f"{group} would not help {_some(missing)}"
        if here["nodeCount"] > wanted["nodeCount"] and pods >= set(here["pods"]):
            return f"{group} would need {here['nodeCount']} nodes, not {wanted['nodeCount']}"
        if here["pods"] and (similar := here.get("similarNodeGroups")) != wanted.get("similarNodeGroups"):
            return f"{group} is like {similar}, not like {wanted.get('similarNodeGroups')}"
    return ""


def _scale_up(answered: Answer, expected: Answer) -> str:
    """Compare what is done: the same pods get help, with no more nodes."""
    nodes = [sum(grow["delta"] for grow in each["scaleUp"]) for each in (answered, expected)]
    helped = {*answered["podsTriggeredScaleUp"], *answered["filteredOutSchedulable"]}
    missing = set(expected["podsTriggeredScaleUp"]) - helped
    if missing:
        return f"no help for {_some(missing)}"
    return f"{nodes[0]} nodes, not {nodes[1]}" if nodes[0] > nodes[1] else ""


def _unneeded(answered: Answer, expected: Answer) -> str:
    """Compare which nodes could go: those that could there, or as many where its own runs differ; or more."""
    found, wanted = set(answered["unneededNodes"]), set(expected["unneededNodes"] or ())
    if wanted <= found or (not expected["firm"] and len(found & _looked_at(expected)) >= len(wanted)):
        return ""
    return f"{_some(wanted - found)} missing, of {len(wanted)}"


def _unremovable(answered: Answer, expected: Answer) -> str:
    """Compare why nodes stay, for each that was looked at there; where its own runs differ, another one may go."""
    found = {entry["node"]: entry for entry in answered["unremovableNodes"]}
    unneeded = set(answered["unneededNodes"])
    for wanted in expected["unremovableNodes"] or ():
        node = wanted["node"]
        if found.get(node) != wanted and (expected["firm"] or wanted["reason"] not in _DEPEND):
            return f"{node}: {found.get(node) or ('unneeded' if node in unneeded else 'nothing')} is not {wanted}"
    return ""


#: Reasons that depend on which other nodes were looked at before.
_DEPEND = ("NoPlaceToMovePods", "RecentlyUnremovable", "BlockedByPod", "NotUnneededLongEnough")


def _looked_at(expected: Answer) -> set[str]:
    return {*(expected["unneededNodes"] or ()), *(entry["node"] for entry in expected["unremovableNodes"] or ())}


def _empty_going(answered: Answer, expected: Answer) -> str:
    """Compare how many empty nodes go: as many, or more."""
    found, wanted = len(answered["scaleDownEmpty"]), len(expected["scaleDownEmpty"] or ())
    return f"{found} empty nodes go, not {wanted}" if found < wanted else ""


def _removable_now(answered: Answer, expected: Answer) -> str:
    """Compare which nodes might go but for how many may at once: as many of them, or more."""
    found, wanted = ({entry["node"] for entry in told["removableNow"] or ()} for told in (answered, expected))
    if wanted <= found or len(found & _looked_at(expected)) >= len(wanted):
        return ""
    return f"{_some(wanted - found)} missing, of {len(wanted)}"


def _drained(answered: Answer, expected: Answer) -> str:
    """Compare how many nodes are drained: as many, or more."""
    found, wanted = len(answered["scaleDownDrain"]), len(expected["scaleDownDrain"] or ())
    return f"{found} nodes are drained, not {wanted}" if found < wanted else ""


def _templates(answered: Answer, expected: Answer) -> str:
    found, wanted = ({group: _read(each) for group, each in told["templates"].items()} for told in (answered, expected))
    for group in sorted({*found, *wanted}):
        if (a := found.get(group)) != (b := wanted.get(group)):
            if a is None or b is None:
                return f"{group} has {'a' if b is None else 'no'} template"
            part = next(part for part in a if a[part] != b[part])
            return f"{group} has {part} {a[part]}, not {b[part]}"
    return ""


def _read(template: Answer) -> Answer:
    return {
        "labels": template["labels"],
        "taints": sorted(template.get("taints") or ()),
        "allocatable": parse_resources(template["allocatable"]),
        "capacity": parse_resources(template["capacity"]),
        "podOwners": sorted(template.get("podOwners") or ()),
    }


def _utilization(answered: Answer, expected: Answer) -> str:
    found, wanted = ({entry["node"]: entry for entry in told["utilization"]} for told in (answered, expected))
    if difference := _sets(set(found), set(wanted)):
        return difference
    for node, known in wanted.items():
        here = found[node]
        same = [isclose(here[part], known[part], rel_tol=1e-12) for part in ("util", "cpu", "mem", "gpu")]
        if not all(same) or here["resource"] != known["resource"]:
            return f"{node}: {here} is not {known}"
    return ""


def _upcoming(answered: Answer, expected: Answer) -> str:
    """Compare the nodes on their way at the beginning; what is ordered in this loop is compared as such."""
    found, wanted = (_before(told) for told in (answered, expected))
    return "" if found == wanted else f"{found} is not {wanted}"


def _before(told: Answer) -> dict[str, int]:
    ordered = {grow["group"]: grow["delta"] for grow in told["scaleUp"]}
    left = {group: count - ordered.get(group, 0) for group, count in told["upcomingNodes"].items()}
    return {group: count for group, count in left.items() if count}


def _sets(found: set[str], wanted: set[str]) -> str:
    if found == wanted:
        return ""
    return f"{_some(found - wanted)} too many, {_some(wanted - found)} missing, of {len(wanted)}"


def _some(names: set[str]) -> str:
    first = sorted(names)[:3]
    return f"{len(names)} ({', '.join(first)})" if names else "0"


_FIELDS: dict[str, Callable[[Answer, Answer], str]] = {
    "templates": _templates,
    "utilization": _utilization,
    "filteredOutSchedulable": _same_pods("filteredOutSchedulable"),
    "filteredOutExpendable": _same_pods("filteredOutExpendable"),
    "filteredOutDaemonSet": _same_pods("filteredOutDaemonSet"),
    "unschedulableToHelp": _same_pods("unschedulableToHelp"),
    "podsRemainUnschedulable": _equal("podsRemainUnschedulable"),
    "consideredNodeGroups": _equal("consideredNodeGroups"),
    "options": _options,
    "scaleUpResult": _equal("scaleUpResult"),
    "scaleUp": _scale_up,
    "upcomingNodes": _upcoming,
    "unneededNodes": _unneeded,
    "unremovableNodes": _unremovable,
    "scaleDownEmpty": _empty_going,
    "scaleDownDrain": _drained,
    "removableNow": _removable_now,
    "scaleDownResult": _equal("scaleDownResult"),
}
