"""Progress on the last line of the terminal: what is done, how far it is, and the time left."""

import shutil
import sys
from threading import Event, Lock, Thread
from time import monotonic
from types import TracebackType
from typing import Self

#: Nothing is shown before: most commands are done by then.
_QUIET_SECONDS = 2.0
_TICK_SECONDS = 0.5
#: Minutes from which on hours are told.
_LONG = 100


class Progress:
    """Shows from two seconds on what a command does that takes long, until the block ends.

    Prints to stderr, and nothing if that is no terminal: logs have no use for it. The calling thread may be busy.
    """

    def __init__(self, doing: str, *, total: int = 0) -> None:
        self._doing = doing
        self._total = total
        self._done = 0
        self._began = monotonic()
        self._over = Event()
        self._drawing = Lock()

    def __enter__(self) -> Self:
        """Begin to show it."""
        if sys.stderr.isatty():
            Thread(target=self._draw, name="progress", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the line away."""
        self._over.set()
        with self._drawing:
            foot_line("")

    def now(self, doing: str, *, total: int = 0) -> None:
        """Note that the command does something else from now on, with *total* steps if that is known."""
        self._doing, self._total, self._done, self._began = doing, total, 0, monotonic()

    def step(self) -> None:
        """Note that one more step is done."""
        self._done += 1

    def print(self, text: str) -> None:
        """Print *text* to stdout, in place of the line, which comes back below it."""
        with self._drawing:
            foot_line("")
            print(text, flush=sys.stderr.isatty())

    def told(self, now: float) -> str:
        """Return the line for the time *now*."""
        passed = now - self._began
        if not self._total:
            return f"{self._doing}: {passed:.0f} s" + (f", {self._done:,} done" if self._done else "")
        left = passed / self._done * (self._total - self._done) if self._done else None
        until = "" if left is None else f", {rounded(left)} left"
        return f"{self._doing}: {self._done:,} of {self._total:,}{until}"

    def _draw(self) -> None:
        if self._over.wait(_QUIET_SECONDS):
            return
        while True:
            with self._drawing:
                if self._over.is_set():
                    return
                foot_line(self.told(monotonic()))
            self._over.wait(_TICK_SECONDS)


def foot_line(text: str) -> None:
    """Put *text* in place of the last line on stderr, as far as it fits; an empty one takes the line away."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(f"\r\x1b[K{text[:width]}", end="", file=sys.stderr, flush=True)


def rounded(seconds: float) -> str:
    """Return a time in words, no more exact than an estimate is."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute"
    return f"about {minutes} min" if minutes < _LONG else f"about {minutes // 60} h {minutes % 60} min"
