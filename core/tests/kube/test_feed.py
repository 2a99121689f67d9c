"""The feed collects changes from reflectors until the loop applies them."""

from dataclasses import replace
from threading import Event, Thread
from time import monotonic, sleep

import pytest
from nodewright.api import ApiServerError
from nodewright.cluster import Cluster
from nodewright.kube import feed as feeds
from nodewright.kube.feed import Batch, Feed
from nodewright.kube.kinds import KINDS
from nodewright.kube.pod_reader import PodReader
from nodewright.objects import Taint
from nodewright.testing import a_node

NODES, PODS = KINDS[0], KINDS[1]
LATE = replace(NODES, name="late")
READ = PodReader()


def a_pod_text(name, *, unschedulable=False, message=""):
    condition = '{"type":"PodScheduled","status":"False","reason":"Unschedulable"}' if unschedulable else ""
    status = f'{{"phase":"Pending","conditions":[{condition}],"message":"{message}"}}'
    return f'{{"metadata":{{"name":"{name}","namespace":"default"}},"status":{status}}}'.encode()


def nodes(*names, gone=(), complete=False, version="1", unread=()):
    batch = Batch(kind=NODES, complete=complete, version=version)
    for name in names:
        batch.put(a_node(name))
    for name in gone:
        batch.drop(name)
    for name in unread:
        batch.keep(name)
    return batch


def nodes_like(name, **fields):
    batch = Batch(kind=NODES, version="1")
    batch.put(a_node(name, **fields))
    return batch


def pods(*texts, complete=False):
    batch = Batch(kind=PODS, complete=complete, version="1")
    for text in texts:
        batch.put(READ(text))
    return batch


def taken_up(feed, cluster):
    feed.apply_to(cluster)
    return set(cluster.nodes)


def test_of_an_object_that_changed_often_only_the_last_state_is_kept() -> None:
    feed = Feed()
    for _ in range(1000):
        feed.extend(nodes("n"))
    assert feed.apply_to(Cluster()) == 1


def test_changes_hold_in_the_order_in_which_they_came() -> None:
    feed, cluster = Feed(), Cluster()
    feed.extend(nodes("stays", "goes", complete=True))
    feed.extend(nodes("comes", gone=["goes"]))
    feed.extend(nodes("late"))
    feed.extend(nodes(gone=["late"]))
    assert taken_up(feed, cluster) == {"stays", "comes"}
    feed.extend(nodes(gone=["comes"]))
    feed.extend(nodes("comes"))
    assert taken_up(feed, cluster) == {"stays", "comes"}


def test_a_list_takes_the_place_of_what_was_not_taken_up() -> None:
    feed, cluster = Feed(), Cluster()
    feed.extend(nodes("a", "b", complete=True))
    assert taken_up(feed, cluster) == {"a", "b"}
    feed.extend(nodes("c"))
    feed.extend(nodes("b", complete=True))
    assert taken_up(feed, cluster) == {"b"}


def test_what_is_listed_but_can_not_be_read_stays_as_it_was() -> None:
    feed, cluster = Feed(), Cluster()
    feed.extend(nodes("a", "b", complete=True))
    assert taken_up(feed, cluster) == {"a", "b"}
    feed.extend(nodes(complete=True, unread=["a"]))
    assert taken_up(feed, cluster) == {"a"}


