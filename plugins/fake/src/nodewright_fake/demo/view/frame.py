"""The frame: all parts of the screen, each in its place."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from nodewright_fake.demo.log import Line, LineKind
from nodewright_fake.demo.scene import NodeState, Scene
from nodewright_fake.demo.stage import Stage
from nodewright_fake.demo.view import style
from nodewright_fake.demo.view.groups import groups
from nodewright_fake.demo.view.nodes import nodes
from nodewright_fake.demo.view.row import cell
from nodewright_fake.demo.words import count, span

#: From this height on, parts are set apart by empty lines.
_AIRY = 28
#: What a part needs at least to be of use.
_FEWEST_GROUPS = 4
_FEWEST_NODES = 4
#: Lines that the head takes.
_HEAD = 4
#: Lines of the screen that one line of the log may take; on a low screen, only for some kinds.
_TALL = 2
_WORTH_IT = (LineKind.GROW, LineKind.STORY)
_LOW = 10
_CLOCK = 8


def frame(scene: Scene, width: int, height: int) -> Group:
    """Return the scene as *height* lines of *width* columns. Parts keep their places as long as the size does."""
    gap = 1 if height >= _AIRY else 0
    room = height - _HEAD - 3 * gap
    group_lines = min(len(scene.groups) + 1, max(_FEWEST_GROUPS, 2 * room // 5))
    node_lines = max(_FEWEST_NODES, (room - group_lines + 1) // 2)
    log_lines = max(0, room - group_lines - node_lines)
    parts = (
        _part(_header(scene, width), width, _HEAD),
        _part(groups(scene.groups, width, group_lines), width, group_lines),
        _part(nodes(scene.nodes, scene.at, width, node_lines), width, node_lines),
        _part(log(scene.log, width, log_lines), width, log_lines),
    )
    empty = [cell("", width)] * gap
    lines = [line for part in parts for line in (*part, *empty)]
    return Group(*lines[:height])


def _part(lines: Iterable[Text], width: int, height: int) -> list[Text]:
    shown = [cell(line, width) for line in lines][:height]
    return shown + [cell("", width)] * (height - len(shown))


def _header(scene: Scene, width: int) -> Iterator[Text]:
    """Title and clock, the story's last words, figures, and how far the story is."""
    clock = f"{scene.at:%H:%M:%S}" + (f"  {scene.speed:g}×" if scene.speed else "")
    title = Text.assemble(("nodewright demo", style.TITLE), (f"  {scene.title}", style.QUIET))
    yield Text.assemble(cell(title, width - len(clock)), (clock, style.TITLE))
    yield cell(scene.note, width, style.NOTE)
    yield cell(_side_by_side(_figures(scene), width), width)
    yield _progress(scene, width)


def _figures(scene: Scene) -> Iterator[Text]:
    coming, going = scene.nodes_coming, scene.nodes_going
    yield Text.assemble(
        (count(scene.nodes_there, "node"), style.TITLE),
        (f", {coming} coming", style.NODE_STYLES[NodeState.ORDERED]) if coming else "",
        (f", {going} leaving", style.NODE_STYLES[NodeState.DRAINING]) if going else "",
    )
    yield Text(count(scene.running, "pod"), style.TITLE)
    if scene.waiting:
        yield Text(f"{scene.pending} waiting up to {span(scene.longest_wait)}", style=style.WAITING)
    yield Text(f"${scene.hourly_cost:.2f}/h")
    yield Text(f"${scene.cost:.2f} so far", style=style.QUIET)
    if scene.waiting:
        waiting = ", ".join(f"{workload.workload} {workload.pods}" for workload in scene.waiting)
        yield Text(f"waiting: {waiting}", style.QUIET)


def _side_by_side(figures: Iterable[Text], width: int) -> Text:
    """As many figures as there is room for."""
    line = Text()
    for figure in figures:
        longer = Text("   ").join([line, figure]) if line else figure
        if longer.cell_len > width:
            break
        line = longer
    return line


def _progress(scene: Scene, width: int) -> Text:
    told = round(width * min(1.0, scene.elapsed / scene.length)) if scene.length else 0
    return Text.assemble(("━" * told, style.SKY), ("─" * (width - told), style.QUIET))


def log(lines: Sequence[Line], width: int, height: int) -> Iterator[Text]:
    """The latest lines, the newest at the bottom; long ones go on in a second line."""
    shown: list[Text] = []
    for line in reversed(lines):
        block = _block(line, width, _TALL if height > _LOW or line.kind in _WORTH_IT else 1)
        if len(shown) + len(block) > height:
            break
        shown[:0] = block
    yield from shown


def _block(line: Line, width: int, most: int) -> list[Text]:
    indent = _CLOCK + 4
    room = max(10, width - indent)
    parts = _wrap(line.text, room, most)
    tone = style.LINE_STYLES[line.kind]
    words = tone if line.kind in (LineKind.STORY, LineKind.TROUBLE) else ""
    first = Text.assemble(
        (f"{line.at:%H:%M:%S} ", style.QUIET), (f" {style.LINE_SIGNS[line.kind]} ", tone), (parts[0], words)
    )
    return [cell(first, width), *(cell(Text(" " * indent + part, words), width) for part in parts[1:])]


def _wrap(text: str, width: int, most: int) -> list[str]:
    """Break *text* at spaces into at most *most* parts, the last of which may be too long."""
    parts: list[str] = []
    while len(text) > width and len(parts) < most - 1:
        at = text.rfind(" ", width // 2, width + 1)
        cut = at if at > 0 else width
        parts.append(text[:cut])
        text = text[cut:].lstrip()
    return [*parts, text]


@contextmanager
def live_show(stage: Stage, console: Console) -> Iterator[Callable[[], None]]:
    """Open the terminal's alternate screen, and leave everything as it was in the end.

    Gives a function that draws a frame, as large as the terminal is at the moment.
    """
    with Live(console=console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False) as screen:

        def update() -> None:
            size = console.size
            screen.update(frame(stage.scene(), size.width, size.height), refresh=True)

        yield update
