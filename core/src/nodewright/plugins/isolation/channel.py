"""The channel between Nodewright and a plugin's process: frames on a socket."""

import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum

_HEADER = struct.Struct(">IBQ")
#: A longer frame is garbage.
_LONGEST = 1 << 30


class Kind(IntEnum):
    """What a frame is."""

    #: To the plugin: call a method.
    CALL = 1
    #: From the plugin: how that went.
    RESULT = 2
    #: From the plugin, while a call lasts: call something that came with it.
    CALLBACK = 3
    #: To the plugin: how that went.
    ANSWER = 4
    #: From the plugin: a record for the log.
    LOG = 5


class GarbageError(Exception):
    """What came from the plugin's process can't be read."""


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One message."""

    kind: Kind
    #: The call, or the callback, that it belongs to.
    number: int
    payload: bytes


class Channel:
    """Sends and receives frames on a socket. One thread receives; any may send."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._sending = threading.Lock()
        self._file = end.makefile("rb", buffering=1 << 16)

    def send(self, kind: Kind, number: int, encode: Callable[[], bytes], timeout: float | None = None) -> None:
        """Send what *encode* returns; raises `TimeoutError` if the other side does not read it within *timeout*.

        Frames are sent in the order in which they are encoded.
        """
        until = None if timeout is None else time.monotonic() + timeout
        if not self._sending.acquire(timeout=-1 if timeout is None else timeout):
            raise TimeoutError
        try:
            payload = encode()
            frame = memoryview(_HEADER.pack(len(payload), kind, number) + payload)
            if until is None:
                self._socket.sendall(frame)
            else:
                self._send_by(frame, until)
        finally:
            self._sending.release()

    def receive(self) -> Frame | None:
        """Return the next frame; None at the end. Raises `GarbageError`."""
        header = self._file.read(_HEADER.size)
        if len(header) < _HEADER.size:
            return None
        length, kind, number = _HEADER.unpack(header)
        if length > _LONGEST or kind not in Kind.__members__.values():
            raise GarbageError("it sent something that is no answer")
        payload = self._file.read(length)
        return Frame(kind=Kind(kind), number=number, payload=payload) if len(payload) == length else None

    def close(self) -> None:
        """Close the socket. Wakes the thread that receives."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._file.close()
        self._socket.close()

    def _send_by(self, frame: memoryview, until: float) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_WRITE)
            while frame:
                if not selector.select(max(0.0, until - time.monotonic())):
                    raise TimeoutError
                frame = frame[self._socket.send(frame, socket.MSG_DONTWAIT) :]
