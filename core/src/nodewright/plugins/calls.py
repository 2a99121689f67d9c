"""Calls: which plugin each thread is in, and what a call must not let out."""

import signal
import threading
from collections.abc import Callable, Mapping
from time import monotonic
from types import TracebackType

from nodewright.plugins.conduct import Conduct, MisconductError
from nodewright.plugins.error_text import text_of

#: The innermost call under way by thread.
_under_way: dict[int, "Call"] = {}


class Call:
    """One call of a plugin, a context manager that lasts as long as the call.

    Whatever would end the process or the thread (`SystemExit`, above all) leaves it as a `MisconductError`, which is an
    ordinary exception. Only Ctrl-C passes.
    """

    __slots__ = ("_before", "_outer", "began", "conduct", "note", "plugin", "where")

    def __init__(
        self, plugin: str, where: str, note: Callable[[str, str, Exception], None], conduct: Conduct | None
    ) -> None:
        self.plugin = plugin
        self.where = where
        #: Notes a fault of the plugin in this place.
        self.note = note
        #: When it began, in seconds of a clock that is never set.
        self.began = 0.0
        #: How the plugin behaves over all its calls; None if that is known.
        self.conduct = conduct
        self._outer: Call | None = None
        self._before: object = None

    def __enter__(self) -> "Call":
        thread = threading.get_ident()
        self._outer = _under_way.get(thread)
        if self._outer is None:
            if self.conduct is not None:
                self._before = self.conduct.look()
        elif self._outer.plugin == self.plugin and self._outer.conduct is not None:
            self.conduct, self.note = self._outer.conduct, self._outer.note
        self.began = monotonic()
        _under_way[thread] = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        thread = threading.get_ident()
        if self._outer is None:
            _under_way.pop(thread, None)
        else:
            _under_way[thread] = self._outer
        if self._before is not None and self.conduct is not None:
            for misconduct in self.conduct.mend(self._before):
                self.note(self.plugin, self.where, misconduct)
        if error is None or isinstance(error, Exception) or _is_ctrl_c(error):
            return
        raise MisconductError(f"it tried to end the process ({type(error).__name__}{_reason(error)})") from error


def calls_under_way() -> Mapping[int, Call]:
    """Return the innermost call of each thread that is in a plugin."""
    return dict(_under_way)


def current_call() -> Call | None:
    """Return the call that this thread is in, if it is in one."""
    return _under_way.get(threading.get_ident())


def _is_ctrl_c(error: BaseException) -> bool:
    """Return whether Python itself may have raised *error* for a person at the keyboard."""
    return (
        isinstance(error, KeyboardInterrupt)
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )


def _reason(error: BaseException) -> str:
    reason = " ".join(text_of(error).split())
    return f": {reason}" if reason else ""
