"""The responses to clients of the HTTP server, well-behaved and others."""

import gzip
import http.client
import json
import socket
from contextlib import closing, contextmanager
from threading import Event, Thread
from time import monotonic, sleep

import pytest
from nodewright.api import Decision
from nodewright.api.errors import ConfigurationError
from nodewright.serve import server as servers
from nodewright.serve.endpoints import Endpoints
from nodewright.serve.server import Server
from nodewright.serve.snapshots import Snapshots
from nodewright.testing import EPOCH
from nodewright.testing.worlds import a_world


@contextmanager
def serving(endpoints, address="127.0.0.1:0"):
    server = Server(address, endpoints)
    server.start()
    try:
        yield server.port
    finally:
        server.stop()


@pytest.fixture
def serve(watcher):
    """Serves metrics and further endpoints on request; returns the port."""
    stack = []

    def start(address="127.0.0.1:0", **what):
        stack.append(serving(Endpoints(watcher.metrics, **what), address))
        return stack[-1].__enter__()

    yield start
    for each in stack:
        each.__exit__(None, None, None)


def ask(port, path="/metrics", method="GET", host="127.0.0.1", **headers):
    with closing(http.client.HTTPConnection(host, port, timeout=10)) as connection:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer, answer.read()


def eventually(holds):
    until = monotonic() + 10
    while not holds():
        assert monotonic() < until, "it never came to that"
        sleep(0.01)


