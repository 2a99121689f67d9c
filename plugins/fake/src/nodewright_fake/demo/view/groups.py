"""The node groups: what each is, how large, and what it is doing."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from nodewright_fake.demo.scene import GroupState, GroupView
from nodewright_fake.demo.view import style
from nodewright_fake.demo.view.row import cell, row
from nodewright_fake.demo.words import count

_WIDEST_GAUGE = 10
_WIDEST_NAME = 20
#: What the words about the state need.
_STATE = 37


def groups(views: Sequence[GroupView], width: int, height: int) -> Iterator[Text]:
    """A heading and a row for each group; those with the least to tell are left out if *height* is too small."""
    columns = _columns(views, width)
    yield row(cell(title, size, style.HEADING) for title, size in columns.items())
    shown = _telling(views, height - 1)
    for view in shown:
        cells = _cells(view)
        yield row(cell(cells[title], size) for title, size in columns.items())
    if len(shown) < len(views):
        yield cell(f"and {count(len(views) - len(shown), 'more group')}", width, style.QUIET)


def _columns(views: Sequence[GroupView], width: int) -> dict[str, int]:
    """Widths by title; they depend on what groups are, not on what they do, so that nothing moves about."""
    most = max((view.maximum for view in views), default=0)
    columns = {
        "group": min(_WIDEST_NAME, max((len(view.name) for view in views), default=0)),
        "zone": max((len(view.zone) for view in views), default=0),
        "machine": max((len(_machine(view)) for view in views), default=0),
        "$/h": 6,
        "size": len(f"{most}→{most} of {most}"),
        "": min(_WIDEST_GAUGE, most),
    }
    columns = {title: max(size, len(title)) for title, size in columns.items()}
    if _left(columns, width) < _STATE:
        del columns["zone"], columns["machine"]
    return {**columns, "state": max(0, _left(columns, width))}


def _left(columns: dict[str, int], width: int) -> int:
    return width - sum(columns.values()) - 2 * len(columns)


def _telling(views: Sequence[GroupView], room: int) -> Sequence[GroupView]:
    """The groups that fit, in their order; a line is left for the words about the others."""
    if len(views) <= room:
        return views
    ranked = sorted(views, key=lambda view: (view.state is GroupState.STEADY, view.wanted == 0))
    kept = {view.name for view in ranked[: max(0, room - 1)]}
    return [view for view in views if view.name in kept]


def _cells(view: GroupView) -> dict[str, Text]:
    idle = not (view.nodes or view.wanted) and view.state is GroupState.STEADY
    tone = style.QUIET if idle else ""
    size = str(view.nodes) if view.nodes == view.wanted else f"{view.nodes}→{view.wanted}"
    return {
        "group": Text(view.name, tone or "bold"),
        "zone": Text(view.zone, tone),
        "machine": Text(_machine(view), tone),
        "$/h": Text(f"{view.hourly_price:.3f}", tone),
        "size": Text(f"{size} of {view.maximum}", tone),
        "": _gauge(view),
        "state": _state(view),
    }


def _machine(view: GroupView) -> str:
    return f"{view.instance_type} spot" if view.spot else view.instance_type


def _gauge(view: GroupView) -> Text:
    """Machines as squares: there, coming or going, possible."""
    scale = min(1.0, _WIDEST_GAUGE / view.maximum) if view.maximum else 0.0
    stays = round(min(view.nodes, view.wanted) * scale)
    changes = round(max(view.nodes, view.wanted) * scale) - stays
    free = round(view.maximum * scale) - stays - changes
    return Text.assemble(
        ("■" * stays, style.GREEN), ("□" * changes, style.GROUP_STYLES[view.state]), ("·" * max(0, free), "dim")
    )


def _state(view: GroupView) -> Text:
    if view.state is not GroupState.STEADY:
        words = f"{view.state}: {view.remark}" if view.remark else str(view.state)
        return Text(words, style.GROUP_STYLES[view.state])
    if view.minimum == view.maximum:
        return Text("fixed", style.QUIET)
    if view.wanted >= view.maximum:
        return Text("at maximum", style.QUIET)
    return Text("at minimum" if 0 < view.wanted == view.minimum else "", style.QUIET)
