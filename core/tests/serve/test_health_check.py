"""What a probe is told."""

from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from nodewright.serve.metrics import Metrics
from nodewright.serve.server import Server


@pytest.fixture
def probe():
    """Asks a server for its health: status and text."""
    troubles = []
    server = Server("127.0.0.1:0", Metrics(), trouble=lambda: "; ".join(troubles))
    server.start()

    def ask(trouble=""):
        troubles[:] = filter(None, [trouble])
        try:
            with urlopen(f"http://127.0.0.1:{server.port}/health-check") as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            with error:
                return error.code, error.read().decode()

    yield ask
    server.stop()


def test_a_process_that_is_well_is_ok(probe):
    assert probe() == (200, "OK")


def test_one_that_is_not_tells_what_is_wrong(probe):
    assert probe("no loop began for 660 s") == (500, "Error: no loop began for 660 s")
