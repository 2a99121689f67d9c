"""Minimum sizes: groups that are below theirs grow to it."""

from collections.abc import Sequence
from dataclasses import replace

from nodewright.api.decision import Grow
from nodewright.api.group import GroupFacts
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.health import GroupHealth
from nodewright.decision.limits import Limits


def grow_to_minimum(groups: Sequence[GroupHealth], grow: Sequence[Grow], limits: Limits) -> tuple[Grow, ...]:
    """Return *grow* with what else brings every group to its minimum, if it can grow and *limits* leave room.

    Growth for pods comes first and counts for the minimum; what is missing then is asked for along with it.
    """
    grown = {each.group: each for each in grow}
    for health in groups:
        if health.facts.id in grown:
            limits.take(health.facts, grown[health.facts.id].count)
    for health in groups:
        facts = health.facts
        known = grown.get(facts.id)
        below = facts.min_size - facts.target_size - (known.count if known else 0)
        if below < 1 or health.blocked is not None or (count := limits.allowed(facts, below)) < 1:
            continue
        grown[facts.id] = _new(facts, count) if known is None else _more(known, count, facts)
        limits.take(facts, count)
    return tuple(grown.values())


def _new(facts: GroupFacts, count: int) -> Grow:
    verdict = Verdict(reason=Reason.GROUP_BELOW_MIN, detail=f"{facts.target_size} of {facts.min_size}")
    return Grow(group=facts.id, count=count, from_size=facts.target_size, verdict=verdict)


def _more(known: Grow, count: int, facts: GroupFacts) -> Grow:
    detail = f"{known.verdict.detail}, and {count} more for its minimum of {facts.min_size}"
    return replace(known, count=known.count + count, verdict=replace(known.verdict, detail=detail))
