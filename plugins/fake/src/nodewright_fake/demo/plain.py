"""The demo in plain lines, for pipes, files and small terminals."""

from collections.abc import Callable
from datetime import datetime, timedelta

from nodewright_fake.demo.log import Line
from nodewright_fake.demo.scene import Scene
from nodewright_fake.demo.stage import Stage
from nodewright_fake.demo.words import count, span

_STATE_EVERY = timedelta(minutes=1)


class PlainShow:
    """A line for everything that happens on a stage, and one a minute with the state of the cluster."""

    def __init__(self, stage: Stage, write: Callable[[str], None]) -> None:
        self._stage = stage
        self._write = write
        self._shown = 0
        self._state_due: datetime | None = None

    def update(self) -> None:
        """Write what is new."""
        scene = self._stage.scene()
        lines = self._stage.log.after(self._shown)
        self._shown += len(lines)
        for line in lines:
            self._write(line_text(line))
        if self._state_due is None or scene.at >= self._state_due:
            self._state_due = scene.at + _STATE_EVERY
            self._write(state_text(scene))


def line_text(line: Line) -> str:
    """Return a line of the log with its time and kind."""
    return f"{line.at:%H:%M:%S}  {line.kind:<7}  {line.text}"


def state_text(scene: Scene) -> str:
    """Return how everything stands."""
    nodes = count(scene.nodes_there, "node")
    nodes += f", {scene.nodes_coming} coming" if scene.nodes_coming else ""
    nodes += f", {scene.nodes_going} leaving" if scene.nodes_going else ""
    pods = count(scene.running, "pod")
    pods += f", {scene.pending} waiting up to {span(scene.longest_wait)}" if scene.waiting else ""
    money = f"${scene.hourly_cost:.2f}/h, ${scene.cost:.2f} so far"
    return f"{scene.at:%H:%M:%S}  {'state':<7}  {nodes}; {pods}; {money}"
