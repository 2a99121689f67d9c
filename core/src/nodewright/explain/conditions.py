"""Conditions: the state of the cluster and its groups, in the terms of Cluster Autoscaler's status."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from nodewright.api.group import GroupFacts
from nodewright.api.instance import ErrorClass
from nodewright.api.reasons import Reason
from nodewright.config.model import Settings
from nodewright.decision.findings import Findings
from nodewright.decision.health.backoff import Backoffs
from nodewright.decision.memory import Backoff, Condition, Conditions, Memory
from nodewright.decision.world import World

#: Where `Memory.conditions` has those of the whole cluster.
CLUSTER = ""
BACKOFF = "Backoff"
#: The code of a group whose cloud asked for fewer orders.
THROTTLED = "throttled"


def note_conditions(world: World, findings: Findings, memory: Memory, settings: Settings, now: datetime) -> Memory:
    """Return *memory* with the conditions of the cluster and its groups at *now*, and since when they hold.

    *memory* is that of the end of a loop on *world*; *findings* are those of its decision. Without a change the
    same memory is returned.
    """
    backoffs = backoffs_of(findings.groups, memory, settings, now)
    candidates = count_candidates(world, memory)
    found = {
        facts.id: (
            _health(not _is_unhealthy(facts, findings)),
            _scale_up(facts, findings, memory, backoffs),
            _scale_down(candidates[facts.id]),
        )
        for facts in findings.groups
    }
    growing = any(scale_up == "InProgress" for _, scale_up, _ in found.values())
    found[CLUSTER] = (
        _health(memory.health.unhealthy_since is None),
        "InProgress" if growing else "NoActivity",
        _scale_down(candidates.total()),
    )
    known = memory.status.conditions
    conditions = {name: _since(known.get(name), statuses, now) for name, statuses in found.items()}
    status = memory.status.noted(conditions)
    return memory if status is memory.status else replace(memory, status=status)


def backoffs_of(
    groups: tuple[GroupFacts, ...], memory: Memory, settings: Settings, now: datetime
) -> Mapping[str, Backoff]:
    """Return the back-off of each group that is backed off, or whose cloud asked for fewer orders."""
    backoffs = Backoffs(memory.health, settings.health.backoff, now)
    return {
        facts.id: known
        for facts in groups
        if (known := backoffs.of(facts) or _respite(facts.id, memory, now)) is not None
    }


def _respite(group: str, memory: Memory, now: datetime) -> Backoff | None:
    until = memory.health.respite(group, "grow")
    if until is None or until <= now:
        return None
    return Backoff(
        until=until,
        pause=until - now,
        failed_at=now,
        error_class=ErrorClass.OTHER,
        code=THROTTLED,
        message=f"{Reason.GROUP_THROTTLED.text}, until {until:%H:%M:%S}",
    )


def count_candidates(world: World, memory: Memory) -> Counter[str]:
    """Return the number of unneeded nodes of each group that has some."""
    return Counter(world.group_of[name] for name in memory.unneeded.since if name in world.group_of)


def _is_unhealthy(facts: GroupFacts, findings: Findings) -> bool:
    blocked = findings.blocked.get(facts.id)
    # A group that can't be read may be unhealthy.
    return blocked is not None and blocked.reason in (Reason.GROUP_UNHEALTHY, Reason.GROUP_FAULTY)


def _health(well: bool) -> str:
    return "Healthy" if well else "Unhealthy"


def _scale_up(facts: GroupFacts, findings: Findings, memory: Memory, backoffs: Mapping[str, Backoff]) -> str:
    request = memory.orders.requests.get(facts.id)
    if request is not None and request.ours:
        return "InProgress"
    if _is_unhealthy(facts, findings):
        return "Unhealthy"
    return BACKOFF if facts.id in backoffs else "NoActivity"


def _scale_down(candidates: int) -> str:
    return "CandidatesPresent" if candidates else "NoCandidates"


def _since(known: Conditions | None, statuses: tuple[str, str, str], now: datetime) -> Conditions:
    before = (known.health, known.scale_up, known.scale_down) if known else (None, None, None)
    health, scale_up, scale_down = (
        last if last is not None and last.status == status else Condition(status=status, since=now)
        for last, status in zip(before, statuses, strict=True)
    )
    return Conditions(health=health, scale_up=scale_up, scale_down=scale_down)
