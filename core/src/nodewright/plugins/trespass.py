"""Trespasses: what a plugin's call tries that would touch the whole process. Python's audit events tell.

They are told on the thread that tries, so it is known who it is. What can't be allowed is refused on the spot.
"""

import os
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from nodewright.plugins.calls import Call, current_call
from nodewright.plugins.conduct import MisconductError

#: What starts another program. Only plugins that ask outside may.
_PROGRAMS = frozenset({"subprocess.Popen", "os.system", "os.posix_spawn", "os.spawn", "pty.spawn"})
#: What no plugin may do, and how it is told.
_REFUSED: Mapping[str, str] = {
    "os.fork": "copy the process (os.fork), which is not safe beside threads: start programs with subprocess",
    "os.forkpty": "copy the process (os.forkpty), which is not safe beside threads: start programs with subprocess",
    "os.exec": "replace the process by another program (os.exec)",
}


@cache
def watch_for_trespasses() -> None:
    """Begin to watch, for the rest of the life of this process. Calls of plugins are told apart by `current_call`."""
    sys.addaudithook(_heard)


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    handle = _HANDLERS.get(event)
    if handle is None:
        return
    call = current_call()
    if call is not None and call.conduct is not None:
        handle(call, event, arguments)


def _start_program(call: Call, event: str, arguments: tuple[Any, ...]) -> None:
    assert call.conduct is not None
    if not call.conduct.may_start_programs:
        _refuse(call, f"start a program ({event}): it may ask nothing outside")


def _take_over(call: Call, event: str, arguments: tuple[Any, ...]) -> None:
    _refuse(call, _REFUSED[event])


def _kill(call: Call, event: str, arguments: tuple[Any, ...]) -> None:
    process, number = arguments[:2]
    if process in (0, -1, os.getpid(), -os.getpgrp()) and number:
        _refuse(call, f"end this process (signal {number})")


def _refuse(call: Call, attempt: str) -> None:
    misconduct = MisconductError(f"it tried to {attempt}")
    # At once: the plugin may catch what is raised here.
    call.note(call.plugin, call.where, misconduct)
    raise misconduct


_HANDLERS: Mapping[str, Callable[[Call, str, tuple[Any, ...]], None]] = {
    **dict.fromkeys(_PROGRAMS, _start_program),
    **dict.fromkeys(_REFUSED, _take_over),
    "os.kill": _kill,
    "os.killpg": _kill,
    "signal.pthread_kill": _kill,
}
