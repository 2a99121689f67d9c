"""The autoscaler's transport and reflectors against the embedded API server."""

from time import monotonic, sleep

import pytest
from nodewright.kube.feed import Feed
from nodewright.kube.kinds import KINDS
from nodewright.kube.reflector import Reflector
from nodewright.kube.transport import connect
from nodewright.testing.clock import SteppedClock
from nodewright_fake.apiserver.server import ApiServer
from nodewright_fake.apiserver.store import Store


@pytest.fixture
def server():
    """A running API server with an empty cluster."""
    with ApiServer(Store(SteppedClock())) as server:
        yield server


@pytest.fixture
def transport(server, tmp_path):
    """A transport to it."""
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(server.kubeconfig())
    return connect(kubeconfig=str(kubeconfig))


@pytest.fixture
def follow(transport):
    """Starts reflectors for all kinds; returns the feed, and stops them after the test."""
    running = []

    def start():
        feed = Feed()
        for kind in KINDS:
            running.append(Reflector(kind, transport, feed))
            running[-1].start()
        return feed

    yield start
    for each in running:
        each.stop()


@pytest.fixture
def eventually():
    """Waits until a condition holds; fails after ten seconds."""

    def wait(holds):
        until = monotonic() + 10
        while not holds():
            assert monotonic() < until, "it never came to that"
            sleep(0.005)

    return wait
