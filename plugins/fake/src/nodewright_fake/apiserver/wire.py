"""HTTP/1.1, as much as API clients speak: requests read whole, answers sent in one piece or as a stream of chunks."""

import socket
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from http import HTTPStatus

_BUFFER = 65536
_LONGEST_LINE = 65536
_LARGEST_BODY = 64 * 1024 * 1024


class ConnectionEndedError(Exception):
    """The connection is to be closed, without a further word."""


@dataclass(frozen=True, kw_only=True)
class Message:
    """A request as it came over the wire; header names in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_last(self) -> bool:
        """Whether the client wants the connection to end with the answer."""
        return self.headers.get("connection", "").lower() == "close"


@dataclass(frozen=True, kw_only=True)
class Response:
    """An answer. A body of pieces is streamed; an empty piece checks that the client still listens."""

    status: int = 200
    body: bytes | Generator[bytes] = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Whether the connection breaks in the middle of the body, or of the first piece that is not empty.
    cut: bool = False


class Connection:
    """One client's connection. Used by one thread; only `close` may be called by others."""

    def __init__(self, client: socket.socket) -> None:
        # Without this the kernel holds small answers back until the client acknowledges the last one.
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = client
        self._reader = client.makefile("rb", _BUFFER)

    def close(self) -> None:
        """End the connection now, also under another thread's hands."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # the other side was faster

    def release(self) -> None:
        """Give the socket back to the system."""
        self._reader.close()
        self._socket.close()

    def read(self) -> Message | None:
        """Return the next request, or None when the client has no more. Raises `ConnectionEndedError` for nonsense."""
        words = self._line().split()
        if not words:
            return None
        if len(words) != 3:
            raise ConnectionEndedError
        headers = {}
        while line := self._line():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        if headers.get("expect", "").lower() == "100-continue":
            self._socket.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        return Message(method=words[0], target=words[1], headers=headers, body=self._body(headers))

    def send(self, response: Response) -> None:
        """Send an answer. Raises `OSError` or `ConnectionEndedError` when the client is gone."""
        lines = [f"HTTP/1.1 {response.status} {_phrase(response.status)}", f"Content-Type: {response.content_type}"]
        lines += [f"{name}: {value}" for name, value in response.headers.items()]
        if isinstance(response.body, bytes):
            head = "\r\n".join((*lines, f"Content-Length: {len(response.body)}", "", "")).encode("latin-1")
            self._socket.sendall(head + (_half(response.body) if response.cut else response.body))
            if response.cut:
                raise ConnectionEndedError
            return
        self._socket.sendall("\r\n".join((*lines, "Transfer-Encoding: chunked", "", "")).encode("latin-1"))
        with closing(response.body) as pieces:
            for piece in pieces:
                if piece and response.cut:
                    self._socket.sendall(b"%x\r\n%b" % (len(piece), _half(piece)))
                    raise ConnectionEndedError
                if piece:
                    self._socket.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
                elif self._abandoned():
                    raise ConnectionEndedError
        self._socket.sendall(b"0\r\n\r\n")

    def _line(self) -> str:
        line = self._reader.readline(_LONGEST_LINE)
        if line and not line.endswith(b"\n"):
            raise ConnectionEndedError
        return line.strip().decode("latin-1")

    def _body(self, headers: Mapping[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return self._chunks()
        length = headers.get("content-length", "0")
        return self._exactly(int(length) if length.isdecimal() else -1)

    def _chunks(self) -> bytes:
        body = bytearray()
        while True:
            try:
                length = int(self._line().partition(";")[0], 16)
            except ValueError:
                raise ConnectionEndedError from None
            body += self._exactly(length)
            self._line()
            if not length:
                return bytes(body)

    def _exactly(self, length: int) -> bytes:
        if not 0 <= length <= _LARGEST_BODY:
            raise ConnectionEndedError
        body = self._reader.read(length) if length else b""
        if len(body) < length:
            raise ConnectionEndedError
        return body

    def _abandoned(self) -> bool:
        try:
            return not self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False


def _half(body: bytes) -> bytes:
    return body[: len(body) // 2]


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
