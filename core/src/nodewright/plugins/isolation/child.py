"""The plugin's process: makes the plugin, and calls it as Nodewright asks."""

import logging
import os
import resource
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count
from queue import Empty, SimpleQueue
from threading import Lock, Thread, local
from typing import TYPE_CHECKING, Any, NoReturn, cast

from nodewright.plugins.isolation.channel import Channel, Frame, Kind
from nodewright.plugins.isolation.failures import error_of, failure_of
from nodewright.plugins.isolation.remote import remote
from nodewright.plugins.isolation.servants import Servant, servant_of
from nodewright.plugins.isolation.values import Received

if TYPE_CHECKING:
    from io import TextIOWrapper

#: A thread that has nothing to do for so long ends.
_IDLE_SECONDS = 600.0
#: The exit code of a process that could not answer.
_SPEECHLESS = 70


def run(channel: int, memory: int) -> None:
    """Answer on the socket *channel* until it is closed. *memory* limits what this process may take; 0: no limit."""
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    for stream in (sys.stdout, sys.stderr):
        # Into pipes, Python would write only now and then.
        cast("TextIOWrapper", stream).reconfigure(line_buffering=True)
    host = _Host(Channel(socket.socket(fileno=channel)))
    logging.root.addHandler(_Log(host.log))
    logging.root.setLevel(logging.INFO)
    Thread(target=host.read, daemon=True).start()
    host.work()


class _Host:
    """Calls the plugin, on one thread for each thread of Nodewright's that asks.

    The main thread makes the plugin, and serves the thread that has asked for it: the main thread there, as a rule.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._received = Received(lambda handle: remote(handle, self._call_back))
        self._main: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lanes: dict[int, SimpleQueue[Callable[[], None]]] = {}
        self._lanes_lock = Lock()
        self._callbacks: dict[int, SimpleQueue[tuple[bool, Any]]] = {}
        self._callback_numbers = count(1)
        self._current = local()
        self._servant: Servant | None = None

    def work(self) -> NoReturn:
        """Do what the main thread has to do."""
        while True:
            self._main.get()()

    def read(self) -> None:
        """Read what comes, until Nodewright is gone."""
        try:
            while frame := self._channel.receive():
                if frame.kind is Kind.ANSWER:
                    self._callbacks.pop(frame.number).put(self._received.decode(frame.payload))
                else:
                    self._take(frame)
        except MemoryError:
            _end(_SPEECHLESS, "MemoryError: no memory is left to read what Nodewright sent")
        except BaseException as error:
            _end(_SPEECHLESS, f"{type(error).__name__}: {error}")
        _end(0)

    def log(self, name: str, level: int, text: str) -> None:
        """Have a line logged by Nodewright."""
        self._channel.send(Kind.LOG, 0, lambda: self._received.encode((name, level, text)))

    def _take(self, frame: Frame) -> None:
        forgotten, lane, method, arguments = self._received.decode(frame.payload)
        self._received.forget(forgotten)
        if not self._lanes:
            self._lanes[lane] = self._main
        self._lane(lane).put(partial(self._answer, frame.number, method, arguments))

    def _lane(self, number: int) -> "SimpleQueue[Callable[[], None]]":
        with self._lanes_lock:
            if number not in self._lanes:
                self._lanes[number] = SimpleQueue()
                Thread(target=self._work, args=(number, self._lanes[number]), daemon=True).start()
            return self._lanes[number]

    def _work(self, number: int, tasks: "SimpleQueue[Callable[[], None]]") -> None:
        while True:
            try:
                tasks.get(timeout=_IDLE_SECONDS)()
            except Empty:
                with self._lanes_lock:
                    if tasks.empty():
                        del self._lanes[number]
                        return

    def _answer(self, number: int, method: str, arguments: tuple[Any, ...]) -> None:
        self._current.call = number
        try:
            try:
                answer = True, self._do(method, arguments)
            except BaseException as error:  # SystemExit too: what ends a plugin must not end its process unheard
                answer = False, failure_of(error)
            self._current.call = 0
            self._channel.send(Kind.RESULT, number, lambda: self._encoded(answer))
        except OSError:
            _end(0)
        except BaseException as error:
            _end(_SPEECHLESS, f"{type(error).__name__}: {error}")

    def _do(self, method: str, arguments: tuple[Any, ...]) -> Any:
        if self._servant is None:
            self._servant, description = servant_of(*arguments)
            return description
        return self._servant.do(method, arguments)

    def _encoded(self, answer: tuple[bool, Any]) -> bytes:
        try:
            return self._received.encode(answer)
        except Exception as error:
            if not answer[0]:
                names, message, _ = answer[1]
                return self._received.encode((False, (names, message, {})))
            return self._received.encode((False, failure_of(error)))

    def _call_back(self, handle: int, method: str, *arguments: object) -> Any:
        number = next(self._callback_numbers)
        answers: SimpleQueue[tuple[bool, Any]] = SimpleQueue()
        self._callbacks[number] = answers
        asked = number, handle, method, arguments
        call = getattr(self._current, "call", 0)
        self._channel.send(Kind.CALLBACK, call, lambda: self._received.encode(asked))
        fine, value = answers.get()
        if fine:
            return value
        raise error_of(value)


class _Log(logging.Handler):
    """Has what the plugin logs logged by Nodewright."""

    def __init__(self, log: Callable[[str, int, str], None]) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Send *record* as text."""
        try:
            self._log(record.name, record.levelno, self.format(record))
        except Exception:
            self.handleError(record)


def _end(code: int, last_words: str = "") -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, MemoryError):
            stream.flush()
    with suppress(OSError):
        os.write(2, f"{last_words}\n".encode() if last_words else b"")
    os._exit(code)
