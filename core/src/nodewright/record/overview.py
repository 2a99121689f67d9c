"""A whole decision on one page: what is done, and tables of groups, of pods that wait and of nodes."""

from collections.abc import Iterable

from nodewright.api.reasons import Reason
from nodewright.record.explanation import Look, explain_growth, goes
from nodewright.record.narrative import tell
from nodewright.scheduling.reasons import texts

#: Pods that need no more help.
_SERVED = (Reason.FITS, Reason.HELPED)
#: So many pods that wait for the same reasons are named.
_NAMED = 3

Row = tuple[str, ...]


def overview(look: Look) -> tuple[list[str], list[list[Row]]]:
    """Return lines about what is done, and tables with a header each; those that would be empty are left out."""
    lines = tell(look.decision) or ["nothing to do"]
    if look.decision.halted is not None:
        lines.append(str(look.decision.halted))
    tables = [
        [("GROUP", "SIZE", "COMING", "GROWTH"), *_groups(look)],
        [("PODS", "WHICH WAIT", "WHY"), *_waiting(look)],
        [("NODE", "GROUP", "USED", "VERDICT"), *_nodes(look)],
    ]
    return lines, [table for table in tables if len(table) > 1]


def _groups(look: Look) -> Iterable[Row]:
    for group in look.particulars.groups:
        coming = look.particulars.upcoming.get(group.id, 0)
        yield group.id, str(group.target_size), str(coming), explain_growth(look.decision, group.id)


def _waiting(look: Look) -> Iterable[Row]:
    """Yield pods that wait for the same reasons as one row."""
    alike: dict[str, list[str]] = {}
    for key, verdict in look.decision.pods.items():
        if verdict.reason not in _SERVED:
            alike.setdefault("; ".join((str(verdict), *_against(look, key))), []).append(key)
    for why, keys in alike.items():
        more = ", …" if len(keys) > _NAMED else ""
        yield str(len(keys)), ", ".join(sorted(keys)[:_NAMED]) + more, why


def _against(look: Look, key: str) -> Iterable[str]:
    for group, verdict in sorted(look.decision.rejections.get(key, {}).items()):
        yield f"{group}: {', '.join(texts(verdict))}"


def _nodes(look: Look) -> Iterable[Row]:
    for name in sorted(look.world.cluster.nodes):
        used = look.particulars.utilization.get(name)
        verdict = look.decision.nodes.get(name)
        yield (
            name,
            look.world.group_of.get(name, "-"),
            "-" if used is None else f"{used.value:.0%}",
            ("goes: " if goes(look.decision, name) else "")
            + (str(verdict) if verdict is not None else "nobody looked at it"),
        )
