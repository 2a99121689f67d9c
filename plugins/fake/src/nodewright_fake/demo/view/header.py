"""The head of the screen: what is told, and the figures of the moment."""

from collections.abc import Iterable, Iterator

from rich.text import Text

from nodewright_fake.demo.scene import NodeState, Scene
from nodewright_fake.demo.view import style
from nodewright_fake.demo.view.row import cell
from nodewright_fake.demo.words import count, span

#: Lines that the head takes.
HEIGHT = 4


def header(scene: Scene, width: int) -> Iterator[Text]:
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
