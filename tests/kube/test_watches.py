"""Watches and lists survive whatever API servers and networks do."""

import gzip
import json
import logging
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from time import monotonic

import pytest
from nodewright.api import ApiServerError
from nodewright.cluster import Cluster
from nodewright.kube import reflector as reflectors
from nodewright.kube.feed import Feed
from nodewright.kube.kinds import KINDS
from nodewright.kube.reflector import Reflector
from nodewright.kube.transport import connect
from nodewright_fake.apiserver.faults import Fault

NODES, PODS = KINDS[0], KINDS[1]


def a_node(name, **fields):
    return {"metadata": {"name": name, "resourceVersion": "5", **fields}, "status": {"allocatable": {"cpu": "4"}}}


def an_event(kind, obj):
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"


def a_page(*items, version="5", more=""):
    return json.dumps({"metadata": {"resourceVersion": version, "continue": more}, "items": items}).encode()


class Script:
    """An API server whose responses the test scripts."""

    def __init__(self):
        self.queries = []
        self.times = []
        #: The response to a list.
        self.lists = lambda handler: handler.say(a_page(a_node("n")))
        #: The response to a watch; by default silence until the test ends.
        self.watches = lambda handler: handler.begin()
        self.over = Event()

    def answer(self, handler):
        query = handler.path.partition("?")[2]
        self.queries.append(query)
        self.times.append(monotonic())
        (self.watches if "watch=true" in query else self.lists)(handler)

    def count(self, word):
        return sum(word in query for query in self.queries)

    @property
    def watched(self):
        return self.count("watch=true")

    @property
    def listed(self):
        return len(self.queries) - self.watched


@pytest.fixture
def script():
    """The script of the server."""
    return Script()


