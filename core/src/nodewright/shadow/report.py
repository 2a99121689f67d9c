"""The report of a dry run: what its record tells, summed up."""

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from nodewright.objects.duration import format_duration
from nodewright.shadow.finding import Kind, Sort

#: A page that nobody asked to be as wide as the screen.
_WIDTH = 100
_INDENT = " " * 9
_KINDS = {kind.value: kind for kind in Kind}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One finding, as the record has it."""

    at: datetime
    kind: Kind
    group: str
    node: str = ""
    ours: str = ""
    why: str = ""
    theirs: str = ""
    their_why: str = ""
    machines: int = 0
    lag: float | None = None


@dataclass(kw_only=True)
class Summary:
    """What a record tells."""

    cluster: str = ""
    began: datetime | None = None
    ended: datetime | None = None
    starts: int = 0
    #: So many of the starts were of no dry run.
    acting: int = 0
    loops: int = 0
    #: Lines that could not be read.
    damaged: int = 0
    entries: list[Entry] = field(default_factory=list)

    def of(self, sort: Sort) -> list[Entry]:
        """Return the findings of one sort."""
        return [entry for entry in self.entries if entry.kind.sort is sort]

    @property
    def agreements(self) -> int:
        """How often both did the same."""
        return len(self.of(Sort.AGREEMENT))

    @property
    def differences(self) -> int:
        """How often not."""
        return len(self.of(Sort.DIFFERENCE))

    @property
    def share(self) -> float:
        """The part of all that was compared that differs, in percent."""
        total = self.agreements + self.differences
        return 100 * self.differences / total if total else 0.0


def summarize(lines: Iterable[bytes], since: datetime | None = None) -> Summary:
    """Sum up a record; with *since*, only what is not older. What can't be read is counted and left out."""
    summary = Summary()
    for line in lines:
        try:
            document = json.loads(line)
            at = datetime.fromisoformat(document["at"])
            if since is None or at >= since:
                _add(summary, document, at)
        except (ValueError, KeyError, TypeError, AttributeError):
            summary.damaged += bool(line.strip())
    return summary


def _add(summary: Summary, document: Mapping[str, Any], at: datetime) -> None:
    summary.entries += [_entry(finding, at) for finding in document.get("findings", [])]
    if document["event"] == "began":
        summary.starts += 1
        summary.acting += document.get("dryRun") is False
        summary.cluster = document.get("cluster", "")
    summary.began = min(summary.began or at, at)
    summary.ended = max(summary.ended or at, at)
    summary.loops += document.get("loops", 0)


def _entry(finding: Mapping[str, Any], at: datetime) -> Entry:
    return Entry(
        at=at,
        kind=_KINDS[finding["kind"]],
        group=finding["group"],
        node=finding.get("node", ""),
        ours=finding.get("ours", ""),
        why=finding.get("why", ""),
        theirs=finding.get("theirs", ""),
        their_why=finding.get("theirWhy", ""),
        machines=finding.get("machines", 0),
        lag=finding.get("lag"),
    )


def page(summary: Summary, *, width: int | None = None, most: int | None = None) -> Iterator[str]:
    """Yield the lines of the report; of the differences only the last *most* places, None for all."""
    width = width or _WIDTH
    if summary.began is None:
        yield "The record is empty: no loop has ended yet."
        return
    yield from _head(summary)
    yield from _counts(summary)
    yield from _balance(summary)
    places = _places(summary.of(Sort.DIFFERENCE))
    shown = places if most is None else places[-most:] if most else []
    if shown:
        yield ""
        left = len(places) - len(shown)
        yield "Where they differ" + (f" (the last {len(shown)} of {len(places)}; --all shows all)" if left else "")
    for entries in shown:
        yield ""
        yield from _place(entries, width)


def _head(summary: Summary) -> Iterator[str]:
    assert summary.began is not None
    assert summary.ended is not None
    span = _span(summary.ended - summary.began)
    starts = f", started {summary.starts} times" if summary.starts > 1 else ""
    loops = f"{summary.loops:,} loops" if summary.loops else "loops not counted yet"
    yield f"Shadow{f' of {summary.cluster}' if summary.cluster else ''}: {span}, {loops}{starts}"
    yield f"from {_time(summary.began)} to {_time(summary.ended)} UTC"
    if summary.damaged:
        yield f"{summary.damaged} lines of the record could not be read and are left out"


def _counts(summary: Summary) -> Iterator[str]:
    yield ""
    if not summary.agreements and not summary.differences:
        yield "Nothing was there to compare: neither of the two did anything."
    for title, sort in (
        ("The same", Sort.AGREEMENT),
        ("Different", Sort.DIFFERENCE),
        ("Not counted", Sort.NOTE),
    ):
        entries = summary.of(sort)
        if not entries:
            continue
        share = "" if sort is Sort.NOTE else f"{_percent(summary, sort):>7}"
        yield f"{title:<20}{len(entries):>6}{share}"
        counts = Counter(entry.kind for entry in entries)
        for kind in sorted(counts, key=lambda kind: -counts[kind]):
            timing = _timing([entry for entry in entries if entry.kind is kind])
            yield f"  {kind.value:<18}{counts[kind]:>6}  {kind.text}{timing}"
        yield ""


