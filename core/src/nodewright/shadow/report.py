"""The report of a dry run: a summary of its record."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import Annotated, Any

import msgspec

from nodewright.objects.duration import format_duration
from nodewright.shadow.judgement import Category, Judgement, JudgementKind

#: Columns of a page unless the caller knows the screen.
_WIDTH = 100
_INDENT = " " * 9


@dataclass(kw_only=True)
class Summary:
    """What a record says."""

    cluster: str = ""
    began: datetime | None = None
    ended: datetime | None = None
    starts: int = 0
    #: How many of the starts were not dry runs.
    acting: int = 0
    loops: int = 0
    #: Lines that could not be read.
    damaged: int = 0
    judgements: list[Judgement] = field(default_factory=list)

    def of(self, category: Category) -> list[Judgement]:
        """Return the judgements of one category."""
        return [entry for entry in self.judgements if entry.kind.category is category]

    @property
    def agreements(self) -> int:
        """How often both did the same."""
        return len(self.of(Category.AGREEMENT))

    @property
    def differences(self) -> int:
        """How often they did not."""
        return len(self.of(Category.DIFFERENCE))

    @property
    def share(self) -> float:
        """The percentage of all comparisons that differ."""
        total = self.agreements + self.differences
        return 100 * self.differences / total if total else 0.0


class _Line(msgspec.Struct, rename="camel"):
    """What the report reads of a line of the record."""

    event: str
    at: Annotated[datetime, msgspec.Meta(tz=True)]
    cluster: str = ""
    dry_run: bool | None = None
    loops: int = 0
    findings: tuple[dict[str, Any], ...] = ()


_read = msgspec.json.Decoder(_Line).decode


def summarize(lines: Iterable[bytes], since: datetime | None = None) -> Summary:
    """Sum up a record; with *since*, without what is older. Lines that can't be read are counted and left out."""
    summary = Summary()
    for line in lines:
        try:
            entry = _read(line)
            judgements = [Judgement.from_json(each, entry.at) for each in entry.findings]
        except (ValueError, RecursionError):
            summary.damaged += bool(line.strip())
        else:
            if since is None or entry.at >= since:
                _add(summary, entry, judgements)
    return summary


def _add(summary: Summary, line: _Line, judgements: Sequence[Judgement]) -> None:
    summary.judgements += judgements
    if line.event == "began":
        summary.starts += 1
        summary.acting += line.dry_run is False
        summary.cluster = line.cluster
    summary.began = min(summary.began or line.at, line.at)
    summary.ended = max(summary.ended or line.at, line.at)
    summary.loops += line.loops


def page(summary: Summary, *, width: int | None = None, most: int | None = None) -> Iterator[str]:
    """Yield the lines of the report; of the differences only the last *most* places, None for all."""
    width = width or _WIDTH
    if summary.began is None:
        yield "The record is empty: no loop has ended yet."
        return
    yield from _head(summary)
    yield from _counts(summary)
    yield from _balance(summary)
    places = _places(summary.of(Category.DIFFERENCE))
    shown = places if most is None else places[-most:] if most else []
    if shown:
        yield ""
        left = len(places) - len(shown)
        yield "Where they differ" + (f" (the last {len(shown)} of {len(places)}; --all shows all)" if left else "")
    for entries in shown:
        yield ""
        yield from _place(entries, width)


