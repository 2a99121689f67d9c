"""Connections: HTTP with a deadline for each request, through the environment's proxy."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, PoolManager

CONNECT_TIMEOUT = 3.0
_CONNECTIONS = 16
_CHUNK = 1 << 16
#: Files of certificates to trust, as other clients for Python name them. OpenSSL itself reads SSL_CERT_FILE.
_CA_BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")

#: The metadata server answers each machine for itself. A proxy would give away its own account.
_LOCAL = frozenset({"169.254.169.254", "metadata.google.internal"})


class LostError(Exception):
    """No whole answer came: the request may have been carried out or not."""


class LateError(LostError):
    """The deadline passed."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer, whatever its status. Its fields are as google-auth wants them."""

    status: int
    #: Names in lower case.
    headers: Mapping[str, str]
    data: bytes


class Connections:
    """Sends requests over connections that are kept open. Any thread may call."""

    def __init__(self, user_agent: str) -> None:
        self._user_agent = user_agent
        #: By proxy; empty for none.
        self._pools: dict[str, PoolManager] = {}

    def send(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes | None = None, timeout: float
    ) -> Answer:
        """Send one request and read its answer, all within *timeout* seconds; raises `LostError`."""
        from urllib3 import Timeout
        from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ReadTimeoutError

        until = monotonic() + timeout
        response = None
        try:
            response = self._pool(url).urlopen(
                method,
                url,
                headers={"user-agent": self._user_agent, **headers},
                body=body,
                timeout=Timeout(connect=min(CONNECT_TIMEOUT, timeout), read=timeout),
                retries=False,
                redirect=False,
                preload_content=False,
            )
            data = _read(response, until, timeout)
        except (HTTPError, OSError) as error:
            _drop(response)
            late = isinstance(error, ConnectTimeoutError | ReadTimeoutError)
            if late and not isinstance(error, NewConnectionError):
                raise LateError(f"no answer within {timeout:g} s") from error
            raise LostError(_reason(error)) from error
        except LateError:
            _drop(response)
            raise
        return Answer(
            status=response.status, headers={name.lower(): value for name, value in response.headers.items()}, data=data
        )

    def close(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            pool.clear()

    def _pool(self, url: str) -> "PoolManager":
        proxy = proxy_for(url)
        pool = self._pools.get(proxy)
        return pool or self._pools.setdefault(proxy, _open(proxy))


def _open(proxy: str) -> "PoolManager":
    import ssl

    from urllib3 import PoolManager, ProxyManager, make_headers

    bundle = next(filter(None, map(os.environ.get, _CA_BUNDLES)), None)
    trust = ssl.create_default_context(cafile=bundle if bundle and os.path.isfile(bundle) else None)
    if proxy:
        parts = urlsplit(proxy)
        account = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else None
        return ProxyManager(
            proxy,
            proxy_headers=make_headers(proxy_basic_auth=account),
            num_pools=8,
            maxsize=_CONNECTIONS,
            ssl_context=trust,
        )
    return PoolManager(num_pools=8, maxsize=_CONNECTIONS, ssl_context=trust)


def proxy_for(url: str) -> str:
    """Return the URL of the proxy that the environment has for *url*; empty for none."""
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    proxy = getproxies().get(parts.scheme, "")
    if not proxy or parts.hostname in _LOCAL or proxy_bypass(parts.netloc):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _read(response: "BaseHTTPResponse", until: float, timeout: float) -> bytes:
    """Read to the end. The socket's own timeout begins anew with each byte."""
    chunks = []
    while chunk := response.read1(_CHUNK):
        chunks.append(chunk)
        if monotonic() > until:
            raise LateError(f"no whole answer within {timeout:g} s")
    return b"".join(chunks)


def _drop(response: "BaseHTTPResponse | None") -> None:
    if response is not None:
        response.close()


def _reason(error: Exception) -> str:
    """What happened, without the address of the connection's object, which differs each time."""
    text = str(error)
    return text.rpartition(">: ")[2] or type(error).__name__
