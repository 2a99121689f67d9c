"""The demo on a screen of its own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live

from nodewright_fake.demo.stage import Stage
from nodewright_fake.demo.view import frame


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
