"""The HTTP server of metrics, health, snapshots and profiles."""

import http.client
import io
import logging
import os
import select
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from nodewright.api.errors import ConfigurationError, Problem
from nodewright.config.addresses import split_address
from nodewright.serve.connections import Connections
from nodewright.serve.site import Answer, Request, Site

#: So long, in seconds, a client may take for a request, or to take an answer, and a connection may be idle.
_TIMEOUT = 30.0
#: How often, in seconds, the server looks whether it is to end.
_POLL = 0.2
#: Bytes of a request in all.
_LARGEST_REQUEST = 128 * 1024
_READING = ("GET", "HEAD")

_log = logging.getLogger(__name__)


class Server:
    """Serves a site at ``host:port``, ``[host]:port`` or ``:port``, on threads of its own.

    Raises `OSError` if the address can't be had, `ConfigurationError` if it is none.
    """

    def __init__(self, address: str, site: Site) -> None:
        self._server = _Listener(_listen(address), site)
        self._thread = Thread(target=self._server.serve_forever, args=(_POLL,), name="server", daemon=True)

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return self._server.server_port

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """End the server and its thread; answers that are under way may still be sent."""
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
        # Its own message names the address once more.
        raise OSError(error.errno, os.strerror(error.errno or 0)) from error


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, listening: socket.socket, site: Site) -> None:
        # The base would look for the host's name, which may take long where no name server is.
        super().__init__(listening.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self.server_port = listening.getsockname()[1]
        self.site = site
        self.connections = Connections()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer on a thread of its own, if there is room."""
        if self.connections.admit(request):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        self.connections.leave(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Note that a client went away, or took too long: that is its own business."""
        _log.debug("the connection of %s broke", client_address, exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "nodewright"
    sys_version = ""
    timeout = _TIMEOUT
    # Head and body go in one piece, so that no client waits for an acknowledgement of the first.
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
        # What it wants to send is not read, so nothing can follow it.
        self.close_connection = True
        headers = {"Allow": ", ".join(_READING), "Connection": "close"}
        self._send(Answer(status=405, body=b"this can only be read: GET or HEAD", headers=headers))

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
        self._send(self.server.site.answer(request))

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in {"Content-Type": answer.content_type, **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def _is_gone(self) -> bool:
        """Tell whether the client has hung up: it sends nothing, and there is an end."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        try:
            return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


class _LimitedReader(io.BufferedIOBase):
    """Reads lines until there are too many bytes of them."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self.left = _LARGEST_REQUEST

    def readline(self, size: int | None = -1, /) -> bytes:
        line: bytes = self._source.readline(size)
        self.left -= len(line)
        if self.left < 0:
            # As for a single line that is too long: 431.
            raise http.client.LineTooLong("header")
        return line

    def close(self) -> None:
        self._source.close()
        super().close()
