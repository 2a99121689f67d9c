"""Fixtures for calls."""

import json
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from nodewright_gce.calls import GoogleCompute
from nodewright_gce.config.gce import GceConfig
from nodewright_gce.resources.address import Address, Place

ZONE = Place(project="double", name="europe-west1-b")


@pytest.fixture
def connect(double):
    """Return what calls the double, with settings and a deadline."""
    opened = []

    def open_one(**settings):
        deadline = {"deadline": settings.pop("deadline")} if "deadline" in settings else {}
        config = GceConfig.model_validate(double.config(**settings))
        opened.append(GoogleCompute(config, double.clock, "nodewright/test", **deadline))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


@pytest.fixture
def compute(connect):
    return connect()


@pytest.fixture
def workers(double):
    """The address of a group with two machines."""
    double.make_mig("workers", size=2)
    double.settle()
    return Address(place=ZONE, name="workers")


class Served:
    """A server with fixed answers, or functions that make them, which remembers what it was sent."""

    def __init__(self) -> None:
        self.answers: dict[str, object] = {}
        #: Method, path, authorization and body.
        self.requests: list[tuple[str, str, str, bytes]] = []
        self.headers: list[Message] = []
        #: The other ends of connections.
        self.clients: set[object] = set()
        self.status = 200
        self.url = ""

    def handler(self) -> type[BaseHTTPRequestHandler]:
        served = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                served.requests.append((self.command, self.path, self.headers.get("Authorization", ""), body))
                served.headers.append(self.headers)
                served.clients.add(self.client_address)
                told = served.answers[self.path.partition("?")[0]]
                data = json.dumps(told() if callable(told) else told).encode()
                self.send_response(served.status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = answer  # noqa: N815  as the base class calls them

            def log_message(self, *arguments: object) -> None:
                """Say nothing."""

        return Handler


@pytest.fixture
def served():
    served = Served()
    with ThreadingHTTPServer(("127.0.0.1", 0), served.handler()) as server:
        served.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield served
        server.shutdown()
        thread.join()
