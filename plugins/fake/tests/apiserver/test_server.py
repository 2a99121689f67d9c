import contextlib
import http.client
import socket
import threading
import time
from urllib.parse import urlsplit

import pytest
import yaml
from nodewright_fake.apiserver.server import ApiServer
from nodewright_fake.apiserver.store import Store

from .builders import pod
from .raw import Events, Raw

MAPS = "/api/v1/namespaces/default/configmaps"


def server_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("apiserver")]


def has_ended(watch: Events) -> bool:
    with contextlib.suppress(http.client.IncompleteRead, ConnectionResetError):
        return list(watch) == []
    return True


def talk(server: ApiServer, text: bytes) -> bytes:
    """Everything the server answers to *text* until it hangs up."""
    host, port = urlsplit(server.url).netloc.split(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall(text)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
        return answer


def test_stopping_ends_watches_and_threads_at_once(store) -> None:
    server = ApiServer(store).start()
    raw = Raw(server.url)
    raw.get("/api/v1/pods")
    watches = [raw.watch("/api/v1/pods", resourceVersion="0") for _ in range(5)]

    started = time.monotonic()
    server.stop()

    assert time.monotonic() - started < 5
    assert server_threads() == []
    assert all(has_ended(watch) for watch in watches)
    raw.close()


def test_a_stopped_server_leaves_its_port_and_its_store_to_the_next(store) -> None:
    with ApiServer(store) as first:
        port = int(first.url.rpartition(":")[2])
        store.create("pods", pod())
    first.stop()

    with ApiServer(store, port) as second:
        raw = Raw(second.url)
        assert second.url == first.url
        assert raw.get("/api/v1/pods").items == ["web-0"]
        raw.close()


def test_a_client_that_leaves_takes_its_threads_along(server) -> None:
    raw = Raw(server.url)
    raw.get("/api/v1/pods")
    raw.close()

    deadline = time.monotonic() + 5
    while "apiserver-connection" in server_threads() and time.monotonic() < deadline:
        threading.Event().wait(0.005)
    assert server_threads() == ["apiserver"]


def test_a_watcher_that_left_is_noticed_at_the_next_change(store, server) -> None:
    raw = Raw(server.url)
    raw.watch("/api/v1/pods", resourceVersion="0", labelSelector="app=none")
    raw.close()

    deadline = time.monotonic() + 5
    number = 0
    while server_threads() != ["apiserver"] and time.monotonic() < deadline:
        store.create("pods", pod(f"p{number}"))
        number += 1
        threading.Event().wait(0.005)
    assert server_threads() == ["apiserver"]


def test_the_kubeconfig_leads_to_the_server(server) -> None:
    kubeconfig = yaml.safe_load(server.kubeconfig())

    assert kubeconfig["clusters"][0]["cluster"] == {"server": server.url}
    assert kubeconfig["current-context"] == kubeconfig["contexts"][0]["name"]
    assert server.url.startswith("http://127.0.0.1:")


def test_several_requests_may_come_at_once(server) -> None:
    request = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"

    assert talk(server, request * 3).count(b"HTTP/1.1 200 OK") == 3


def test_a_body_may_come_in_chunks(server, store) -> None:
    head = f"POST {MAPS} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    body = b'15\r\n{"metadata":{"name":"\r\n9\r\nchunked"}\r\n1\r\n}\r\n0\r\n\r\n'

    assert talk(server, head + body).startswith(b"HTTP/1.1 201 Created\r\n")
    assert store.find("configmaps", "chunked", "default") is not None


def test_a_client_may_ask_before_it_sends_its_body(server) -> None:
    body = b'{"metadata":{"name":"asked"}}'
    head = f"POST {MAPS} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: {len(body)}\r\n\r\n".encode()

    answer = talk(server, head + body)

    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\n")


@pytest.mark.parametrize(
    "nonsense",
    [
        b"hello\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nshort",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1",
    ],
)
def test_on_nonsense_the_server_hangs_up_and_goes_on(server, raw, nonsense) -> None:
    assert talk(server, nonsense) == b""
    assert raw.get("/healthz").status == 200


def test_writers_at_once_lose_nothing(store, server) -> None:
    def count_up(times: int) -> None:
        raw = Raw(server.url)
        done = 0
        while done < times:
            found = raw.get(f"{MAPS}/counter").body
            found["data"]["value"] = str(int(found["data"]["value"]) + 1)
            done += raw.send("PUT", f"{MAPS}/counter", found).status == 200
        raw.close()

    counter = {"metadata": {"name": "counter", "namespace": "default"}, "data": {"value": "0"}}
    store.create("configmaps", counter)
    threads = [threading.Thread(target=count_up, args=(25,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert store.get("configmaps", "counter", "default")["data"] == {"value": "100"}


def test_requests_take_less_than_a_few_milliseconds(clock) -> None:
    """Generous, for a loaded machine: a held-back packet alone would cost 40 ms."""
    with ApiServer(Store(clock)) as server:
        raw = Raw(server.url)
        started = time.monotonic()
        for number in range(100):
            raw.post("/api/v1/namespaces/default/pods", pod(f"p{number}"))
            raw.get(f"/api/v1/namespaces/default/pods/p{number}")
        assert (time.monotonic() - started) / 200 < 0.01
        raw.close()
