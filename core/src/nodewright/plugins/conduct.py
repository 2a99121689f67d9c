"""Conduct: what a plugin must not do to the process that it shares with everybody else."""

import os
import resource
import sys
import threading
from collections.abc import Iterator
from typing import Any
from weakref import WeakSet

from nodewright.plugins.process_settings import restore, settings_now

#: From this many running threads on, a plugin has leaked them. Clients of clouds keep a few tens.
MOST_THREADS = 64
#: From this growth on during its calls, a plugin has leaked memory.
MOST_MEMORY = 256 * 1024 * 1024

#: Where Linux tells how much memory the process has; kept open, as it is read before and after each call.
_STATM = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC) if sys.platform == "linux" else None


class MisconductError(RuntimeError):
    """What a plugin did to the process, or tried to do: a fault, told without its type."""


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
        return settings_now(), _memory()

    def mend(self, before: Any) -> Iterator[MisconductError]:
        """Put back what was changed since *before*, and yield what that was, and what has grown too much."""
        settings, memory = before
        # All of it first: what keeps log lines from being written may be among it.
        for change in tuple(restore(settings)):
            yield MisconductError(f"it changed {change}")
        self._memory += _memory() - memory
        if self._memory >= self._memory_limit:
            self._memory_limit = 2 * self._memory
            yield MisconductError(f"the process has grown by {self._memory // 2**20} MiB during its calls")
        self._threads.update(_new_threads())
        running = sum(thread.is_alive() for thread in tuple(self._threads))
        if running >= self._thread_limit:
            self._thread_limit = 2 * running
            yield MisconductError(f"{running} threads are running that it started")


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
