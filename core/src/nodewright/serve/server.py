"""The HTTP server of metrics, health, snapshots and profiles."""

import http.client
import io
import logging
import os
import select
import socket
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from time import monotonic
from typing import Any

from nodewright.api.errors import ConfigurationError, Problem
from nodewright.config.addresses import split_address
from nodewright.serve.endpoints import Endpoints, Request, Response

#: Seconds that a client may take to send a request or to read a response, and that a connection may be idle.
_TIMEOUT = 30.0
#: Seconds between checks whether the server should stop.
_POLL = 0.2
#: Bytes of a whole request.
_LARGEST_REQUEST = 128 * 1024
_READING = ("GET", "HEAD")
#: Connections at once.
_MOST_CONNECTIONS = 64

_log = logging.getLogger(__name__)


class Server:
    """Serves *endpoints* at ``host:port``, ``[host]:port`` or ``:port``, on threads of its own.

    Raises `ConfigurationError` if the address is malformed, and `OSError` if it can't be listened on.
    """

    def __init__(self, address: str, endpoints: Endpoints) -> None:
        self._server = _Listener(_listen(address), endpoints)
        self._thread = Thread(target=self._server.serve_forever, args=(_POLL,), name="server", daemon=True)

    @property
    def port(self) -> int:
        """The port that the server listens on."""
        return self._server.server_port

    def start(self) -> None:
        """Start to answer requests."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the server and its thread; responses in progress may still be sent."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join(timeout=5)
        self._server.server_close()


def _listen(address: str) -> socket.socket:
    try:
        host, port = split_address(address)
    except ValueError as error:
        raise ConfigurationError(Problem(message=str(error), path="server.address")) from None
    everywhere = not host or host == "::"
    both = everywhere and socket.has_dualstack_ipv6()
    family, place = socket.AF_INET6 if both else socket.AF_INET, ("", port)
    if not everywhere:
        family, _, _, _, found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        place = str(found[0]), port
    try:
        return socket.create_server(place, family=family, dualstack_ipv6=both)
    except OSError as error:
        # The original message would name the address a second time.
        raise OSError(error.errno, os.strerror(error.errno or 0)) from error


@dataclass(kw_only=True)
class _State:
    """The state of a client's connection."""

    #: Since when it has waited for a request.
    idle_since: float
    answering: bool = False


class Connections:
    """Bounds open connections, so that slow or idle clients lock no one out. Safe to use from any thread."""

    def __init__(self, most: int = _MOST_CONNECTIONS) -> None:
        self._most = most
        self._lock = Lock()
        self._states: dict[socket.socket, _State] = {}

    def admit(self, client: socket.socket) -> bool:
        """Count a new connection, closing the longest idle one if there are too many; False if none of them is idle."""
        with self._lock:
            if len(self._states) >= self._most and not self._make_room():
                return False
            self._states[client] = _State(idle_since=monotonic())
            return True

    def set_answering(self, client: socket.socket, answering: bool) -> None:
        """Note that the answer to a request begins or ends."""
        with self._lock:
            if client in self._states:
                self._states[client] = _State(idle_since=monotonic(), answering=answering)

    def leave(self, client: socket.socket) -> None:
        """Stop counting a connection."""
        with self._lock:
            self._states.pop(client, None)

    def _make_room(self) -> bool:
        idle = [(state.idle_since, client) for client, state in self._states.items() if not state.answering]
        if not idle:
            return False
        _, oldest = min(idle, key=lambda each: each[0])
        del self._states[oldest]
        # The thread that reads from it sees its end, and closes it.
        with suppress(OSError):
            oldest.shutdown(socket.SHUT_RDWR)
        return True


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, listening: socket.socket, endpoints: Endpoints) -> None:
        # The base class would look up the host's name, which may take long without a name server.
        super().__init__(listening.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self.server_port = listening.getsockname()[1]
        self.endpoints = endpoints
        self.connections = Connections()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer on a thread of its own if there is room, else close the connection."""
        if self.connections.admit(request):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        self.connections.leave(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log at debug level that a client hung up or took too long, which is no fault of ours."""
        _log.debug("the connection of %s broke", client_address, exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "nodewright"
    sys_version = ""
    timeout = _TIMEOUT
    # Head and body leave in one piece, so that no client has to acknowledge the head first.
    wbufsize = 64 * 1024
    error_content_type = "text/plain"
    error_message_format = "%(code)d %(message)s\n"
    server: _Listener

    def setup(self) -> None:
        super().setup()
        self._limited = _LimitedReader(self.rfile)
        self.rfile = self._limited

    def handle_one_request(self) -> None:
        self._limited.left = _LARGEST_REQUEST
        super().handle_one_request()
        self.server.connections.set_answering(self.connection, False)

    def do_GET(self) -> None:
        self._respond()

    def do_HEAD(self) -> None:
        self._respond()

    def _refuse(self) -> None:
        # The body is not read, so no further request can follow on this connection.
        self.close_connection = True
        headers = {"Allow": ", ".join(_READING), "Connection": "close"}
        self._send(Response(status=405, body=b"this is read-only: use GET or HEAD", headers=headers))

    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _refuse  # noqa: N815  names of the base

    def _respond(self) -> None:
        self.server.connections.set_answering(self.connection, True)
        if self.headers.get("Transfer-Encoding") or self.headers.get("Content-Length", "0") != "0":
            self.close_connection = True
        path, _, query = self.path.partition("?")
        request = Request(
            path=path,
            query=query,
            accept=self.headers.get("Accept", ""),
            accept_encoding=self.headers.get("Accept-Encoding", ""),
            gone=self._is_gone,
        )
        self._send(self.server.endpoints.respond(request))

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in {"Content-Type": response.content_type, **response.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)

    def _is_gone(self) -> bool:
        """Return whether the client has hung up: reading finds the end of the stream."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        try:
            return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


class _LimitedReader(io.BufferedIOBase):
    """Reads lines, up to a number of bytes in all."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self.left = _LARGEST_REQUEST

    def readline(self, size: int | None = -1, /) -> bytes:
        line: bytes = self._source.readline(size)
        self.left -= len(line)
        if self.left < 0:
            # The same answer as to a single line that is too long: 431.
            raise http.client.LineTooLong("header")
        return line

    def close(self) -> None:
        self._source.close()
        super().close()