def _percent(summary: Summary, sort: Sort) -> str:
    share = summary.share if sort is Sort.DIFFERENCE else 100 - summary.share
    # Nothing is rounded to all or nothing.
    return f"{min(max(share, 0.1), 99.9) if 0 < share < 100 else share:.{0 if share in (0, 100) else 1}f}%"


def _timing(entries: Sequence[Entry]) -> str:
    if entries[0].kind.sort is not Sort.AGREEMENT and entries[0].kind is not Kind.LATE:
        return ""
    lags = sorted(entry.lag for entry in entries if entry.lag is not None)
    if not lags or max(map(abs, lags)) < 1:
        return ""
    middle = median(lags)
    earliest, latest = _signed(lags[0]), _signed(lags[-1])
    told = f", they {_span(timedelta(seconds=abs(middle)))} {'later' if middle > 0 else 'earlier'}"
    told = told if abs(middle) >= 1 else ", mostly at the same time"
    return f"{told} (from {earliest} to {latest})" if earliest != latest else told


def _balance(summary: Summary) -> Iterator[str]:
    """Tell what the differences come to, as far as that can be counted."""
    more = sum(entry.machines for entry in summary.entries if entry.machines > 0)
    fewer = -sum(entry.machines for entry in summary.entries if entry.machines < 0)
    longer, shorter = _node_hours(summary)
    parts = [
        f"they ordered {more} machines that we would not have" if more else "",
        f"we would have ordered {fewer} machines that they did not" if fewer else "",
        f"we would have saved {longer:.1f} node-hours by removing nodes earlier" if longer >= 0.05 else "",
        f"they saved {shorter:.1f} node-hours in that way" if shorter >= 0.05 else "",
    ]
    told = [part for part in parts if part]
    if told:
        yield "What it comes to"
        yield from (f"  {part}" for part in told)


def _node_hours(summary: Summary) -> tuple[float, float]:
    """Return for how long nodes stayed that only we would have removed, and the other way round."""
    waiting: dict[str, datetime] = {}
    longer = shorter = 0.0
    for entry in summary.entries:
        lag = entry.lag or 0.0
        if entry.kind is Kind.REMOVAL_MISSING:
            waiting[entry.node] = entry.at - timedelta(seconds=lag)
        elif entry.kind in (Kind.LATE, Kind.OVER) and entry.node in waiting:
            longer += (entry.at - waiting.pop(entry.node)).total_seconds()
        elif entry.kind is Kind.REMOVAL_EARLY:
            shorter += abs(lag)
    if summary.ended is not None:
        longer += sum((summary.ended - since).total_seconds() for since in waiting.values())
    return longer / 3600, shorter / 3600


def _places(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Gather what is of one kind in one group, in the order of the last of each."""
    places: dict[tuple[Kind, str], list[Entry]] = {}
    for entry in entries:
        places.setdefault((entry.kind, entry.group), []).append(entry)
    return sorted(places.values(), key=lambda found: found[-1].at)


def _place(entries: Sequence[Entry], width: int) -> Iterator[str]:
    last = entries[-1]
    times = f"{len(entries)} times, last " if len(entries) > 1 else ""
    yield f"  {last.group}  {last.kind.value}, {times}{_time(last.at)}"
    nodes = list(dict.fromkeys(entry.node for entry in entries if entry.node))
    if nodes:
        named = ", ".join(nodes[-3:]) + (f" and {len(nodes) - 3} more" if len(nodes) > 3 else "")
        yield from _wrapped("node", named, width)
    yield from _wrapped("we", _said(last.ours, last.why), width)
    yield from _wrapped("they", _said(last.theirs, last.their_why), width)


def _said(what: str, why: str) -> str:
    return f"{what}: {why}" if what and why else what or why


def _wrapped(who: str, text: str, width: int) -> Iterator[str]:
    if text:
        first = f"    {who:<5}"
        yield from textwrap.wrap(
            text, max(40, width), initial_indent=first, subsequent_indent=_INDENT, break_on_hyphens=False
        )


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"


def _signed(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{_span(timedelta(seconds=abs(seconds)))}"


def _span(span: timedelta) -> str:
    """Return *span* in its two largest units."""
    days, seconds = span.days, span.seconds
    if days:
        return f"{days}d {seconds // 3600}h"
    if seconds >= 3600:
        return f"{seconds // 3600}h {seconds % 3600 // 60}m"
    return format_duration(timedelta(seconds=seconds))
