"""Events: their content, how often they are written, and what happens when that fails."""

from threading import Event

import pytest
from nodewright.config.document import load
from nodewright.kube.events import EventWriter
from nodewright.testing.builders import a_node
from nodewright_fake.apiserver.faults import Fault

TRIGGERED = ("default/web", "uid", "TriggeredScaleUp", "pod triggered scale-up: [{a 0->1 (max: 3)}]")


def settings_of(text):
    return load(f"apiVersion: nodewright.dev/v1\nkind: Autoscaler\n{text}").settings


@pytest.fixture
def dropped():
    return []


@pytest.fixture
def begin(server, transport, dropped):
    """Starts an event writer."""
    writers = []

    def start(settings=None, **more):
        clock = server.store.clock
        more.setdefault("on_drop", lambda: dropped.append(1))
        writers.append(EventWriter(transport, clock, settings or settings_of("kube: {qps: 5, burst: 10}"), **more))
        return writers[-1]

    yield start
    for writer in writers:
        writer.close()


@pytest.fixture
def events(begin):
    return begin()


@pytest.fixture
def hold(server):
    """Makes the API server hold requests until the test releases them."""
    release, held = Event(), Event()

    def wait(request):
        held.set()
        release.wait(10)

    server.faults.append(wait)
    yield held, release
    release.set()


def written(server, namespace="kube-system"):
    events = server.store.list("events", namespace)
    events.sort(key=lambda event: int(event["metadata"]["resourceVersion"]))
    return [(event["message"], event["count"]) for event in events]


def messages(server):
    return [message for message, _ in written(server)]


def writes_events(request):
    return request.verb in ("create", "patch") and "/events" in request.path


class TestOften:
    def test_an_event_names_its_object_once_in_five_minutes_and_is_counted_up_then(self, server, events) -> None:
        for _ in range(3):
            events.on_pod(*TRIGGERED)
        assert events.flush(10)
        (event,) = server.store.list("events", "default")
        assert event["involvedObject"]["name"] == "web"
        assert (event["reason"], event["source"]["component"]) == ("TriggeredScaleUp", "cluster-autoscaler")
        server.store.clock.advance(300)
        events.on_pod(*TRIGGERED)
        assert events.flush(10)
        (event,) = server.store.list("events", "default")
        assert (event["count"], event["firstTimestamp"]) == (4, "2030-01-01T00:00:00Z")
        assert event["lastTimestamp"] == "2030-01-01T00:05:00Z"

    def test_an_event_that_has_expired_is_created_again_with_its_count(self, server, events) -> None:
        events.on_status("Reason", "message")
        assert events.flush(10)
        (event,) = server.store.list("events", "kube-system")
        server.store.delete("events", event["metadata"]["name"], "kube-system")
        server.store.clock.advance(300)
        events.on_status("Reason", "message")
        assert events.flush(10)
        assert written(server) == [("message", 2)]

    def test_who_may_not_count_up_writes_another_one(self, server, events, caplog) -> None:
        server.authorize = lambda request: "no" if request.verb == "patch" else None
        for _ in range(2):
            events.on_status("Reason", "message")
            assert events.flush(10)
            server.store.clock.advance(300)
        assert written(server) == [("message", 1), ("message", 2)]
        (told,) = caplog.messages
        assert told.startswith("may not patch events")

    def test_duplicates_are_written_if_that_is_asked_for(self, server, begin) -> None:
        events = begin(settings_of("events: {duplicates: true}"))
        for _ in range(30):
            events.on_status("Reason", "message")
        assert events.flush(10)
        # The burst that client-go allows per object.
        assert written(server) == [("message", 25)]


class TestObjects:
    def test_a_node_has_its_events_in_the_namespace_that_the_api_server_insists_on(self, server, events) -> None:
        events.on_node(a_node("n"), "ScaleDown", "x", warning=True)
        assert events.flush(10)
        (event,) = server.store.list("events", "default")
        assert event["involvedObject"] == {"kind": "Node", "apiVersion": "v1", "name": "n", "uid": "uid-of-/n"}
        assert event["type"] == "Warning"

    def test_the_status_is_named_as_it_is_configured_with_its_uid(self, server, begin) -> None:
        server.store.create("namespaces", {"metadata": {"name": "own"}})
        settings = settings_of("namespace: own\nstatus: {name: state}")
        events = begin(settings, status_uid=lambda: "its-uid")
        events.on_status("Reason", "message")
        events.on_config_map("ranks", "Reason", "message", uid="other-uid")
        assert events.flush(10)
        assert [event["involvedObject"] for event in server.store.list("events", "own")] == [
            {"kind": "ConfigMap", "apiVersion": "v1", "name": "ranks", "namespace": "own", "uid": "other-uid"},
            {"kind": "ConfigMap", "apiVersion": "v1", "name": "state", "namespace": "own", "uid": "its-uid"},
        ]

    def test_names_and_messages_are_no_longer_than_the_api_takes(self, server, events) -> None:
        longest = ".".join(["x" * 60] * 4) + ".yyyyyyyyy"
        assert len(longest) == 253
        events.on_pod(f"default/{longest}", "uid", "Reason", "é" * 2000)
        assert events.flush(10)
        (event,) = server.store.list("events", "default")
        assert event["involvedObject"]["name"] == longest
        assert len(event["metadata"]["name"]) <= 253
        assert event["message"] == "é" * 512


