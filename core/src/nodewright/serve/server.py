"""The HTTP server of metrics and health."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from nodewright.serve.metrics import Metrics


class Server:
    """Serves ``/metrics`` and ``/health-check``. Raises `OSError` if the address can't be had."""

    def __init__(self, address: str, metrics: Metrics) -> None:
        host, _, port = address.rpartition(":")
        self._server = ThreadingHTTPServer((host, int(port)), _handler(metrics))
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


def _handler(metrics: Metrics) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            match self.path.partition("?")[0]:
                case "/metrics":
                    self._answer(200, metrics.render(), "text/plain; version=0.0.4; charset=utf-8")
                case "/health-check":
                    self._answer(200, b"OK", "text/plain")
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
