"""Holding decisions against vectors, field by field."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from math import isclose
from typing import Any

from nodewright.api import Decision, GroupFacts, Reason
from nodewright.api.decision import Grow
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster
from nodewright.decide import Particulars, decide
from nodewright.memory import Memory, ScaleUpRequest
from nodewright.objects import parse_resources
from nodewright.record.answer import describe_template, left_out, with_ordered
from nodewright.record.scenario import Scenario, carry_out, read_scenario
from nodewright.scheduling.reasons import texts
from nodewright.testing.worlds import a_policy

from tests.parity.vectors import Vector

_SKIPPED = (
    Reason.GROUP_UNHEALTHY,
    Reason.GROUP_AT_MAX,
    Reason.GROUP_BACKED_OFF,
    Reason.GROUP_NO_TEMPLATE,
    Reason.GROUP_FAULTY,
)


_OMITTED_IF_EMPTY = ("upcomingNodes",)


@dataclass(frozen=True, kw_only=True)
class Result:
    """How one field of one iteration compares: what differs is told, nothing if it is the same."""

    vector: str
    iteration: int
    field: str
    difference: str

    def __str__(self) -> str:
        return f"{self.vector}[{self.iteration}].{self.field}: {self.difference}"


@dataclass(frozen=True, kw_only=True)
class _Iteration:
    """One iteration as it was decided here and there."""

    expected: dict[str, Any]
    scenario: Scenario
    cluster: Cluster
    decision: Decision
    particulars: Particulars


def compare(vector: Vector) -> Iterator[Result]:
    """Decide on all iterations of *vector* and yield how each firm field compares.

    Each iteration begins from what Cluster Autoscaler had ordered in those before, so that one difference counts once.
    """
    scenario = read_scenario(vector.scenario)
    policy = a_policy(scenario.settings)
    world, memory = scenario.world(), scenario.memory
    for index, expected in enumerate(vector.iterations):
        particulars = Particulars()
        before = memory.requests
        decision, memory = decide(world, memory, policy, scenario.time_of(index), particulars)
        iteration = _Iteration(
            expected=expected, scenario=scenario, cluster=world.cluster, decision=decision, particulars=particulars
        )
        for field, difference in _FIELDS.items():
            name = field.partition(".")[0]
            if (name in expected or name in _OMITTED_IF_EMPTY) and vector.firm(index, name):
                yield Result(vector=vector.name, iteration=index, field=field, difference=difference(iteration))
        grown = {grow["group"]: grow["delta"] for grow in expected["scaleUp"]}
        memory = _as_if_grown(memory, before, grown, scenario.time_of(index))
        told = Verdict(reason=Reason.CHOSEN)
        grow = tuple(Grow(group=group, count=count, from_size=0, verdict=told) for group, count in grown.items())
        world = carry_out(replace(decision, grow=grow), world)


def _as_if_grown(memory: Memory, before: dict[str, ScaleUpRequest], grown: dict[str, int], now: datetime) -> Memory:
    """Return *memory* with the orders that were made there in place of those that were made here."""
    requests = {group: before.get(group) if known.at == now else known for group, known in memory.requests.items()}
    kept = {group: known for group, known in requests.items() if known is not None}
    ordered = {
        group: ScaleUpRequest(at=now, count=count + (kept[group].count if group in kept else 0))
        for group, count in grown.items()
    }
    return replace(memory, requests=kept | ordered)


def _pods_told(reason: Reason) -> Callable[[_Iteration], str]:
    def difference(it: _Iteration) -> str:
        found = {key for key, verdict in it.decision.pods.items() if verdict.reason is reason}
        return _sets(found, set(it.expected[_FIELD_OF[reason]]))

    return difference


_FIELD_OF = {
    Reason.FITS: "filteredOutSchedulable",
    Reason.EXPENDABLE: "filteredOutExpendable",
    Reason.DAEMON: "filteredOutDaemonSet",
}


def _to_help(it: _Iteration) -> str:
    pods = {} if it.decision.halted else it.decision.pods
    found = {key for key, verdict in pods.items() if verdict.reason not in _FIELD_OF}
    return _sets(found, set(it.expected["unschedulableToHelp"]))


def _templates(it: _Iteration) -> str:
    found = {group.id: _described(group, it.cluster) for group in it.particulars.groups if group.template is not None}
    wanted = {
        group: {
            "labels": known["labels"],
            "taints": sorted(known.get("taints") or ()),
            "allocatable": parse_resources(known["allocatable"]),
            "capacity": parse_resources(known["capacity"]),
            "podOwners": sorted(known.get("podOwners") or ()),
        }
        for group, known in it.expected["templates"].items()
    }
    for group in sorted({*found, *wanted}):
        if (a := found.get(group)) != (b := wanted.get(group)):
            if a is None or b is None:
                return f"{group} has {'a' if b is None else 'no'} template"
            part = next(part for part in a if a[part] != b[part])
            return f"{group} has {part} {a[part]}, not {b[part]}"
    return ""


def _described(group: GroupFacts, cluster: Cluster) -> dict[str, Any]:
    described = describe_template(group, cluster)
    return described | {part: parse_resources(described[part]) for part in ("allocatable", "capacity")}


def _utilization(it: _Iteration) -> str:
    found = it.particulars.utilization
    wanted = {entry["node"]: entry for entry in it.expected["utilization"]}
    if difference := _sets(set(found), set(wanted)):
        return difference
    for node, known in wanted.items():
        here = found[node]
        resource = (
            "memory" if here.gpu is None and not here.of_cpu else "cpu" if here.gpu is None else known["resource"]
        )
        same = [
            isclose(a, b, rel_tol=1e-12)
            for a, b in ((here.value, known["util"]), (here.cpu, known["cpu"]), (here.memory, known["mem"]))
        ]
        if not all(same) or resource != known["resource"] or not isclose(here.gpu or 0, known["gpu"], rel_tol=1e-12):
            return f"{node}: {here} is not {known}"
    return ""


def _rejections(it: _Iteration) -> str:
    for entry in it.expected["podsRemainUnschedulable"]:
        pod, told = entry["pod"], it.decision.rejections.get(entry["pod"], {})
        for group, reasons in (entry.get("rejected") or {}).items():
            verdict = told.get(group)
            found = None if verdict is None else list(texts(verdict))
            if found != reasons:
                state = it.decision.groups.get(group)
                return f"{pod} on {group}: {found} is not {reasons}" + (f" ({group}: {state})" if state else "")
    return ""


def _hopeless(it: _Iteration) -> str:
    """Compare which pods fit no group that could grow, here or there."""
    wanted = {entry["pod"] for entry in it.expected["podsRemainUnschedulable"]}
    skipped_there = {
        group for entry in it.expected["podsRemainUnschedulable"] for group in (entry.get("skipped") or ())
    }
    skipped = {group for group, verdict in it.decision.groups.items() if verdict.reason in _SKIPPED} | skipped_there
    valid = {group.id for group in it.scenario.groups} - skipped
    found = {
        key
        for key, verdict in it.decision.pods.items()
        if verdict.reason not in _FIELD_OF and valid <= it.decision.rejections.get(key, {}).keys()
    }
    return _sets(found, wanted)


def _skips(it: _Iteration) -> str:
    """Compare why groups took no part; limits on resources are still to come."""
    for entry in it.expected["podsRemainUnschedulable"]:
        for group, reasons in (entry.get("skipped") or {}).items():
            verdict = it.decision.groups.get(group)
            found = None if verdict is None else left_out(verdict)
            if [found] != reasons and not reasons[0].startswith("exceeded quota"):
                return f"{group}: {verdict} is not {reasons}"
    return ""


def _upcoming(it: _Iteration) -> str:
    """Compare the nodes on their way, with what was ordered in this loop there."""
    ordered = {grow["group"]: grow["delta"] for grow in it.expected["scaleUp"]}
    found, wanted = with_ordered(it.particulars, ordered), it.expected.get("upcomingNodes", {})
    return "" if found == wanted else f"{found} is not {wanted}"


def _sets(found: set[str], wanted: set[str]) -> str:
    if found == wanted:
        return ""
    return f"{_some(found - wanted)} too many, {_some(wanted - found)} missing, of {len(wanted)}"


def _some(names: set[str]) -> str:
    first = sorted(names)[:3]
    return f"{len(names)} ({', '.join(first)})" if names else "0"


_FIELDS: dict[str, Callable[[_Iteration], str]] = {
    "templates": _templates,
    "utilization": _utilization,
    "filteredOutSchedulable": _pods_told(Reason.FITS),
    "filteredOutExpendable": _pods_told(Reason.EXPENDABLE),
    "filteredOutDaemonSet": _pods_told(Reason.DAEMON),
    "unschedulableToHelp": _to_help,
    "upcomingNodes": _upcoming,
    "podsRemainUnschedulable": _hopeless,
    "podsRemainUnschedulable.rejected": _rejections,
    "podsRemainUnschedulable.skipped": _skips,
}
