"""The cloud's API over HTTP on loopback."""

import json
import logging
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from threading import Event, Lock, Thread
from typing import Any

from nodewright_fake.cloud.api import CloudApi
from nodewright_fake.cloud.cloud import Cloud
from nodewright_fake.cloud.refusal import RefusalError, bad_request

_HOST = "127.0.0.1"

_log = logging.getLogger(__name__)


class CloudServer:
    """Serves a cloud from `start` to `stop`."""

    def __init__(self, cloud: Cloud, *, port: int = 0) -> None:
        self._closing = Event()
        self._api = CloudApi(cloud, self._closing)
        self._port = port
        self._server: _Server | None = None
        self._thread: Thread | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{_HOST}:{self._port}"

    def start(self) -> None:
        """Bind the port and answer from now on, on threads of its own. Raises `OSError` if the port is taken."""
        self._server = _Server((_HOST, self._port), self._api)
        self._port = self._server.server_port
        self._thread = Thread(target=self._accept, args=(self._server,), name="fake-cloud", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Cut all connections and wait for all threads to end."""
        self._closing.set()
        if self._server is None or self._thread is None:
            return
        # Only a connection wakes a thread that waits for connections.
        with socket.socket() as knock:
            knock.connect_ex((_HOST, self._port))
        self._thread.join()
        self._server.cut_connections()
        self._server.server_close()
        self._server = None

    def _accept(self, server: "_Server") -> None:
        while not self._closing.is_set():
            server.handle_request()


class _Server(ThreadingHTTPServer):
    # Threads are joined in server_close, which needs their connections cut before.
    daemon_threads = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], api: CloudApi) -> None:
        self.api = api
        self._connections: set[socket.socket] = set()
        self._connections_lock = Lock()
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        # HTTPServer would look up the host's name, which can take seconds.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = _HOST, self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._connections_lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._connections_lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        _log.debug("connection of %s broke", client_address, exc_info=True)

    def cut_connections(self) -> None:
        with self._connections_lock:
            for connection in self._connections:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    _log.debug("a connection was closed by its client first")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Header and body leave in one packet; otherwise each answer waits for the client's delayed acknowledgement.
    wbufsize = 65536
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def _answer(self) -> None:
        try:
            self._send(200, self.server.api.answer(self.command, self.path, self._body()))
        except RefusalError as refusal:
            if refusal.status:
                self._send(refusal.status, refusal.body)
            else:
                self.close_connection = True
        except ConnectionError:
            self.close_connection = True
        except Exception as error:
            _log.exception("%s %s failed", self.command, self.path)
            self._send(500, {"code": "INTERNAL", "message": f"the fake cloud has a fault of its own: {error!r}"})

    def _body(self) -> Any:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            return json.loads(raw) if raw else None
        except ValueError as error:
            raise bad_request(f"the body is not JSON: {error}") from None

    def _send(self, status: int, body: Any) -> None:
        encoded = json.dumps({} if body is None else body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(encoded)))
        if status == 429 and body.get("retryAfter") is not None:
            self.send_header("Retry-After", f"{body['retryAfter']:g}")
        self.end_headers()
        self.wfile.write(encoded)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        _log.debug("%s: %s", self.address_string(), format % args)
