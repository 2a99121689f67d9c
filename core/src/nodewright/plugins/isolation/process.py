"""A plugin's process as Nodewright sees it: started, asked within a deadline, ended, and started again."""

import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from nodewright.api import CloudUnavailableError
from nodewright.objects import format_resource
from nodewright.plugins.isolation import supervisor
from nodewright.plugins.isolation.channel import Channel, Frame, GarbageError, Kind
from nodewright.plugins.isolation.failures import error_of, failure_of
from nodewright.plugins.isolation.printed import PrintedLines
from nodewright.plugins.isolation.values import Shared

#: How long a plugin may take to be imported and made.
START_SECONDS = 30.0
#: How long it may take to close.
_CLOSE_SECONDS = 5.0
#: How long the end of a process is waited for, and what the supervisor tells of it.
_END_SECONDS, _TOLD_SECONDS = 5.0, 1.0
#: The pause before a process that has ended is started again: the first, and the longest. Each is twice the last.
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
#: What may be called back, by interface.
_CALLABLE = frozenset(
    {"add_nodes", "place", "why_not", "rules", "free", "node_price", "pod_price", "now", "__call__", "fork"}
)

_log = logging.getLogger(__name__)


class ProcessError(CloudUnavailableError):
    """A plugin's process has ended, hung or sent garbage. Whether it did what it was asked for is not known."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a plugin's process may take."""

    #: Bytes of memory; None: as much as it wants.
    memory: int | None = None
    #: Seconds for each call; None: the default of the call.
    deadline: float | None = None


class PluginProcess:
    """The process of one plugin. Safe to use from any thread.

    It is started by `start`, and again by the next call after it has ended, with growing pauses.
    """

    def __init__(self, name: str, limits: Limits, *make: object) -> None:
        self._name = name
        self._limits = limits
        self._make = make
        self._lock = threading.Lock()
        self._life: _Life | None = None
        self._pause = _FIRST_PAUSE
        self._closed = False
        self._finalizer = weakref.finalize(self, lambda: None)

    def start(self) -> Any:
        """Start it and return what the plugin is; see `nodewright.plugins.isolation.servants.Description`.

        Raises `ProcessError`, and whatever making the plugin raises.
        """
        with self._lock:
            return self._begin()

    def call(self, method: str, *arguments: object, seconds: float) -> Any:
        """Return what *method* returns. *seconds* is the deadline unless the configuration has another.

        Raises `ProcessError`, and what the method raises.
        """
        return self._alive().call(method, arguments, self._limits.deadline or seconds)

    def close(self) -> None:
        """Close the plugin and end its process."""
        with self._lock:
            self._closed, life = True, self._life
        if life is not None and not life.fate:
            try:
                life.call("close", (), min(_CLOSE_SECONDS, self._limits.deadline or _CLOSE_SECONDS))
            finally:
                life.end("was closed")

    def _alive(self) -> "_Life":
        with self._lock:
            life = self._life
            if self._closed or life is None:
                raise ProcessError(f"the process of {self._name} is closed")
            if life.fate:
                if time.monotonic() < life.ended_at + self._pause:
                    raise ProcessError(f"{life.fate}; it is started again soon")
                lasted = life.ended_at - life.started_at
                self._pause = _FIRST_PAUSE if lasted > _LONGEST_PAUSE else min(2 * self._pause, _LONGEST_PAUSE)
                _log.info("plugin %s: its process is started again", self._name)
                self._begin()
            assert self._life is not None
            return self._life

    def _begin(self) -> Any:
        self._life = life = _Life(self._name, self._limits.memory)
        self._finalizer.detach()
        self._finalizer = weakref.finalize(self, partial(life.end, "is not needed any more"))
        try:
            return life.call("make", self._make, START_SECONDS)
        except ProcessError:
            raise
        except BaseException:
            life.end("could not be made")
            raise


