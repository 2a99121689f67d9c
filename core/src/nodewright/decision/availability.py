"""Availability: whether clouds have enough machines left for groups to grow, where they tell."""

from nodewright.api.group import GroupFacts
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict


def none_available(facts: GroupFacts) -> Verdict | None:
    """Return what forbids more nodes of a group because its cloud has too few machines left; None if it has enough.

    A group that is used whole or not at all needs all that it lacks.
    """
    needed = facts.max_size - facts.target_size if facts.options.zero_or_max_node_scaling else 1
    if facts.available is None or facts.available >= needed:
        return None
    detail = f"{facts.available} of {needed} that it needs" if needed > 1 else ""
    return Verdict(reason=Reason.NONE_AVAILABLE, detail=detail)
