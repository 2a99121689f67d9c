"""A whole decision on one page: what is done, what can't be read, and tables of groups, waiting pods and nodes."""

from collections.abc import Iterable, Mapping
from datetime import timedelta

from nodewright.api.decision import Decision
from nodewright.api.group_name import names_of_groups
from nodewright.explain.advice import informative_verdict
from nodewright.explain.explanation import SERVED, explain_growth
from nodewright.explain.look import Look, goes, unreadable
from nodewright.explain.narrative import describe_actions
from nodewright.objects.duration import format_duration
from nodewright.scheduling.filters import texts

#: How many pods that wait, or nodes that stay, are named of those with the same reasons.
_NAMED = 3

Row = tuple[str, ...]


def overview(look: Look) -> tuple[list[str], list[list[Row]]]:
    """Return lines about what is done, and tables, each with a header; empty tables are left out."""
    lines = describe_actions(look.decision) or ["nothing to do"]
    if look.decision.halted is not None:
        lines.append(str(look.decision.halted))
    lines += [fault for _, fault in unreadable(look.world)]
    names = names_of_groups(group.id for group in look.findings.groups)
    tables = [
        [("GROUP", "SIZE", "COMING", "GROWTH"), *_groups(look, names)],
        [("PODS", "WHICH WAIT", "WHY"), *_waiting(look, names)],
        [("NODES", "CODE", "WHICH"), *_reasons(look)],
        [("NODE", "GROUP", "USED", "FOR", "VERDICT"), *_nodes(look, names)],
    ]
    return lines, [table for table in tables if len(table) > 1]


def summary(decision: Decision) -> str:
    """Return in one line what *decision* comes to."""
    grown = {each.group for each in decision.grow}
    parts = (
        _counted(len(grown), "group grows", "groups grow")
        + (f" by {_counted(sum(each.count for each in decision.grow), 'node', 'nodes')}" if grown else ""),
        _counted(sum(each.count for each in decision.shrink), "ordered node given up", "ordered nodes given up"),
        _counted(sum(len(each.instances) for each in decision.delete), "machine deleted", "machines deleted"),
        _counted(len(decision.drain), "node drains", "nodes drain"),
        _counted(sum(each.reason not in SERVED for each in decision.pods.values()), "pod waits", "pods wait"),
    )
    return ", ".join(filter(None, parts)) or "nothing grows, nothing drains, no pod waits"


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}" if number else ""


def _groups(look: Look, names: Mapping[str, str]) -> Iterable[Row]:
    for group in look.findings.groups:
        coming = look.findings.upcoming.get(group.id, 0)
        yield names[group.id], str(group.target_size), str(coming), explain_growth(look.decision, group.id)


def _waiting(look: Look, names: Mapping[str, str]) -> Iterable[Row]:
    """Yield pods that wait for the same reasons as one row."""
    alike: dict[str, list[str]] = {}
    for key, verdict in look.decision.pods.items():
        if verdict.reason not in SERVED:
            alike.setdefault("; ".join((str(verdict), *_against(look, key, names))), []).append(key)
    for why, keys in alike.items():
        yield str(len(keys)), _some(keys), why


def _some(names: list[str]) -> str:
    return ", ".join(sorted(names)[:_NAMED]) + (", …" if len(names) > _NAMED else "")


def _against(look: Look, key: str, names: Mapping[str, str]) -> Iterable[str]:
    for group, verdict in sorted(look.decision.rejections.get(key, {}).items()):
        yield f"{names.get(group, group)}: {', '.join(texts(verdict))}"


def _reasons(look: Look) -> Iterable[Row]:
    """Yield nodes with the same verdict, and blocked by pods for the same cause, as one row; most first."""
    alike: dict[str, list[str]] = {}
    for name, verdict in look.decision.nodes.items():
        found = informative_verdict(verdict, look.memory.verdicts.last.get(name))
        alike.setdefault(": ".join(filter(None, (found.reason.value, found.cause))), []).append(name)
    for code, names in sorted(alike.items(), key=lambda entry: -len(entry[1])):
        yield str(len(names)), code, _some(names)


def _nodes(look: Look, names: Mapping[str, str]) -> Iterable[Row]:
    for name in sorted(look.world.cluster.nodes):
        group = look.world.group_of.get(name, "-")
        used = look.findings.utilization.get(name)
        verdict = look.decision.nodes.get(name)
        last = look.memory.verdicts.last.get(name)
        yield (
            name,
            names.get(group, group),
            "-" if used is None else f"{used.value:.0%}",
            "-" if last is None else _age(look.decision.at - last.since),
            ("goes: " if goes(look.decision, name) else "") + (str(verdict) if verdict is not None else "not examined"),
        )


def _age(span: timedelta) -> str:
    return format_duration(timedelta(seconds=int(span.total_seconds())))
