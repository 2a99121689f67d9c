"""Requests that pass a gate, and requests that the API server asks to retry later."""

import pytest
from nodewright.api import ApiServerError, NotLeaderError
from nodewright.kube.nodes import Evictor, NodeWriter, TaintLatency
from nodewright.testing.clock import EPOCH
from nodewright_fake.apiserver.faults import Fault

PATH = "/api/v1/nodes/n"


@pytest.fixture
def pauses(monkeypatch):
    """The pauses that the API server asked for; the test does not really sleep."""
    made = []
    monkeypatch.setattr("nodewright.kube.transport.sleep", made.append)
    return made


@pytest.fixture
def node(server):
    server.store.create("nodes", {"metadata": {"name": "n"}, "spec": {}})
    return lambda: server.store.get("nodes", "n")["spec"]


def writes(server):
    return server.record.count(verb="patch", resource="nodes")


def test_each_request_passes_the_gate_and_others_do_not(server, transport, node) -> None:
    passed = []
    gated = transport.through(lambda: passed.append(1))
    NodeWriter(gated, TaintLatency(server.store.clock), cordon=True).mark("n", EPOCH)
    assert len(passed) == 2
    transport.get(PATH)
    assert len(passed) == 2


def test_nothing_is_written_after_the_gate_has_closed_between_reading_and_writing(server, transport, node) -> None:
    passes = [True, False]

    def gate():
        if not passes.pop(0):
            raise NotLeaderError("not ours any more")

    writer = NodeWriter(transport.through(gate), TaintLatency(server.store.clock), cordon=True)
    with pytest.raises(NotLeaderError):
        writer.mark("n", EPOCH)
    assert node() == {}
    assert writes(server) == 0


@pytest.mark.parametrize("status", [429, 503])
def test_a_request_that_is_put_off_for_seconds_is_sent_again_then(server, transport, node, pauses, status) -> None:
    server.faults.append(Fault(status=status, retry_after=2, times=2))
    assert b'"n"' in transport.through(lambda: None).get(PATH)
    assert pauses == [2, 2]


def test_one_that_is_put_off_again_and_again_fails_after_a_few_seconds(server, transport, node, pauses) -> None:
    server.faults.append(Fault(status=429, retry_after=1, message="busy"))
    with pytest.raises(ApiServerError, match="busy") as caught:
        transport.through(lambda: None).get(PATH)
    assert pauses == [1] * 5
    assert (caught.value.status, caught.value.retry_after) == (429, 1)


def test_the_gate_is_asked_again_after_a_wait(server, transport, node, pauses) -> None:
    asked = []

    def gate():
        asked.append(1)
        if pauses:
            raise NotLeaderError("not ours any more")

    server.faults.append(Fault(status=429, retry_after=1))
    with pytest.raises(NotLeaderError):
        transport.through(gate).get(PATH)
    assert len(asked) == 2


@pytest.mark.parametrize("fields", [{"status": 429}, {"status": 429, "retry_after": 10}, {"status": 500}])
def test_a_refusal_without_a_time_or_with_a_long_one_is_not_waited_for(server, transport, pauses, fields) -> None:
    refusal = Fault(when=lambda request: request.path.endswith("/eviction"), **fields)
    server.faults.append(refusal)
    with pytest.raises(ApiServerError):
        Evictor(transport.through(lambda: None)).evict("default/p", 30)
    assert (pauses, refusal.hits) == ([], 1)


def test_who_passes_no_gate_waits_for_nothing(server, transport, node, pauses) -> None:
    server.faults.append(Fault(status=429, retry_after=1))
    with pytest.raises(ApiServerError):
        transport.get(PATH)
    assert pauses == []


def test_something_is_replaced_as_a_whole(server, transport, node) -> None:
    transport.put(PATH, {"metadata": {"name": "n"}, "spec": {"unschedulable": True}})
    assert node() == {"unschedulable": True}


def test_a_request_that_takes_too_long_is_given_up(server, transport, node) -> None:
    server.faults.append(Fault(latency=1))
    with pytest.raises(ApiServerError, match="does not answer: no response in time"):
        transport.get(PATH, timeout=0.05)
