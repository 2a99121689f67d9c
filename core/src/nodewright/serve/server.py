"""The HTTP server of metrics and health."""

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from nodewright.serve.metrics import Metrics


class Server:
    """Serves ``/metrics`` and ``/health-check``. Raises `OSError` if the address can't be had.

    *trouble* says what is wrong with the process, empty if nothing is; it is asked on threads of the server.
    """

    def __init__(self, address: str, metrics: Metrics, *, trouble: Callable[[], str] = lambda: "") -> None:
        host, _, port = address.rpartition(":")
        self._server = ThreadingHTTPServer((host, int(port)), _handler(metrics, trouble))
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, name="metrics", daemon=True)

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return self._server.server_port

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """End the server and its thread."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)


def _handler(metrics: Metrics, trouble: Callable[[], str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            match self.path.partition("?")[0]:
                case "/metrics":
                    self._answer(200, metrics.render(), "text/plain; version=0.0.4; charset=utf-8")
                case "/health-check":
                    wrong = trouble()
                    self._answer(500 if wrong else 200, f"Error: {wrong}".encode() if wrong else b"OK", "text/plain")
                case _:
                    self._answer(404, b"there is /metrics and /health-check\n", "text/plain")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

        def _answer(self, status: int, body: bytes, content_type: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler
