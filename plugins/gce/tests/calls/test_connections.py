"""Connections: deadlines, proxies, and what is told when no answer comes."""

import socket
import ssl
from base64 import b64encode
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Event, Thread
from time import monotonic

import pytest
import trustme
from nodewright_gce.calls.connections import Connections, LateError, LostError, proxy_for


@pytest.fixture
def connections():
    connections = Connections("nodewright/test")
    yield connections
    connections.close()


def test_nobody_at_the_other_end_is_told_as_that(connections) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    with pytest.raises(LostError, match="Connection refused") as raised:
        connections.send("GET", f"http://127.0.0.1:{port}/", headers={}, timeout=5)
    assert not isinstance(raised.value, LateError)
    assert " at 0x" not in str(raised.value)


def test_a_host_without_an_address_is_told_as_that(connections) -> None:
    with pytest.raises(LostError, match=r"nowhere\.invalid") as raised:
        connections.send("GET", "http://nowhere.invalid/", headers={}, timeout=5)
    assert not isinstance(raised.value, LateError)


def test_the_deadline_is_for_the_whole_request(double, connections) -> None:
    double.faults.slow("metadata:get", seconds=0.5)
    began = monotonic()

    with pytest.raises(LateError, match=r"no answer within 0\.1 s"):
        connections.send("GET", f"{double.url}/computeMetadata/v1/", headers={}, timeout=0.1)
    assert monotonic() - began < 0.45


@pytest.fixture
def raw():
    """A server that sends what the test gives it: pieces, with a pause before each."""
    pieces: list[bytes] = []
    pause = Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.recv(65_536)
            for piece in pieces:
                pause.wait(0.02)
                connection.sendall(piece)

    thread = Thread(target=serve)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/", pieces
    thread.join()
    listener.close()


def test_an_answer_that_drips_is_late(raw, connections) -> None:
    url, pieces = raw
    pieces += [b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n", *(50 * [b"x"])]

    with pytest.raises(LateError, match=r"no whole answer within 0\.2 s"):
        connections.send("GET", url, headers={}, timeout=0.2)


def test_an_answer_comes_in_pieces(raw, connections) -> None:
    url, pieces = raw
    pieces += [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"3\r\nabc\r\n", b"2\r\nde\r\n0\r\n\r\n"]

    assert connections.send("GET", url, headers={}, timeout=5).data == b"abcde"


def test_an_answer_that_breaks_off_is_lost(raw, connections) -> None:
    url, pieces = raw
    pieces += [b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n", b"abc"]

    with pytest.raises(LostError) as raised:
        connections.send("GET", url, headers={}, timeout=5)
    assert not isinstance(raised.value, LateError)


def test_connections_are_kept(served, connections) -> None:
    served.answers["/"] = {}
    for _ in range(3):
        connections.send("GET", f"{served.url}/", headers={}, timeout=5)

    assert len(served.clients) == 1


def test_requests_go_through_the_proxy_of_the_environment_with_its_password(served, connections, monkeypatch) -> None:
    served.answers["http://compute.example/x"] = {}
    monkeypatch.setenv("http_proxy", served.url.replace("http://", "http://me:se%20cret@"))
    monkeypatch.setenv("no_proxy", "")
    connections.send("GET", "http://compute.example/x", headers={}, timeout=5)

    assert served.headers[-1]["Proxy-Authorization"] == "Basic " + b64encode(b"me:se cret").decode()


def test_hosts_without_a_proxy_are_called_directly(served, connections, monkeypatch) -> None:
    served.answers["/x"] = {}
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "localhost,127.0.0.1")

    assert connections.send("GET", f"{served.url}/x", headers={}, timeout=5).status == 200


def test_the_machine_is_never_asked_through_a_proxy(monkeypatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "")

    assert proxy_for("http://metadata.google.internal/computeMetadata/v1/") == ""
    assert proxy_for("http://compute.example/") == "http://proxy:3128"


class _Quiet(HTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that does not trust it hangs up."""


@pytest.fixture
def trusted(tmp_path):
    """The URL of a server with a certificate, and the file of who vouches for it."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    with _Quiet(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"https://localhost:{server.server_port}/", str(tmp_path / "ca.pem")
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"])
def test_certificates_to_trust_are_those_of_the_environment(trusted, connections, monkeypatch, variable) -> None:
    url, file = trusted
    for other in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.delenv(other, raising=False)
    with pytest.raises(LostError, match="CERTIFICATE_VERIFY_FAILED"):
        connections.send("GET", url, headers={}, timeout=5)

    monkeypatch.setenv(variable, file)
    fresh = Connections("nodewright/test")
    assert fresh.send("GET", url, headers={}, timeout=5).status == 501
    fresh.close()


def test_redirects_are_not_followed(served, connections) -> None:
    served.answers["/x"] = {}
    served.status = 302

    assert connections.send("GET", f"{served.url}/x", headers={}, timeout=5).status == 302
