"""Conduct: what a plugin must not do to the process that it shares with everybody else."""

import gc
import locale
import logging
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

#: From this many running threads on, a plugin has leaked them. Clients of clouds keep a few tens.
MOST_THREADS = 64
#: From this growth on during its calls, a plugin has leaked memory.
MOST_MEMORY = 256 * 1024 * 1024

#: Where Linux tells how much memory the process has; kept open, as it is read before and after each call.
_STATM = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC) if sys.platform == "linux" else None


class MisconductError(RuntimeError):
    """What a plugin did to the process, or tried to do: a fault, told without its type."""


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


_SETTINGS: Sequence[_Setting] = (
    *map(_handler, (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE)),
    _Setting("the alarm timer", lambda: _Alarm.now(), lambda was: was.set()),
    _Setting("the locale", lambda: locale.setlocale(locale.LC_ALL), lambda was: locale.setlocale(locale.LC_ALL, was)),
    _Setting("the time zone", lambda: (time.tzname, time.timezone), _write_time_zone),
    _Setting("the working directory", os.getcwd, os.chdir),
    _Setting("the standard output", lambda: sys.stdout, lambda was: setattr(sys, "stdout", was)),
    _Setting("the standard error", lambda: sys.stderr, lambda was: setattr(sys, "stderr", was)),
    _Setting("the recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
    _Setting("garbage collection", gc.isenabled, _collect_garbage),
    _Setting("the timeout of sockets", socket.getdefaulttimeout, socket.setdefaulttimeout),
    _Setting("the level of all logging", lambda: logging.root.manager.disable, logging.disable),
)


class Conduct:
    """How one plugin behaves over all its calls. Safe to use from any thread.

    What it changes of the process is put back. Its threads and the memory that comes during its calls are counted, and
    reported when they are so many that they must have been forgotten.
    """

    def __init__(self, *, may_start_programs: bool = False) -> None:
        #: Whether it may start other programs: providers, and strategies that ask outside.
        self.may_start_programs = may_start_programs
        self._threads: WeakSet[threading.Thread] = WeakSet()
        self._thread_limit = MOST_THREADS
        self._memory = 0
        self._memory_limit = MOST_MEMORY

    def look(self) -> object:
        """Return how the process is, before a call."""
        _new_threads()
        return [setting.read() for setting in _SETTINGS], _memory()

    def mend(self, before: Any) -> Iterator[MisconductError]:
        """Put back what was changed since *before*, and yield what that was, and what has grown too much."""
        settings, memory = before
        for setting, was in zip(_SETTINGS, settings, strict=True):
            if setting.read() != was:
                yield MisconductError(f"it changed {setting.name}: {_put_back(setting, was)}")
        self._memory += _memory() - memory
        if self._memory >= self._memory_limit:
            self._memory_limit = 2 * self._memory
            yield MisconductError(f"the process has grown by {self._memory // 2**20} MiB during its calls")
        self._threads.update(_new_threads())
        running = sum(thread.is_alive() for thread in tuple(self._threads))
        if running >= self._thread_limit:
            self._thread_limit = 2 * running
            yield MisconductError(f"{running} threads are running that it started")


def _put_back(setting: _Setting, was: Any) -> str:
    with suppress(ValueError, OSError, TypeError, locale.Error):
        setting.write(was)
        return "it was put back"
    return "it could not be put back"


#: Threads that were seen already, and how many there were the last time.
_seen: WeakSet[threading.Thread] = WeakSet()
_count = 0


def _new_threads() -> list[threading.Thread]:
    """Return the threads that were not there the last time. A few that came and went in turns may be missed."""
    global _count
    count = threading.active_count()
    if count == _count:
        return []
    _count = count
    new = [thread for thread in threading.enumerate() if thread not in _seen]
    _seen.update(new)
    return new


def _memory() -> int:
    """Return how many bytes of memory the process has; on macOS, the most that it ever had."""
    if _STATM is None:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(os.pread(_STATM, 64, 0).split()[1]) * resource.getpagesize()
