"""HTTP on the loopback interface."""

import socket
from collections.abc import Callable
from contextlib import suppress
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from nodewright.api import Clock

from nodewright_gce.testing.messages import HangUpError, Reply, Request
from nodewright_gce.testing.wire import read_request


class Server:
    """Serves *answer* at `url` until it is stopped. Port 0 is any free port.

    Answers have the date of *clock*.
    """

    def __init__(self, answer: Callable[[Request], Reply], clock: Clock, *, port: int = 0) -> None:
        self._http = _Http(("127.0.0.1", port), _Handler)
        self._http.answer = answer
        self._http.clock = clock
        self._thread = Thread(target=self._http.serve_forever, args=(0.02,), name="gce-double", daemon=True)
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def start(self) -> None:
        """Start to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Stop: threads and sockets are gone afterwards."""
        self._http.shutdown()
        self._thread.join()
        self._http.hang_up()
        self._http.server_close()


class _Http(ThreadingHTTPServer):
    # server_close waits for these threads; each ends with its connection.
    daemon_threads = False
    request_queue_size = 128
    answer: Callable[[Request], Reply]
    clock: Clock

    def __init__(self, *arguments: Any) -> None:
        self._lock = Lock()
        self._connections: set[socket.socket] = set()
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Close all connections, also idle ones of clients."""
        with self._lock:
            for connection in self._connections:
                # The client may have closed it already.
                _shut(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect in the middle."""


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body are sent in one piece, or the client's delayed acknowledgement costs 40 ms.
    wbufsize = 65536
    server: _Http

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            reply = self.server.answer(read_request(self.command, self.path, dict_of(self.headers), body))
        except HangUpError:
            self.close_connection = True
            return
        self.send_response_only(reply.status)
        self.send_header("Date", format_datetime(self.server.clock.now(), usegmt=True))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)
        self.wfile.flush()

    def log_message(self, *arguments: Any) -> None:
        """Log nothing: `GceDouble.calls` has the calls."""


def dict_of(headers: Any) -> dict[str, str]:
    """Return *headers* in their usual spelling."""
    return {name.title(): value for name, value in headers.items()}