class TestWakingTheLoop:
    """A pod wakes the loop when it becomes unschedulable, and not when the same is reported again.

    A node wakes it when something changes that pods can see, while nodes are awaited.
    """

    @pytest.fixture
    def woken(self):
        return []

    @pytest.fixture
    def feed(self, woken):
        return Feed(on_news=lambda: woken.append(1))

    def test_once(self, feed, woken) -> None:
        feed.extend(pods(a_pod_text("p")))
        assert not woken
        for message in ("0/1 nodes fit", "0/2 nodes fit"):
            feed.extend(pods(a_pod_text("p", unschedulable=True, message=message)))
        assert len(woken) == 1

    def test_again_after_it_had_a_node_or_was_gone(self, feed, woken) -> None:
        feed.extend(pods(a_pod_text("p", unschedulable=True)))
        feed.extend(pods(a_pod_text("p")))
        feed.extend(pods(a_pod_text("p", unschedulable=True)))
        gone = Batch(kind=PODS, version="2")
        gone.drop("default/p")
        feed.extend(gone)
        feed.extend(pods(a_pod_text("p", unschedulable=True)))
        assert len(woken) == 3

    def test_a_new_list_wakes_for_what_is_new_in_it(self, feed, woken) -> None:
        feed.extend(pods(a_pod_text("p", unschedulable=True), a_pod_text("q", unschedulable=True), complete=True))
        feed.extend(pods(a_pod_text("p", unschedulable=True), complete=True))
        assert len(woken) == 1
        feed.extend(pods(a_pod_text("q", unschedulable=True)))
        assert len(woken) == 2

    @pytest.mark.parametrize(
        "changed",
        [
            {"taints": []},
            {"labels": {"zone": "a"}},
            {"gpus": 1},
            {"ready": False},
            {"unschedulable": True},
        ],
    )
    def test_a_change_of_a_node_wakes_while_nodes_are_awaited(self, feed, woken, changed) -> None:
        before = {"taints": [Taint(key="late", effect="NoExecute")]}
        feed.extend(nodes_like("n", **before))
        feed.apply_to(Cluster())
        feed.await_nodes(True)
        assert not woken
        feed.extend(nodes_like("n", **before | changed))
        assert len(woken) == 1

    def test_so_does_a_node_that_comes_or_goes_even_if_only_a_list_shows_it(self, feed, woken) -> None:
        feed.await_nodes(True)
        feed.extend(nodes("a", "b"))
        feed.extend(nodes(gone=["a"]))
        feed.extend(nodes("b", complete=True))
        assert len(woken) == 2
        feed.extend(nodes(complete=True, unread=["b"]))
        assert len(woken) == 2
        feed.extend(nodes(complete=True))
        assert len(woken) == 3

    def test_heartbeats_and_soft_taints_of_nodes_do_not_wake(self, feed, woken) -> None:
        feed.await_nodes(True)
        feed.extend(nodes_like("n"))
        feed.extend(nodes_like("n"))
        feed.extend(nodes_like("n", annotations={"seen": "now"}))
        feed.extend(nodes_like("n", taints=[Taint(key="unneeded", effect="PreferNoSchedule")]))
        assert len(woken) == 1

    def test_nodes_do_not_wake_while_no_pod_counts_on_any(self, feed, woken) -> None:
        feed.extend(nodes("n"))
        feed.await_nodes(False)
        feed.extend(nodes_like("n", ready=False))
        assert not woken

    def test_a_change_that_came_during_the_decision_wakes_as_soon_as_nodes_are_awaited(self, feed, woken) -> None:
        feed.extend(nodes("n"))
        feed.apply_to(Cluster())
        feed.extend(nodes_like("n", ready=False))
        feed.await_nodes(True)
        assert len(woken) == 1


class TestTheFirstSight:
    """The loop begins after everything was listed once."""

    def test_it_is_waited_for_as_long_as_pages_come(self) -> None:
        feed = Feed()
        for kind in KINDS:
            feed.note_absent(kind)
        feed.add_kind(LATE)
        pages = iter(range(20))

        def come():
            for _ in pages:
                sleep(0.02)
                feed.note_contact(LATE)
            feed.extend(Batch(kind=LATE, complete=True, version="1"))

        Thread(target=come, daemon=True).start()
        feed.wait_until_synced(0.2)
        assert next(pages, None) is None

    def test_a_kind_that_is_not_heard_of_is_not_waited_for_long_however_busy_others_are(self) -> None:
        feed, over = Feed(), Event()

        def chatter():
            while not over.wait(0.01):
                feed.extend(nodes("n"))

        Thread(target=chatter, daemon=True).start()
        began = monotonic()
        with pytest.raises(ApiServerError, match="never listed pods, "):
            feed.wait_until_synced(0.1)
        over.set()
        assert monotonic() - began < 5


class TestSilence:
    """No decision is made on a stale state of nodes or pods."""

    @pytest.fixture
    def time(self, monkeypatch):
        now = [1000.0]
        monkeypatch.setattr(feeds, "monotonic", lambda: now[0])
        return now

    def test_what_was_heard_of_lately_will_do(self, time) -> None:
        feed = Feed()
        feed.extend(nodes(complete=True))
        time[0] += 100
        feed.note_contact(NODES)
        time[0] += 100
        feed.check_silence(180)

    def test_a_long_silence_is_reported_with_its_reason(self, time) -> None:
        feed = Feed()
        feed.extend(nodes(complete=True))
        time[0] += 200
        with pytest.raises(ApiServerError, match="no news of nodes for 200 s: the API server is silent"):
            feed.check_silence(180)
        feed.note_trouble("nodes", "GET /api/v1/nodes: no, sorry")
        with pytest.raises(ApiServerError, match="no news of nodes for 200 s: GET /api/v1/nodes: no, sorry"):
            feed.check_silence(180)

    def test_other_kinds_are_not_waited_for(self, time) -> None:
        feed = Feed()
        budgets = next(kind for kind in KINDS if kind.name == "poddisruptionbudgets")
        feed.note_contact(budgets)
        time[0] += 10_000
        feed.check_silence(180)
