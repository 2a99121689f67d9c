"""Connections to the API server: TLS, client certificates, proxies."""

import os
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from tempfile import NamedTemporaryFile
from threading import Lock
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies

import urllib3
from urllib3.connection import HTTPConnection

from nodewright.api.errors import ConfigurationError, Problem
from nodewright.kube.kubeconfig import Server, cause_of
from nodewright.kube.proof import Proof

#: One for each watched kind and enough for writes, so that none is thrown away after use.
_CONNECTIONS = 48
#: A vanished peer is noticed within a minute, and no firewall in between forgets an idle connection.
_SOCKET_OPTIONS = [
    *HTTPConnection.default_socket_options,
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPALIVE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
        if hasattr(socket, name)
    ),
]


class Connections:
    """The pool of connections to *server*. Safe to use from any thread.

    Raises `ConfigurationError` if there can be none, with *proof* at first.
    """

    def __init__(self, server: Server, proof: Proof) -> None:
        self._server = server
        self._proxy = server.proxy or _proxy_of_environment(server.url)
        if self._proxy and urlsplit(self._proxy).scheme not in ("http", "https"):
            raise _unusable(f"the proxy in front of {server.url} is neither one of http nor of https")
        self._lock = Lock()
        self._certificate = proof.certificate
        try:
            self._pool = self._open(proof)
        except ssl.SSLError as error:
            raise _unusable(
                f"a certificate or key for {server.url} is no PEM, or one does not match the other"
            ) from error
        except (OSError, ValueError) as error:
            raise _unusable(f"no connection to {server.url}: {cause_of(error)}") from error

    def pool(self, proof: Proof) -> urllib3.PoolManager:
        """Return the pool whose connections show the certificate of *proof*; a new one if that has changed.

        Requests in progress keep their connections. Raises `OSError` for a certificate that can't be used.
        """
        with self._lock:
            if proof.certificate != self._certificate:
                self._pool = self._open(proof)
                self._certificate = proof.certificate
            return self._pool

    def _open(self, proof: Proof) -> urllib3.PoolManager:
        options: dict[str, Any] = {
            "maxsize": _CONNECTIONS,
            "socket_options": _SOCKET_OPTIONS,
            "ssl_context": _tls(self._server, proof),
            # The name that is asked for and that has to be in the certificate.
            "server_hostname": self._server.name or None,
        }
        if not self._proxy:
            return urllib3.PoolManager(**options)
        parts = urlsplit(self._proxy)
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else None
        return urllib3.ProxyManager(
            self._proxy, proxy_headers=urllib3.make_headers(proxy_basic_auth=login) if login else None, **options
        )


def _unusable(message: str) -> ConfigurationError:
    return ConfigurationError(Problem(message=f"{message}. Mend the kubeconfig", path="kube.kubeconfig"))


def _tls(server: Server, proof: Proof) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # As in Go, each certificate that is given is trusted; many clusters' authorities are not as strict as RFC 5280.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not server.verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif authority := server.authority.read():
        context.load_verify_locations(cadata=authority.decode())
    else:
        context.load_default_certs()
    if proof.certificate:
        with _file_with(proof.certificate + b"\n" + proof.key) as path:
            context.load_cert_chain(path)
    return context


@contextmanager
def _file_with(content: bytes) -> Iterator[str]:
    """Provide a file for a library that reads nothing else; it never gets to a disk where the system can avoid that."""
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("nodewright"), "wb", buffering=0) as memory:
            memory.write(content)
            yield f"/proc/self/fd/{memory.fileno()}"
    else:
        with NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            yield file.name


def _proxy_of_environment(url: str) -> str:
    """Return the proxy that the environment names for *url*, by the rules of Go; empty for none."""
    proxies = getproxies()
    proxy = proxies.get(urlsplit(url).scheme, "")
    if not proxy or _bypassed(url, proxies.get("no", "")):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _bypassed(url: str, rules: str) -> bool:
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    address = None
    with suppress(ValueError):
        address = ip_address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    return any(_matches(rule.strip().lower(), host, address, parts.port) for rule in rules.split(","))


def _matches(rule: str, host: str, address: IPv4Address | IPv6Address | None, port: int | None) -> bool:
    """Whether an entry of ``NO_PROXY`` means *host*: a name with all below it, an address, a network, or ``*``."""
    if rule == "*":
        return True
    if address is not None:
        with suppress(ValueError):
            return address in ip_network(rule, strict=False)
    name, colon, only = rule.rpartition(":") if rule.count(":") == 1 else (rule, "", "")
    if not name or (colon and only != str(port)):
        return False
    return host == name.removeprefix(".") or host.endswith("." + name.removeprefix("*").removeprefix("."))