class _Life:
    """One process, from its start to its end."""

    def __init__(self, name: str, memory: int | None) -> None:
        self._name = name
        self._memory = memory
        self._shared = Shared()
        self._lock = threading.Lock()
        self._waiting: dict[int, SimpleQueue[Frame | None]] = {}
        self._numbers = count(1)
        #: Handles that last as long as the process: those that the plugin was made with.
        self._lasting: list[int] = []
        #: How it ended, in words; empty while it runs.
        self.fate = ""
        self.started_at = time.monotonic()
        self.ended_at = 0.0
        self._lifeline, lifeline = socket.socketpair()
        end, channel = socket.socketpair()
        # On a thread of its own: it is not the plugin, which is being called here, that starts a program.
        with lifeline, channel, ThreadPoolExecutor(1) as starter:
            self._process = starter.submit(_start, lifeline.fileno(), channel.fileno(), memory or 0).result()
        self._channel = Channel(end)
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._output = PrintedLines(name, self._process.stdout, self._process.stderr)
        self._reader = threading.Thread(target=self._read, name=f"reader-{name}", daemon=True)
        self._output.start()
        self._reader.start()

    def call(self, method: str, arguments: Sequence[object], seconds: float) -> Any:
        """Return what *method* returns within *seconds*. The time that callbacks take here does not count."""
        frames: SimpleQueue[Frame | None] = SimpleQueue()
        with self._lock:
            if self.fate:
                raise ProcessError(self.fate)
            number = next(self._numbers)
            forgotten = () if self._waiting else self._shared.sweep()
            self._waiting[number] = frames
        served = _Served(self._shared, self._lasting if method == "make" else [])
        request = forgotten, threading.get_ident(), method, tuple(arguments)
        try:
            until = time.monotonic() + seconds
            self._send(Kind.CALL, number, lambda: self._shared.encode(request, served.opened), seconds)
            while True:
                frame = frames.get(timeout=max(0.0, until - time.monotonic()))
                if frame is None:
                    raise ProcessError(self.fate)
                if frame.kind is Kind.RESULT:
                    return self._result(frame.payload)
                began = time.monotonic()
                self._serve(frame, served)
                until += time.monotonic() - began
        except (Empty, TimeoutError):
            self.end(f"gave no answer ({method}) within {seconds:g} s: it was ended")
            raise ProcessError(self.fate) from None
        except GarbageError as error:
            self.end(f"sent what can't be read: it was ended ({error})")
            raise ProcessError(self.fate) from None
        finally:
            served.close(keep_handles=method == "make")
            with self._lock:
                self._waiting.pop(number, None)

    def end(self, why: str) -> None:
        """End the process, if it has not ended, because it *why*; return when it is gone."""
        self._note_fate(why)
        # The supervisor ends everything when nobody holds the other end any more.
        with contextlib.suppress(OSError):
            self._lifeline.shutdown(socket.SHUT_WR)
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if threading.current_thread() is not self._reader:
            self._reader.join(_END_SECONDS)

    def _note_fate(self, what: str) -> None:
        with self._lock:
            if not self.fate:
                self.fate, self.ended_at = f"the process of {self._name} {what}", time.monotonic()

    def _send(self, kind: Kind, number: int, encode: Callable[[], bytes], seconds: float) -> None:
        try:
            self._channel.send(kind, number, encode, seconds)
        except (BrokenPipeError, ConnectionError):
            # The reader is about to find out why.
            self._reader.join(_END_SECONDS)
            raise ProcessError(self.fate or f"the process of {self._name} has ended") from None

    def _result(self, payload: bytes) -> Any:
        try:
            fine, value = self._shared.decode(payload)
            error = None if fine else error_of(value)
        except (TypeError, ValueError, AttributeError, StopIteration) as garbage:
            raise GarbageError(str(garbage)) from None
        if error is None:
            return value
        if isinstance(error, MemoryError):
            limit = f" of {format_resource('memory', self._memory)}" if self._memory else ""
            self.end(f"reached its limit of memory{limit}: it was ended")
            raise ProcessError(self.fate)
        raise error

    def _serve(self, frame: Frame, served: "_Served") -> None:
        number, answer = served.answer(frame.payload)
        self._send(Kind.ANSWER, number, answer, START_SECONDS)

    def _read(self) -> None:
        why = ""
        try:
            while frame := self._channel.receive():
                self._take(frame)
        except OSError:
            pass
        except Exception as error:
            why = f"sent what can't be read: it was ended ({error})"
        self._note_fate(why or self._how_it_ended())
        self._close()
        with self._lock:
            waiting = list(self._waiting.values())
        for frames in waiting:
            frames.put(None)

    def _take(self, frame: Frame) -> None:
        if frame.kind is Kind.LOG:
            name, level, text = self._shared.decode(frame.payload)
            _log.log(int(level), "plugin %s: %s: %s", self._name, name, text)
        elif frame.kind is Kind.CALLBACK and frame.number == 0:
            # From a thread of the plugin's own: no call waits here that could serve it.
            threading.Thread(target=self._serve_thread, args=(frame,), daemon=True).start()
        else:
            with self._lock:
                frames = self._waiting.get(frame.number)
            if frames is None:
                raise GarbageError("it answered a question that was not asked")
            frames.put(frame)

    def _serve_thread(self, frame: Frame) -> None:
        served = _Served(self._shared, [])
        try:
            self._serve(frame, served)
        except (ProcessError, TimeoutError, OSError):
            return
        except GarbageError as error:
            self.end(f"sent what can't be read: it was ended ({error})")
        finally:
            served.close()

    def _how_it_ended(self) -> str:
        """Return how the process ended, after the end of its channel."""
        self._lifeline.settimeout(_TOLD_SECONDS)
        try:
            told = self._lifeline.recv(64)
        except OSError:
            return "cut its connection to Nodewright: it was ended"
        self._output.join(_TOLD_SECONDS)
        status = int(told or b"9")
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            how = f"ended with signal {number} ({signal.Signals(number).name})"
            if number == signal.SIGKILL:
                how += ", perhaps for want of memory"
        else:
            how = f"ended with exit code {os.WEXITSTATUS(status)}"
        return f"{how}: {self._output.last}" if self._output.last else how

    def _close(self) -> None:
        """Let everything go: the supervisor ends when its lifeline does."""
        self._lifeline.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._channel.close()
        self._output.join(_END_SECONDS)


