"""Connections: how many clients may be connected, and who has to go for another."""

import socket
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from time import monotonic

_MOST = 64


@dataclass(kw_only=True)
class _State:
    """What a client's connection is at."""

    #: Since when it has waited for a request.
    idle_since: float
    answering: bool = False


class Connections:
    """Keeps clients that are slow, or forget to hang up, from keeping others out. Safe to use from any thread."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._lock = Lock()
        self._states: dict[socket.socket, _State] = {}

    def admit(self, client: socket.socket) -> bool:
        """Count a new connection; tell whether there is room, as that which was idle for longest makes some."""
        with self._lock:
            if len(self._states) >= self._most and not self._make_room():
                return False
            self._states[client] = _State(idle_since=monotonic())
            return True

    def set_answering(self, client: socket.socket, answering: bool) -> None:
        """Note that a request has come and is being answered, or that this is over."""
        with self._lock:
            if client in self._states:
                self._states[client] = _State(idle_since=monotonic(), answering=answering)

    def leave(self, client: socket.socket) -> None:
        """Count a connection no longer."""
        with self._lock:
            self._states.pop(client, None)

    def _make_room(self) -> bool:
        idle = [(state.idle_since, client) for client, state in self._states.items() if not state.answering]
        if not idle:
            return False
        _, oldest = min(idle, key=lambda each: each[0])
        del self._states[oldest]
        # Whoever reads from it finds its end, and closes it.
        with suppress(OSError):
            oldest.shutdown(socket.SHUT_RDWR)
        return True
