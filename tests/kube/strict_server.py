"""A TLS server on the loopback interface that notes how clients prove who they are, and a proxy in front of it."""

import base64
import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import create_connection, socket
from threading import Thread

import trustme


@dataclass
class Seen:
    """What one request showed."""

    authorization: str = ""
    #: The name in the client's certificate.
    certificate: str = ""
    #: The name that the client asked TLS for.
    asked_for: str = ""
    path: str = ""


class _Served:
    """A server on a thread, until its block ends."""

    def _serve(self, handler, context=None):
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        if context is not None:
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def __exit__(self, *error):
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def port(self):
        return self._http.server_port


@dataclass
class StrictServer(_Served):
    """Serves empty lists over TLS as *names*; *seen* are the requests."""

    names: tuple[str, ...] = ("127.0.0.1",)
    authority: trustme.CA = field(default_factory=trustme.CA)
    clients: trustme.CA = field(default_factory=trustme.CA)
    seen: list[Seen] = field(default_factory=list)
    #: Authorizations that are refused with 401.
    refused: set[str] = field(default_factory=set)

    def __enter__(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.authority.issue_cert(*self.names).configure_cert(context)
        self.clients.configure_trust(context)
        context.verify_mode = ssl.CERT_OPTIONAL
        context.sni_callback = self._note_name
        self._asked_for = ""
        self._serve(_handler(self), context)
        return self

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    @property
    def pem(self):
        """The authority's certificate."""
        return self.authority.cert_pem.bytes()

    @property
    def cluster(self):
        """The cluster of a kubeconfig, with data and no files."""
        return {"server": self.url, "certificate-authority-data": base64.b64encode(self.pem).decode()}

    def certificate(self, name):
        """A client's certificate and key as PEM."""
        issued = self.clients.issue_cert(f"{name}@example.com", common_name=name)
        return b"".join(each.bytes() for each in issued.cert_chain_pems), issued.private_key_pem.bytes()

    def _note_name(self, connection, name, context):
        self._asked_for = name or ""

    def note(self, handler):
        subject = (handler.connection.getpeercert() or {}).get("subject", ())
        names = dict(pair for part in subject for pair in part)
        self.seen.append(
            Seen(
                authorization=handler.headers.get("Authorization", ""),
                certificate=names.get("commonName", ""),
                asked_for=self._asked_for,
                path=handler.path,
            )
        )
        return 401 if self.seen[-1].authorization in self.refused else 200


def _handler(server):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self):
            with suppress(OSError):
                self.request.do_handshake()
            super().setup()

        def handle(self):
            with suppress(OSError):
                super().handle()

        def do_GET(self):
            status, body = server.note(self), b'{"items": []}'
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    return Handler


class Proxy(_Served):
    """Tunnels to wherever it is asked to; notes the targets and what it was told about the client."""

    def __enter__(self):
        self.targets, self.logins = [], []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            def do_CONNECT(self):
                proxy.targets.append(self.path)
                proxy.logins.append(self.headers.get("Proxy-Authorization", ""))
                host, _, port = self.path.rpartition(":")
                with create_connection((host, int(port))) as there:
                    self.send_response(200)
                    self.end_headers()
                    back = Thread(target=_pump, args=(there, self.connection), daemon=True)
                    back.start()
                    _pump(self.connection, there)
                    back.join()

            def log_message(self, *args):
                pass

        self._serve(Handler)
        return self

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"


def _pump(source: socket, sink: socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(1)