def _start(lifeline: int, channel: int, memory: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [
            sys.executable,
            "-P",
            str(Path(supervisor.__file__)),
            *(str(each) for each in (lifeline, channel, memory)),
            *sys.path,
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=(lifeline, channel),
        start_new_session=True,
    )


class _Served:
    """What the plugin was given for one call, and calls back while that lasts."""

    def __init__(self, shared: Shared, opened: list[int]) -> None:
        self.opened = opened
        self._shared = shared
        self._forks: dict[int, AbstractContextManager[object]] = {}

    def answer(self, payload: bytes) -> tuple[int, Callable[[], bytes]]:
        """Return the number of the callback in *payload*, and what encodes the answer to it."""
        asked = self._shared.decode(payload)
        try:
            number, handle, method, arguments = asked
            target = self._shared.handle(handle)
        except (TypeError, ValueError) as error:
            raise GarbageError(str(error)) from None
        try:
            answer = True, self._call(target, handle, method, arguments)
        except Exception as error:
            answer = False, failure_of(error)

        def encode() -> bytes:
            encoded = self._shared.encode(answer, self.opened)
            if method == "fork" and answer[0]:
                self._forks[self.opened[-1]] = self._forks.pop(0)
            return encoded

        return number, encode

    def close(self, *, keep_handles: bool = False) -> None:
        """End the forks that are open, the last one first, and forget what was given."""
        for fork in reversed(list(self._forks.values())):
            fork.__exit__(None, None, None)
        self._forks.clear()
        if not keep_handles:
            self._shared.close(self.opened)

    def _call(self, target: Any, handle: int, method: str, arguments: Sequence[Any]) -> object:
        if method == "end":
            return self._forks.pop(handle).__exit__(None, None, None)
        if method not in _CALLABLE and method != "wait":
            raise AttributeError(f"{method} can't be called back")
        if method == "fork":
            self._forks[0] = fork = target.fork()
            return fork.__enter__()
        if method == "wait":
            return target.wait(threading.Event(), *arguments)
        if method == "place":
            pods, on = arguments
            return target.place(pods, on=on)
        return getattr(target, method)(*arguments)