class TestFaults:
    def test_what_can_not_be_written_now_is_written_later_in_its_order(self, server, events, caplog) -> None:
        fault = Fault(status=503, message="away", when=writes_events)
        server.faults.append(fault)
        for number in range(3):
            events.on_status("Reason", f"message {number}")
        assert events.flush(10)
        (told,) = caplog.messages
        assert told.startswith(
            "event Reason about ConfigMap cluster-autoscaler-status could not be written; it is tried"
        )
        assert fault.hits == 1
        server.faults.remove(fault)
        assert events.flush(10)
        assert messages(server) == []
        server.store.clock.advance(11)
        assert events.flush(10)
        assert messages(server) == [f"message {number}" for number in range(3)]

    def test_one_that_never_can_be_is_given_up_after_two_minutes(self, server, events, dropped) -> None:
        fault = Fault(status=500, message="no disk", when=writes_events)
        server.faults.append(fault)
        events.on_status("Reason", "message")
        for _ in range(15):
            assert events.flush(10)
            server.store.clock.advance(11)
        assert (fault.hits, len(dropped)) == (12, 1)

    def test_a_terminating_namespace_is_not_a_missing_right(self, server, events, caplog) -> None:
        ending = "unable to create new content in namespace default because it is being terminated"
        server.faults.append(Fault(when=lambda request: "default" in request.path, status=403, message=ending))
        events.on_pod(*TRIGGERED)
        events.on_status("Reason", "message")
        assert events.flush(10)
        assert messages(server) == ["message"]
        assert caplog.messages == []

    def test_a_missing_right_is_named_once(self, server, events, caplog) -> None:
        server.authorize = lambda request: "no" if request.verb == "create" else None
        for number in range(3):
            events.on_status("Reason", f"message {number}")
        assert events.flush(10)
        (told,) = caplog.messages
        assert 'cannot create resource "events" in API group "" in the namespace "kube-system"' in told

    def test_an_answer_that_was_lost_leaves_one_event(self, server, events) -> None:
        server.faults.append(Fault(when=writes_events, hang_up="after", times=1))
        events.on_status("Reason", "message")
        assert events.flush(10)
        server.store.clock.advance(11)
        assert events.flush(10)
        assert written(server) == [("message", 1)]

    def test_a_hanging_api_server_delays_nothing_and_the_oldest_events_are_dropped(
        self, server, events, hold, dropped
    ) -> None:
        held, release = hold
        events.on_status("Reason", "first")
        assert held.wait(10)
        for number in range(1002):
            events.on_status("Reason", f"message {number}")
        assert not events.flush(0.01)
        assert len(dropped) == 2
        release.set()
        assert events.flush(10)
        told = messages(server)
        assert (len(told), "first" in told, "message 1" in told, "message 2" in told) == (1001, True, False, True)


class TestPods:
    def tell(self, events, *names, message="message"):
        for name in names:
            events.on_pod(f"default/{name}", name, "Reason", message)

    def test_they_keep_to_the_pace_of_requests_and_let_others_pass(self, server, events) -> None:
        self.tell(events, *(f"p{number}" for number in range(50)))
        events.on_status("Reason", "message")
        assert events.flush(10)
        # kube.burst at once, then kube.qps per second.
        assert len(written(server, "default")) == 10
        assert messages(server) == ["message"]
        for expected in (15, 20):
            server.store.clock.advance(1)
            assert events.flush(10)
            assert len(written(server, "default")) == expected
        assert events.room == 200 - 30

    def test_only_the_newest_of_each_waits(self, server, events, hold) -> None:
        held, release = hold
        events.on_status("Reason", "first")
        assert held.wait(10)
        events.on_pod("default/p", "uid", "One", "old")
        events.on_pod("default/p", "uid", "Other", "new")
        release.set()
        assert events.flush(10)
        assert written(server, "default") == [("new", 1)]

    def test_another_pace_can_be_set(self, server, events) -> None:
        self.tell(events, *(f"p{number}" for number in range(50)))
        events.reconfigure(settings_of("kube: {qps: 50, burst: 30}"))
        assert events.flush(10)
        assert len(written(server, "default")) >= 30


class TestEnd:
    def test_what_waits_is_written_and_nothing_after_it(self, server, events) -> None:
        for number in range(20):
            events.on_status("Reason", f"message {number}")
        for number in range(30):
            events.on_pod(f"default/p{number}", "uid", "Reason", "message")
        events.close()
        events.on_status("Reason", "too late")
        assert events.flush(10)
        assert sorted(messages(server)) == sorted(f"message {number}" for number in range(20))
        assert len(written(server, "default")) == 30

    def test_it_does_not_wait_for_ever_and_says_what_is_lost(self, events, hold, caplog) -> None:
        held, _ = hold
        events.on_status("Reason", "first")
        assert held.wait(10)
        events.on_status("Reason", "second")
        events.close(timeout=0.01)
        assert "2 events were not written before the process ends: the API server takes too long" in caplog.messages
