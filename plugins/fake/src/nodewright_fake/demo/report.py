"""The summary in words and figures."""

from collections.abc import Iterator
from textwrap import wrap

from nodewright_fake.demo.summary import Summary, Tally, percentile
from nodewright_fake.demo.words import count, span

_INDENT = 11
#: Lines are not squeezed below this.
_NARROWEST = 40


def report(summary: Summary, width: int = 80) -> str:
    """Return the summary as text of a few paragraphs, in lines of at most *width* columns."""
    paragraphs = (
        ("time", _time(summary)),
        ("pods", _pods(summary)),
        ("nodes", _nodes(summary)),
        ("cost", _cost(summary)),
        ("decisions", _decisions(summary)),
        ("failures", _failures(summary)),
    )
    return "\n".join(line for title, lines in paragraphs for line in _paragraph(title, lines, width))


def _paragraph(title: str, lines: Iterator[str], width: int) -> Iterator[str]:
    for line in lines:
        spaces = len(line) - len(line.lstrip())
        parts = wrap(line, max(_NARROWEST, width - _INDENT), subsequent_indent=" " * (spaces + 2))
        for part in parts:
            yield f"{title:<{_INDENT}}{part}"
            title = ""


def _time(summary: Summary) -> Iterator[str]:
    yield f"{span(summary.elapsed)} of the cluster's time"


def _pods(summary: Summary) -> Iterator[str]:
    waits = summary.waits
    yield f"{count(len(waits), 'pod')} waited for a node, {summary.placed_at_once} found one at once"
    if waits:
        mean = sum(waits) / len(waits)
        median, high = percentile(waits, 0.5), percentile(waits, 0.95)
        yield f"waiting time: mean {mean:.0f} s, p50 {median:.0f} s, p95 {high:.0f} s, max {max(waits):.0f} s"
    if summary.still_waiting:
        yield f"{count(summary.still_waiting, 'pod')} still waiting"
    yield f"{count(summary.evictions, 'pod')} moved off nodes that were drained"


def _nodes(summary: Summary) -> Iterator[str]:
    yield f"{summary.first_nodes} at the start, {summary.peak_nodes} at the peak, {summary.last_nodes} at the end"


def _cost(summary: Summary) -> Iterator[str]:
    names = max(len("in all"), *(len(bill.group) for bill in summary.bills), 0)
    yield f"{'':<{names}}  node-hours    cost"
    for bill in summary.bills:
        yield f"{bill.group:<{names}}  {bill.hours:>10.2f}  {_money(bill.cost)}"
    yield f"{'in all':<{names}}  {summary.hours:>10.2f}  {_money(summary.cost)}"
    if summary.static_cost:
        static = f"a static cluster of the size of the peak: {_money(summary.static_cost)}"
        yield f"{static}, {summary.saved:.0%} saved"


def _decisions(summary: Summary) -> Iterator[str]:
    if not summary.tallies:
        yield "none"
    for tally in sorted(summary.tallies, key=lambda tally: (tally.cause.action, -tally.decisions)):
        yield f"{f'{tally.decisions}×':>4}  {tally.cause.action:<7}  {_why(tally)}"


def _why(tally: Tally) -> str:
    reason = tally.cause.reason
    words = reason if reason.text == reason.lower() else f"{reason}: {reason.text}"
    return words if tally.nodes == tally.decisions else f"{words} ({count(tally.nodes, 'node')})"


def _failures(summary: Summary) -> Iterator[str]:
    if not summary.troubles:
        yield "none"
    for trouble in sorted(summary.troubles, key=lambda trouble: -trouble.times):
        yield f"{f'{trouble.times}×':>4}  {trouble.what}"


def _money(amount: float) -> str:
    return f"${amount:.3f}"
