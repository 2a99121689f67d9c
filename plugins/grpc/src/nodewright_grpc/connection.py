"""The connection to the server."""

from pathlib import Path

import grpc
from nodewright.api import PermanentError, TemporaryError

from nodewright_grpc.config import GrpcConfig
from nodewright_grpc.protocol import LONGEST, METHOD

_OPTIONS = [
    ("grpc.max_receive_message_length", LONGEST),
    # Each channel has its own connection, so that one that was closed is not reused.
    ("grpc.use_local_subchannel_pool", 1),
]
#: After these, the connection may lead to a server that no longer exists.
_DOUBTFUL = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


class Connection:
    """A connection to the server: opened when needed, and again when it fails or certificates change."""

    def __init__(self, config: GrpcConfig) -> None:
        self._config = config
        self._channel: grpc.Channel | None = None
        self._certificates: tuple[bytes | None, ...] = ()

    def ask(self, question: bytes, seconds: float) -> bytes:
        """Return the server's answer to *question*, within *seconds*.

        Raises `TemporaryError` if there is none, and `PermanentError` if certificate files can't be used.
        """
        call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = self._open().unary_unary(METHOD)
        try:
            return call(question, timeout=seconds)
        except grpc.RpcError as error:
            code = error.code()
            if code in _DOUBTFUL:
                # So that the next question connects at once: gRPC would wait longer after each failure.
                self.close()
            raise TemporaryError(self._message(code, error.details() or "")) from error

    def close(self) -> None:
        """Close the connection."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def _open(self) -> grpc.Channel:
        certificates = tuple(map(_read, self._files()))
        if certificates != self._certificates:
            self.close()
            self._certificates = certificates
        if self._channel is None:
            self._channel = self._connect()
        return self._channel

    def _files(self) -> tuple[str, ...]:
        return self._config.certificate, self._config.client_key, self._config.client_certificate

    def _connect(self) -> grpc.Channel:
        if self._config.insecure:
            return grpc.insecure_channel(self._config.url, options=_OPTIONS)
        return grpc.secure_channel(
            self._config.url, grpc.ssl_channel_credentials(*self._certificates), options=_OPTIONS
        )

    def _message(self, code: grpc.StatusCode, details: str) -> str:
        server = f"the expander server {self._config.url}"
        match code:
            case grpc.StatusCode.DEADLINE_EXCEEDED:
                return f"{server} did not answer within {self._config.timeout:g} s"
            case grpc.StatusCode.UNAVAILABLE:
                return f"{server} can't be reached: {details}"
            case grpc.StatusCode.UNIMPLEMENTED:
                return f"{server} does not implement {METHOD}: it is no expander for Cluster Autoscaler ({details})"
        return f"{server} answered with {code.name}: {details}"


def _read(file: str) -> bytes | None:
    if not file:
        return None
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise PermanentError(f"the certificate file {file} can't be read: {error.strerror}") from error
    if b"-----BEGIN " not in content:
        raise PermanentError(f"the certificate file {file} contains neither a certificate nor a key in PEM format")
    return content
