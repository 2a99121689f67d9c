"""Settings of the process: what all of its parts share, read before a plugin is called and put back after it."""

import gc
import locale
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class _Setting:
    """Something that belongs to the process: how it is read, and put back."""

    name: str
    read: Callable[[], Any]
    write: Callable[[Any], object]


# Without the wrapper that makes enums of handlers, which takes ten times as long.
_getsignal = getattr(signal.getsignal, "__wrapped__", signal.getsignal)


def _handler(number: signal.Signals) -> _Setting:
    return _Setting(f"the handler of {number.name}", lambda: _getsignal(number), lambda was: _handle(number, was))


def _handle(number: signal.Signals, handler: Any) -> None:
    # Not Python's own, if None: there is no way back.
    if handler is not None:
        signal.signal(number, handler)


#: How far apart two times may be that are the same.
_ALARM_SECONDS = 0.1

_ZONE = os.environ.get("TZ")


def _write_time_zone(was: object) -> None:
    if _ZONE is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = _ZONE
    time.tzset()


def _collect_garbage(wanted: bool) -> None:
    (gc.enable if wanted else gc.disable)()


def _logger(name: str, logger: logging.Logger) -> _Setting:
    def write(was: tuple[int, bool, bool, tuple[logging.Handler, ...]]) -> None:
        logger.setLevel(was[0])
        logger.propagate, logger.disabled, logger.handlers[:] = was[1:]

    return _Setting(name, lambda: (logger.level, logger.propagate, logger.disabled, tuple(logger.handlers)), write)


class _Alarm:
    """When the alarm timer goes off, if it is set."""

    def __init__(self, at: float | None) -> None:
        self._at = at

    @classmethod
    def now(cls) -> "_Alarm":
        left = signal.getitimer(signal.ITIMER_REAL)[0]
        return cls(time.monotonic() + left if left else None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Alarm) or self._at is None or other._at is None:
            return isinstance(other, _Alarm) and self._at is other._at
        return abs(self._at - other._at) < _ALARM_SECONDS

    __hash__ = None  # type: ignore[assignment]

    def set(self) -> None:
        left = 0.0 if self._at is None else max(_ALARM_SECONDS, self._at - time.monotonic())
        signal.setitimer(signal.ITIMER_REAL, left)


#: What only the main thread may change, or does change by itself.
_OF_MAIN_THREAD: Sequence[_Setting] = (
    *map(_handler, (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE)),
    _Setting("the alarm timer", lambda: _Alarm.now(), lambda was: was.set()),
    _Setting("the standard output", lambda: sys.stdout, lambda was: setattr(sys, "stdout", was)),
    _Setting("the standard error", lambda: sys.stderr, lambda was: setattr(sys, "stderr", was)),
)
_OF_ALL: Sequence[_Setting] = (
    _Setting("the locale", lambda: locale.setlocale(locale.LC_ALL), lambda was: locale.setlocale(locale.LC_ALL, was)),
    _Setting("the time zone", lambda: (time.tzname, time.timezone), _write_time_zone),
    _Setting("the working directory", os.getcwd, os.chdir),
    _Setting("the recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
    _Setting("garbage collection", gc.isenabled, _collect_garbage),
    _Setting("the timeout of sockets", socket.getdefaulttimeout, socket.setdefaulttimeout),
    _Setting("the level of all logging", lambda: logging.root.manager.disable, logging.disable),
    _logger("the root logger", logging.root),
    _logger("Nodewright's logger", logging.getLogger("nodewright")),
)
_OF_BOTH = (*_OF_MAIN_THREAD, *_OF_ALL)


def settings_now() -> list[Any]:
    """Return the settings as they are: those that this thread is answerable for."""
    return [setting.read() for setting in _settings()]


def restore(before: Sequence[Any]) -> Iterator[str]:
    """Put back what differs from *before*, read on this thread; yield what that was, and whether it worked."""
    for setting, was in zip(_settings(), before, strict=True):
        if setting.read() != was:
            yield f"{setting.name}: {_put_back(setting, was)}"


def _settings() -> Sequence[_Setting]:
    return _OF_BOTH if threading.current_thread() is threading.main_thread() else _OF_ALL


def _put_back(setting: _Setting, was: Any) -> str:
    with suppress(ValueError, OSError, TypeError, locale.Error):
        setting.write(was)
        return "it was put back"
    return "it could not be put back"