def as_data(summary: Summary) -> dict[str, Any]:
    """Return the report as plain data, with all judgements."""
    return {
        "cluster": summary.cluster,
        "began": summary.began.isoformat() if summary.began else None,
        "ended": summary.ended.isoformat() if summary.ended else None,
        "starts": summary.starts,
        "loops": summary.loops,
        "damagedLines": summary.damaged,
        "agreements": summary.agreements,
        "differences": summary.differences,
        "differencePercentage": round(summary.share, 3),
        "kinds": dict(Counter(entry.kind.value for entry in summary.judgements).most_common()),
        "findings": [{"at": entry.at.isoformat(), **entry.to_json()} for entry in summary.judgements],
    }


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
    for title, category in (
        ("The same", Category.AGREEMENT),
        ("Different", Category.DIFFERENCE),
        ("Not counted", Category.NOTE),
    ):
        entries = summary.of(category)
        if not entries:
            continue
        share = "" if category is Category.NOTE else f"{_percent(summary, category):>7}"
        yield f"{title:<20}{len(entries):>6}{share}"
        counts = Counter(entry.kind for entry in entries)
        for kind in sorted(counts, key=lambda kind: -counts[kind]):
            timing = _timing([entry for entry in entries if entry.kind is kind])
            yield f"  {kind.value:<18}{counts[kind]:>6}  {kind.text}{timing}"
        yield ""


def _percent(summary: Summary, category: Category) -> str:
    share = summary.share if category is Category.DIFFERENCE else 100 - summary.share
    # Nothing is rounded to all or nothing.
    return f"{min(max(share, 0.1), 99.9) if 0 < share < 100 else share:.{0 if share in (0, 100) else 1}f}%"


def _timing(entries: Sequence[Judgement]) -> str:
    if entries[0].kind.category is not Category.AGREEMENT and entries[0].kind is not JudgementKind.LATE:
        return ""
    lags = sorted(entry.lag for entry in entries if entry.lag is not None)
    if not lags or max(map(abs, lags)) < 1:
        return ""
    middle = median(lags)
    earliest, latest = _signed(lags[0]), _signed(lags[-1])
    text = f", they {_span(timedelta(seconds=abs(middle)))} {'later' if middle > 0 else 'earlier'}"
    text = text if abs(middle) >= 1 else ", mostly at the same time"
    return f"{text} (from {earliest} to {latest})" if earliest != latest else text


def _balance(summary: Summary) -> Iterator[str]:
    """Yield what the differences come to, where it can be counted."""
    more = sum(entry.machines for entry in summary.judgements if entry.machines > 0)
    fewer = -sum(entry.machines for entry in summary.judgements if entry.machines < 0)
    longer, shorter = _node_hours(summary)
    parts = [
        f"they ordered {more} machines that we would not have" if more else "",
        f"we would have ordered {fewer} machines that they did not" if fewer else "",
        f"we would have saved {longer:.1f} node-hours by removing nodes earlier" if longer >= 0.05 else "",
        f"they saved {shorter:.1f} node-hours in that way" if shorter >= 0.05 else "",
    ]
    text = [part for part in parts if part]
    if text:
        yield "What it comes to"
        yield from (f"  {part}" for part in text)


def _node_hours(summary: Summary) -> tuple[float, float]:
    """Return for how long nodes stayed that only we would have removed, and the other way round."""
    waiting: dict[str, datetime] = {}
    longer = shorter = 0.0
    for entry in summary.judgements:
        lag = entry.lag or 0.0
        if entry.kind is JudgementKind.REMOVAL_MISSING:
            waiting[entry.node] = entry.at - timedelta(seconds=lag)
        elif entry.kind in (JudgementKind.LATE, JudgementKind.OVER) and entry.node in waiting:
            longer += (entry.at - waiting.pop(entry.node)).total_seconds()
        elif entry.kind is JudgementKind.REMOVAL_EARLY:
            shorter += abs(lag)
    if summary.ended is not None:
        longer += sum((summary.ended - since).total_seconds() for since in waiting.values())
    return longer / 3600, shorter / 3600


def _places(entries: Iterable[Judgement]) -> list[list[Judgement]]:
    """Gather what is of one kind in one group, in the order of the last of each."""
    places: dict[tuple[JudgementKind, str], list[Judgement]] = {}
    for entry in entries:
        places.setdefault((entry.kind, entry.group), []).append(entry)
    return sorted(places.values(), key=lambda found: found[-1].at)


def _place(entries: Sequence[Judgement], width: int) -> Iterator[str]:
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