def test_metrics_are_compressed_for_clients_that_accept_gzip(serve) -> None:
    port = serve()
    answer, body = ask(port, **{"Accept-Encoding": "deflate, gzip;q=0.5"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert b"nodewright_leader 1.0" in gzip.decompress(body)
    for encodings in ("", "gzip;q=0", "br"):
        answer, body = ask(port, **{"Accept-Encoding": encodings})
        assert answer.headers["Content-Encoding"] is None
        assert b"nodewright_leader 1.0" in body


def test_metrics_come_in_the_format_that_is_asked_for(serve) -> None:
    answer, body = ask(serve(), Accept="application/openmetrics-text; version=1.0.0")
    assert answer.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    assert body.endswith(b"# EOF\n")


@pytest.mark.parametrize(
    ("trouble", "status", "told"), [("", 200, b"OK"), ("no loop ended well", 500, b"Error: no loop ended well")]
)
def test_the_health_check_says_what_is_wrong(serve, trouble, status, told) -> None:
    answer, body = ask(serve(trouble=lambda: trouble), "/health-check")
    assert (answer.status, body) == (status, told)


def test_an_unknown_path_gets_a_list_of_endpoints(serve) -> None:
    answer, body = ask(serve(), "/snapshotz?x=1")
    assert (answer.status, body) == (404, b"not found; the endpoints are /metrics, /health-check")
    answer, body = ask(serve(snapshots=Snapshots(), profiling=True), "/nothing")
    assert body == (
        b"not found; the endpoints are /metrics, /health-check, /snapshotz, "
        b"/debug/pprof/profile, /debug/pprof/goroutine, /debug/pprof/heap"
    )


def test_a_head_has_no_body(serve) -> None:
    answer, body = ask(serve(), "/health-check", "HEAD")
    assert (answer.status, answer.headers["Content-Length"], body) == (200, "2", b"")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_nothing_can_be_changed(serve, method) -> None:
    answer, body = ask(serve(), "/metrics", method)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")
    assert body == b"this is read-only: use GET or HEAD"


def test_a_connection_serves_several_requests(serve) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", serve(), timeout=10)) as connection:
        connection.connect()
        first = connection.sock
        for _ in range(3):
            connection.request("GET", "/health-check")
            assert connection.getresponse().read() == b"OK"
        assert connection.sock is first


def test_a_page_that_fails_is_an_answer_and_a_line_in_the_log(serve, caplog) -> None:
    def trouble():
        raise ZeroDivisionError

    answer, body = ask(serve(trouble=trouble), "/health-check")
    assert (answer.status, body) == (500, b"the request failed; the log says why")
    assert "the response to /health-check failed" in caplog.text


@pytest.mark.parametrize("request_line", [b"GET /" + b"x" * 70_000, b"GET / HTTP/1.1\r\n" + b"A: " + b"x" * 70_000])
def test_a_line_that_is_too_long_is_refused(serve, request_line) -> None:
    with socket.create_connection(("127.0.0.1", serve()), timeout=10) as client:
        client.sendall(request_line + b"\r\n\r\n")
        assert b" 414 " in (status := client.recv(100)) or b" 431 " in status


def test_headers_without_end_are_refused(serve) -> None:
    with socket.create_connection(("127.0.0.1", serve()), timeout=10) as client:
        client.sendall(b"GET / HTTP/1.1\r\n" + b"".join(b"A%d: %s\r\n" % (n, b"x" * 4000) for n in range(60)))
        assert b" 431 " in client.recv(100)


def test_an_unread_body_is_not_taken_for_another_request(serve) -> None:
    with socket.create_connection(("127.0.0.1", serve()), timeout=10) as client:
        client.sendall(b"GET /health-check HTTP/1.1\r\nContent-Length: 30\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n      ")
        received = b"".join(iter(lambda: client.recv(65536), b""))
    assert received.count(b"HTTP/1.1 ") == 1
    assert received.endswith(b"OK")


def test_silent_clients_lock_no_one_out(serve, monkeypatch) -> None:
    monkeypatch.setattr(servers.Connections.__init__, "__defaults__", (3,))
    port = serve()
    silent = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(10)]
    answer, _ = ask(port, "/health-check")
    assert answer.status == 200
    # The connection that was idle for longest was closed.
    assert silent[0].recv(1) == b""
    for client in silent:
        client.close()


def test_clients_that_are_being_answered_stay_connected_and_others_are_refused(serve, monkeypatch) -> None:
    monkeypatch.setattr(servers.Connections.__init__, "__defaults__", (1,))
    asked, go_on = Event(), Event()

    def trouble():
        asked.set()
        go_on.wait(10)
        return ""

    port = serve(trouble=trouble)
    answers = []
    client = Thread(target=lambda: answers.append(ask(port, "/health-check")))
    client.start()
    assert asked.wait(10)
    with pytest.raises((http.client.HTTPException, OSError)):
        ask(port, "/health-check")
    go_on.set()
    client.join(10)
    assert answers[0][1] == b"OK"


def test_one_that_waits_for_a_snapshot_gets_that_of_the_next_loop(serve) -> None:
    snapshots = Snapshots()
    port = serve(snapshots=snapshots)
    answers = []
    client = Thread(target=lambda: answers.append(ask(port, "/snapshotz")))
    client.start()
    eventually(lambda: snapshots.wanted)
    answer, body = ask(port, "/snapshotz")
    assert (answer.status, body) == (429, b"another client is waiting for a snapshot; only one is taken at a time")
    snapshots.take(a_world(), Decision(at=EPOCH), EPOCH)
    client.join(10)
    answer, body = answers[0]
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert json.loads(body)["NodeList"] == []
    assert not snapshots.wanted


def test_where_no_loop_runs_nobody_waits_for_a_snapshot(serve) -> None:
    port = serve(snapshots=Snapshots(), obstacle=lambda: "this replica does not lead")
    answer, body = ask(port, "/snapshotz")
    assert (answer.status, body) == (
        503,
        b"no snapshot can be taken, as no loop runs here: this replica does not lead",
    )


def test_one_that_hangs_up_waits_for_no_snapshot_any_more(serve, monkeypatch) -> None:
    monkeypatch.setattr("nodewright.serve.snapshots._LOOK_SECONDS", 0.02)
    snapshots = Snapshots()
    port = serve(snapshots=snapshots)
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.sendall(b"GET /snapshotz HTTP/1.1\r\n\r\n")
        eventually(lambda: snapshots.wanted)
    eventually(lambda: not snapshots.wanted)


def test_where_no_loop_ends_a_snapshot_is_not_waited_for_without_end(serve, monkeypatch) -> None:
    monkeypatch.setattr("nodewright.serve.endpoints._PATIENCE", 0.05)
    answer, body = ask(serve(snapshots=Snapshots()), "/snapshotz")
    assert answer.status == 503
    assert body == b"no loop has ended within 0.05 s"


@pytest.mark.parametrize("address", [":0", "[::]:0", "[::1]:0", "localhost:0", "127.0.0.1:0"])
def test_addresses_are_those_that_go_takes(serve, address) -> None:
    if ":" in address[:-2] and not socket.has_dualstack_ipv6():
        pytest.skip("there is no IPv6 here")
    port = serve(address)
    host = "::1" if "[" in address else "127.0.0.1"
    assert ask(port, "/health-check", host=host)[1] == b"OK"


@pytest.mark.parametrize("address", ["8085", "localhost", "localhost:http", ":99999"])
def test_a_malformed_address_is_reported(watcher, address) -> None:
    with pytest.raises(ConfigurationError, match="is not an address to listen on: write host:port"):
        Server(address, Endpoints(watcher.metrics))
