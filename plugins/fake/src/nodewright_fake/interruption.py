"""Ctrl-C, SIGTERM and a terminal that is closed, as something to look at now and then."""

import signal
from types import FrameType, TracebackType
from typing import Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruption:
    """Catches these signals for the length of its ``with`` block, so that none hits in the middle of something.

    For the main thread.
    """

    def __init__(self) -> None:
        #: The signal that came, 0 if none did.
        self.signal = 0
        self._previous: dict[int, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        self._previous = {number: signal.getsignal(number) for number in _SIGNALS}
        for number, handler in self._previous.items():
            if number != signal.SIGHUP or handler is not signal.SIG_IGN:  # ignored under nohup
                signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def __bool__(self) -> bool:
        return self.signal != 0

    @property
    def status(self) -> int:
        """The exit status of a program that was ended by the signal."""
        return 128 + self.signal

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signal = number
