"""The watchdog: names plugins whose calls do not come back."""

import faulthandler
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from time import monotonic
from types import FrameType, TracebackType
from typing import Self

from nodewright.api.errors import PluginError
from nodewright.plugins.calls import Call, calls_under_way

#: A call that should return at once is named after this.
PATIENCE = timedelta(seconds=10)
#: If no thread gets to run for this long, a call into C keeps the interpreter: all stacks are written to stderr.
_STANDSTILL_SECONDS = 60.0

_TICK_SECONDS = 1.0


class Watchdog:
    """Looks once a second for calls of plugins that last too long.

    Each is a fault of its plugin, noted on this thread with the line of code that it is at, and again each time that
    it has lasted twice as long.
    """

    def __init__(self) -> None:
        #: How long a call in a place may last.
        self.patience_with: Callable[[str], timedelta] = lambda where: PATIENCE
        self._stop = threading.Event()
        #: How many seconds each call under way had lasted when it was noted last.
        self._noted: dict[Call, float] = {}
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def __enter__(self) -> Self:
        """Begin to look."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Look no more. Does not wait: a plugin may hold the interpreter."""
        self._stop.set()
        faulthandler.cancel_dump_traceback_later()

    def look(self) -> None:
        """Note the calls that have lasted too long by now."""
        calls = calls_under_way()
        self._noted = {call: seconds for call, seconds in self._noted.items() if call in calls.values()}
        for thread, call in calls.items():
            lasted = monotonic() - call.began
            due = 2 * self._noted[call] if call in self._noted else self.patience_with(call.where).total_seconds()
            if lasted >= due:
                self._noted[call] = lasted
                call.note(call.plugin, call.where, PluginError(call.plugin, _told(call, thread)))

    def _run(self) -> None:
        while not self._stop.wait(_TICK_SECONDS):
            # Not every stderr is a file.
            with suppress(ValueError, AttributeError):
                faulthandler.dump_traceback_later(_STANDSTILL_SECONDS)
            self.look()


def hanging(*, longer_than: timedelta = timedelta(0), thread: int | None = None) -> str:
    """Say which plugins' calls have lasted *longer_than* that, on one *thread* or on any; empty if none has."""
    return "; ".join(
        f"plugin {call.plugin} {_told(call, ident)}"
        for ident, call in calls_under_way().items()
        if thread in (None, ident) and monotonic() - call.began > longer_than.total_seconds()
    )


def _told(call: Call, thread: int) -> str:
    frame = sys._current_frames().get(thread)
    at = f" (at {_place(frame)})" if frame is not None else ""
    return f"has been in {call.where} for {monotonic() - call.began:.0f} s{at}"


def _place(frame: FrameType) -> str:
    """Return the innermost line of *frame*'s stack."""
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}, in {frame.f_code.co_name}"
