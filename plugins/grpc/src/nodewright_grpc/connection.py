"""The way to the server."""

from pathlib import Path

import grpc
from nodewright.api import PermanentError, TemporaryError

from nodewright_grpc.config import GrpcConfig
from nodewright_grpc.protocol import LONGEST, METHOD

_OPTIONS = [
    ("grpc.max_receive_message_length", LONGEST),
    # A connection of its own, so that one that was dropped for good reason is not found again.
    ("grpc.use_local_subchannel_pool", 1),
]
#: After these the connection may be one to a server that is gone.
_DOUBTFUL = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


class Connection:
    """A connection to the expander's server: made when it is needed, and anew when it fails or certificates change."""

    def __init__(self, config: GrpcConfig) -> None:
        self._config = config
        self._channel: grpc.Channel | None = None
        self._certificates: tuple[bytes | None, ...] = ()

    def ask(self, question: bytes, seconds: float) -> bytes:
        """Return the server's answer to *question*, within *seconds*.

        Raises `TemporaryError` if there is none, and `PermanentError` for certificate files that are of no use.
        """
        call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = self._open().unary_unary(METHOD)
        try:
            return call(question, timeout=seconds)
        except grpc.RpcError as error:
            code = error.code()
            if code in _DOUBTFUL:
                # The next question dials at once, where gRPC would wait longer after each failure.
                self.close()
            raise TemporaryError(self._told(code, error.details() or "")) from error

    def close(self) -> None:
        """Hang up."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def _open(self) -> grpc.Channel:
        certificates = tuple(map(_read, self._files()))
        if certificates != self._certificates:
            self.close()
            self._certificates = certificates
        if self._channel is None:
            self._channel = self._dial()
        return self._channel

    def _files(self) -> tuple[str, ...]:
        return self._config.certificate, self._config.client_key, self._config.client_certificate

    def _dial(self) -> grpc.Channel:
        if self._config.insecure:
            return grpc.insecure_channel(self._config.url, options=_OPTIONS)
        return grpc.secure_channel(
            self._config.url, grpc.ssl_channel_credentials(*self._certificates), options=_OPTIONS
        )

    def _told(self, code: grpc.StatusCode, details: str) -> str:
        server = f"the expander server {self._config.url}"
        match code:
            case grpc.StatusCode.DEADLINE_EXCEEDED:
                return f"{server} did not answer within {self._config.timeout:g} s"
            case grpc.StatusCode.UNAVAILABLE:
                return f"{server} can't be reached: {details}"
            case grpc.StatusCode.UNIMPLEMENTED:
                return f"{server} does not know {METHOD}: it is no expander for Cluster Autoscaler ({details})"
        return f"{server} answered with {code.name}: {details}"


def _read(file: str) -> bytes | None:
    if not file:
        return None
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise PermanentError(f"the certificate file {file} can't be read: {error.strerror}") from error
    if b"-----BEGIN " not in content:
        raise PermanentError(f"the certificate file {file} holds no certificate and no key in PEM format")
    return content