@pytest.fixture
def scripted(script):
    """The transport to it."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            script.answer(self)

        def say(self, body, status=200, **headers):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def begin(self, *pieces, hold=True):
            """Begin a stream; with *hold* it stays open in silence until the test ends."""
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in pieces:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            if hold:
                script.over.wait(20)
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *args):
            pass

        def handle_error(self, *args):
            pass

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, request, client_address):
            pass

    server = Quiet(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield connect(server=f"http://127.0.0.1:{server.server_port}")
    script.over.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def started():
    """Starts a reflector of one kind; returns a view of the nodes that it has seen."""
    running = []

    def start(transport, kind=NODES, feed=None):
        feed, cluster = feed or Feed(), Cluster()
        running.append(Reflector(kind, transport, feed))
        running[-1].start()

        def seen():
            feed.apply_to(cluster)
            return set(cluster.nodes)

        return seen

    yield start
    for each in running:
        each.stop()


class TestLists:
    """Lists, page by page."""

    def test_a_list_whose_next_page_has_expired_starts_over_at_once(
        self, server, transport, started, eventually, caplog
    ) -> None:
        for number in range(1100):
            server.store.create("nodes", {"metadata": {"name": f"n{number:04}"}})
        forgotten = Fault(when=lambda request: "continue" in request.query, status=410, times=1)
        server.faults.append(forgotten)
        seen = started(transport)
        eventually(lambda: len(seen()) == 1100)
        assert forgotten.hits == 1
        assert server.record.count(verb="list", resource="nodes") == 5
        assert not [record for record in caplog.records if record.levelno >= logging.WARNING]

    def test_nothing_of_a_list_that_was_not_ended_is_taken_up(self, server, transport, started, eventually) -> None:
        for number in range(1100):
            server.store.create("nodes", {"metadata": {"name": f"n{number:04}"}})
        forgotten = Fault(when=lambda request: "continue" in request.query, status=410)
        server.faults.append(forgotten)
        feed = Feed()
        seen = started(transport, feed=feed)
        eventually(lambda: forgotten.hits >= 3)
        assert not seen()
        with pytest.raises(ApiServerError, match="never listed nodes"):
            feed.wait_until_synced(0.01)
        server.faults.remove(forgotten)
        eventually(lambda: len(seen()) == 1100)

    def test_lists_that_come_compressed_or_empty_are_read(self, script, scripted, started, eventually) -> None:
        script.lists = lambda handler: handler.say(gzip.compress(a_page(a_node("z"))), Content_Encoding="gzip")
        seen = started(scripted)
        eventually(lambda: seen() == {"z"})

    def test_a_list_is_asked_for_in_its_present_state_and_in_pages(self, script, scripted, started, eventually) -> None:
        started(scripted)
        eventually(lambda: script.watched)
        assert script.queries[0] == "limit=500"

    def test_pods_that_have_ended_are_neither_listed_nor_kept(self, server, transport, started, eventually) -> None:
        feed, cluster = Feed(), Cluster()
        for name, phase in (("ended", "Succeeded"), ("broke", "Failed"), ("runs", "Running"), ("works", "Running")):
            pod = {"metadata": {"name": name, "namespace": "default"}, "spec": {}, "status": {"phase": phase}}
            server.store.create("pods", pod)
        started(transport, PODS, feed)

        def seen():
            feed.apply_to(cluster)
            return set(cluster.pods)

        eventually(lambda: seen() == {"default/runs", "default/works"})
        server.store.modify("pods", "works", "default", lambda pod: pod["status"].update(phase="Succeeded"))
        eventually(lambda: seen() == {"default/runs"})


class TestWatches:
    """Watches."""

    def test_after_an_expired_version_the_kind_is_listed_again(
        self, script, scripted, started, eventually, caplog
    ) -> None:
        def as_event(handler):
            handler.begin(an_event("ERROR", {"kind": "Status", "reason": "Expired", "code": 410}), hold=False)

        def as_status(handler):
            handler.say(b'{"kind":"Status","message":"too old"}', status=410)

        def watch(handler):
            ways = [as_event, as_status]
            (ways[script.watched - 1] if script.watched <= 2 else type(handler).begin)(handler)

        script.watches = watch
        started(scripted)
        eventually(lambda: script.watched == 3)
        assert script.listed == 3

    def test_what_came_before_the_version_was_forgotten_holds(self, script, scripted, started, eventually) -> None:
        expired = an_event("ERROR", {"kind": "Status", "code": 410})
        pages = iter([a_page(a_node("old"))])
        script.lists = lambda handler: handler.say(next(pages, a_page(a_node("new"))))
        script.watches = lambda handler: (
            handler.begin(an_event("ADDED", a_node("between")) + expired, hold=False)
            if script.watched == 1
            else handler.begin()
        )
        seen = started(scripted)
        eventually(lambda: seen() == {"new"})

    def test_a_watch_goes_on_from_the_last_bookmark(self, script, scripted, started, eventually) -> None:
        bookmark = an_event("BOOKMARK", {"kind": "Node", "metadata": {"resourceVersion": "77"}})
        script.watches = lambda handler: handler.begin(bookmark, hold=script.watched > 1)
        started(scripted)
        eventually(lambda: script.watched == 2)
        assert "resourceVersion=5&" in script.queries[1]
        assert "resourceVersion=77&" in script.queries[2]

    def test_a_gateway_that_gives_up_costs_no_new_list(self, script, scripted, started, eventually) -> None:
        script.watches = lambda handler: (
            handler.say(b"gateway timeout", status=504) if script.watched < 3 else handler.begin()
        )
        started(scripted)
        eventually(lambda: script.watched == 3)
        assert script.listed == 1

    def test_a_watch_that_falls_silent_is_opened_again_without_a_word(
        self, script, scripted, started, eventually, caplog, monkeypatch
    ) -> None:
        monkeypatch.setattr(reflectors, "_SILENCE_SECONDS", 0.05)
        monkeypatch.setattr(reflectors, "_SHORT_SECONDS", 0.01)
        started(scripted)
        with caplog.at_level(logging.INFO):
            eventually(lambda: script.watched >= 3)
        assert script.listed == 1
        assert not caplog.records

    def test_watches_that_end_as_soon_as_they_begin_are_not_opened_again_and_again(
        self, script, scripted, started, eventually, caplog, monkeypatch
    ) -> None:
        monkeypatch.setattr(reflectors, "_FIRST_PAUSE", 0.05)
        monkeypatch.setattr(reflectors, "_QUIET_SECONDS", 0.01)
        script.watches = lambda handler: handler.begin(hold=False)
        feed = Feed()
        with caplog.at_level(logging.WARNING):
            started(scripted, feed=feed)
            eventually(lambda: script.watched == 4)
        # At least 0.05, 0.1 and 0.2 seconds.
        assert script.times[-1] - script.times[1] > 0.34
        assert [record.getMessage() for record in caplog.records] == [
            "cannot watch nodes, trying again: the watch of nodes ended as soon as it began"
        ]

    def test_a_pause_is_as_long_as_the_server_wants(self, script, scripted, started, eventually) -> None:
        busy = b'{"kind":"Status","message":"too many requests"}'
        script.watches = lambda handler: (
            handler.say(busy, status=429, Retry_After="1") if script.watched == 1 else handler.begin()
        )
        started(scripted)
        eventually(lambda: script.watched == 2)
        assert script.times[2] - script.times[1] >= 1

    def test_one_object_that_can_not_be_read_hides_no_other_and_stays_as_it_was(
        self, script, scripted, started, eventually, caplog
    ) -> None:
        broken = a_node("n") | {"spec": {"taints": "none"}}
        nameless = {"metadata": {"name": 7}}
        events = [an_event("MODIFIED", each) for each in (broken, nameless)] + [an_event("ADDED", a_node("next"))]
        script.watches = lambda handler: handler.begin(b"".join(events))
        seen = started(scripted)
        with caplog.at_level(logging.ERROR):
            eventually(lambda: seen() == {"n", "next"})
        told = [record.getMessage() for record in caplog.records]
        assert told == [
            "nodes n is malformed and left as it was: Expected `array`, got `str` - at `$.spec.taints`",
            "nodes without a name is malformed and left as it was: Expected `str`, got `int` - at `$.metadata.name`",
        ]
        assert script.listed == 1

    @pytest.mark.parametrize("event", [b"", an_event("ERROR", {"kind": "Status", "code": 500, "message": "ill"})])
    def test_watches_that_end_at_once_are_no_sign_of_life(
        self, script, scripted, started, eventually, monkeypatch, event
    ) -> None:
        monkeypatch.setattr(reflectors, "_FIRST_PAUSE", 0.02)
        script.watches = lambda handler: handler.begin(event, hold=False) if event else handler.begin(hold=False)
        feed = Feed()
        started(scripted, feed=feed)
        eventually(lambda: script.watched == 3)
        with pytest.raises(ApiServerError, match=r"no news of nodes for [01] s: the watch of nodes (failed|ended)"):
            feed.check_silence((script.times[2] - script.times[0]) / 2)

    def test_trouble_and_its_end_are_logged_once(
        self, script, scripted, started, eventually, caplog, monkeypatch
    ) -> None:
        monkeypatch.setattr(reflectors, "_FIRST_PAUSE", 0.001)
        monkeypatch.setattr(reflectors, "_QUIET_SECONDS", 0)
        bookmark = an_event("BOOKMARK", {"kind": "Node", "metadata": {"resourceVersion": "77"}})
        script.watches = lambda handler: (
            handler.say(b"ill", status=500) if script.watched < 4 else handler.begin(bookmark)
        )
        with caplog.at_level(logging.INFO):
            started(scripted)
            eventually(lambda: len(caplog.records) == 2)
        assert [record.getMessage() for record in caplog.records] == [
            "cannot watch nodes, trying again: watch nodes: ill",
            "watching nodes again",
        ]

    def test_a_large_object_comes_through_whole(self, server, transport, started, eventually) -> None:
        feed, cluster = Feed(), Cluster()
        started(transport, feed=feed)
        eventually(lambda: server.record.count(verb="watch"))
        notes = {"note": "ü" * 700_000}
        server.store.create("nodes", {"metadata": {"name": "large", "annotations": notes}})
        eventually(lambda: feed.apply_to(cluster))
        assert cluster.nodes["large"].metadata.annotations == notes
