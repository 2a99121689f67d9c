"""The nodes: how full each is and what state it is in, as roomy as the screen allows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from rich.text import Text

from nodewright_fake.demo.scene import NodeState, NodeView
from nodewright_fake.demo.view import style
from nodewright_fake.demo.view.row import bar, cell, row
from nodewright_fake.demo.words import count, span

_PODS = 3
_PERCENT = 4
_STATE = max(len(state) for state in NodeState)
_BETWEEN = 2


@dataclass(frozen=True, kw_only=True)
class _Layout:
    """How a node is shown: the widths of what is shown of it."""

    name: int
    bar: int
    #: Only one node in a line, with its state in words, figures beside the bars, and remarks.
    verbose: bool = False

    @property
    def usage(self) -> int:
        """Width of both bars with what belongs to them."""
        return 2 * self.bar + 1 + (2 * (_PERCENT + 1) if self.verbose else 0)

    @property
    def width(self) -> int:
        """Width of all, but for remarks."""
        return 2 + self.name + 1 + (_STATE + 1 if self.verbose else 0) + self.usage + 1 + _PODS


_FOLDED = _Layout(name=14, bar=10)


def nodes(views: Sequence[NodeView], now: datetime, width: int, height: int) -> Iterator[Text]:
    """A heading and the nodes, in the roomiest layout in which all fit; else a line for each group of them."""
    rows = height - 1
    for columns, layout in _layouts(width):
        if len(views) <= columns * rows:
            yield from _grid(views, now, layout, rows, width)
            return
    yield from _folded(views, rows, width)


def _layouts(width: int) -> Iterator[tuple[int, _Layout]]:
    """Numbers of columns with the layout of each, the roomiest first."""
    roomy = _Layout(name=14, bar=max(12, min(30, (width - 76) // 3)), verbose=True)
    if roomy.width <= width:
        yield 1, roomy
    for columns in range(2, 9):
        cell_width = (width - _BETWEEN * (columns - 1)) // columns
        for name in (12, 9):
            bars = (cell_width - _Layout(name=name, bar=0).width) // 2
            if bars >= _Layout(name=name, bar=0).name // 3:
                yield columns, _Layout(name=name, bar=min(bars, 16))
                break


def _grid(views: Sequence[NodeView], now: datetime, layout: _Layout, rows: int, width: int) -> Iterator[Text]:
    """Nodes in columns, from top to bottom and then to the right."""
    yield row([_heading(layout)] * max(1, -(-len(views) // rows)), gap=_BETWEEN)
    for number in range(min(rows, len(views))):
        line = [_node(view, now, layout) for view in views[number::rows]]
        if layout.verbose:
            line.append(cell(_remark(views[number], now), max(0, width - layout.width - _BETWEEN), style.QUIET))
        yield row(line, gap=_BETWEEN)


def _folded(views: Sequence[NodeView], rows: int, width: int) -> Iterator[Text]:
    """A line for each group."""
    bundles = [list(members) for _, members in groupby(views, key=lambda view: view.group)]
    shown = bundles if len(bundles) <= rows else bundles[: max(0, rows - 1)]
    yield _heading(_FOLDED, "nodes of")
    for members in shown:
        states = Counter(view.state for view in members)
        words = ", ".join(f"{number} {state}" for state, number in states.items())
        room = max(0, width - _FOLDED.width - _BETWEEN)
        yield row([_node(_sum(members), datetime.min, _FOLDED), cell(words, room)], gap=_BETWEEN)
    if len(shown) < len(bundles):
        left = sum(len(members) for members in bundles[len(shown) :])
        yield cell(f"and {count(left, 'more node')}", width, style.QUIET)


def _sum(members: Sequence[NodeView]) -> NodeView:
    """All nodes of a group as one."""
    serving = [view for view in members if view.state.serves]
    return NodeView(
        name=members[0].group or "no group",
        group=members[0].group,
        state=NodeState.READY if serving else members[0].state,
        cpu=_mean(view.cpu for view in serving),
        memory=_mean(view.memory for view in serving),
        pods=sum(view.pods for view in serving),
    )


def _mean(shares: Iterable[float]) -> float:
    values = list(shares)
    return sum(values) / len(values) if values else 0.0


def _heading(layout: _Layout, title: str = "node") -> Text:
    bar_width = layout.bar + (_PERCENT + 1 if layout.verbose else 0)
    cells = [cell(title, 2 + layout.name, style.HEADING)]
    if layout.verbose:
        cells.append(cell("state", _STATE, style.HEADING))
    memory = "memory" if bar_width > len("memory") else "mem"
    cells += [cell(name, bar_width, style.HEADING) for name in ("cpu", memory)]
    return Text.assemble(row(cells, gap=1), cell("pods", 1 + _PODS, style.HEADING, right=True))


def _node(view: NodeView, now: datetime, layout: _Layout) -> Text:
    tone = style.NODE_STYLES[view.state]
    name = cell(view.name, layout.name, "" if view.state is NodeState.READY else tone)
    cells = [Text(style.NODE_SIGNS[view.state], tone), name]
    if layout.verbose:
        cells.append(cell(view.state, _STATE, tone))
    if view.state.serves:
        cells.append(_usage(view, layout))
    else:
        words = "" if layout.verbose else f"{view.state} {_remark(view, now)}"
        cells.append(cell(words if len(words) <= layout.usage else view.state, layout.usage, tone))
    return row([*cells, cell(str(view.pods) if view.state.serves else "", _PODS, right=True)], gap=1)


def _usage(view: NodeView, layout: _Layout) -> Text:
    cells = []
    for share, colour in ((view.cpu, style.CPU), (view.memory, style.MEMORY)):
        cells.append(bar(share, layout.bar, colour))
        if layout.verbose:
            cells.append(cell(f"{share:.0%}", _PERCENT, right=True))
    return row(cells, gap=1)


def _remark(view: NodeView, now: datetime) -> str:
    if view.state.comes and view.since is not None:
        return span(now - view.since)
    return view.remark
