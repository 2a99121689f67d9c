"""Reflectors keep the cluster up to date, whatever the API server does."""

import logging

import pytest
from nodewright.api import ApiServerError
from nodewright.cluster import Cluster
from nodewright.kube.feed import Feed
from nodewright.kube.kinds import KINDS
from nodewright.kube.reflector import Reflector
from nodewright.testing.clock import SteppedClock
from nodewright_fake.apiserver.faults import Fault
from nodewright_fake.apiserver.server import ApiServer
from nodewright_fake.apiserver.store import Store


def a_node(name, cpu="4"):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": {"cpu": cpu}}}


@pytest.fixture
def follow(follow):
    """Starts reflectors for all kinds; returns the feed when it has everything."""

    def start():
        feed = follow()
        feed.wait_until_synced(10)
        return feed

    return start


class Follower:
    """A cluster that is updated on each access."""

    def __init__(self, feed):
        self.feed = feed
        self.cluster = Cluster()

    @property
    def nodes(self):
        self.feed.apply_to(self.cluster)
        return set(self.cluster.nodes)


def test_lists_come_page_by_page(server, follow) -> None:
    for number in range(1203):
        server.store.create("nodes", a_node(f"n{number:04}"))
    assert len(Follower(follow()).nodes) == 1203
    assert server.record.count(verb="list", resource="nodes") == 3


def test_changes_arrive_through_the_watch(server, follow, eventually) -> None:
    server.store.create("nodes", a_node("old"))
    follower = Follower(follow())
    server.store.create("nodes", a_node("new"))
    server.store.delete("nodes", "old")
    eventually(lambda: follower.nodes == {"new"})
    assert server.record.count(verb="list", resource="nodes") == 1


def test_a_dropped_watch_is_opened_again_from_where_it_was(server, follow, eventually) -> None:
    follower = Follower(follow())
    eventually(lambda: server.record.count(verb="watch", resource="nodes") == 1)
    server.drop_watches()
    server.store.create("nodes", a_node("meanwhile"))
    eventually(lambda: follower.nodes == {"meanwhile"})
    assert server.record.count(verb="list", resource="nodes") == 1


def test_after_compaction_everything_is_listed_again(server, follow, eventually) -> None:
    server.store.create("nodes", a_node("old"))
    follower = Follower(follow())
    eventually(lambda: server.record.count(verb="watch", resource="nodes") == 1)
    away = Fault(when=lambda request: request.verb in ("watch", "list"), status=503)
    server.faults.append(away)
    server.drop_watches()
    eventually(lambda: away.hits >= len(KINDS))
    server.store.delete("nodes", "old")
    server.store.create("nodes", a_node("new"))
    server.compact()
    server.faults.remove(away)
    eventually(lambda: follower.nodes == {"new"})
    assert server.record.count(verb="list", resource="nodes") > 1


def test_a_server_that_was_put_back_to_an_earlier_state_is_listed_again(server, follow, eventually) -> None:
    for number in range(3):
        server.store.create("nodes", a_node(f"lost-{number}"))
    follower = Follower(follow())
    eventually(lambda: server.record.count(verb="watch") == len(KINDS))
    server.stop()
    backup = Store(SteppedClock())
    backup.create("nodes", a_node("kept"))
    with ApiServer(backup, port=int(server.url.rpartition(":")[2])):
        eventually(lambda: follower.nodes == {"kept"})


def test_the_cause_of_a_missing_first_list_is_reported(server, transport) -> None:
    server.faults.append(Fault(when=lambda request: request.verb == "list", status=500, message="etcd is on fire"))
    feed = Feed()
    reflector = Reflector(KINDS[0], transport, feed)
    reflector.start()
    with pytest.raises(ApiServerError, match=r"never listed nodes, .*\(list nodes: etcd is on fire\)"):
        feed.wait_until_synced(1)
    reflector.stop()


def test_a_malformed_object_is_left_out_and_named(server, follow, caplog) -> None:
    server.store.create("nodes", a_node("good"))
    server.store.create("nodes", a_node("strange", cpu="lots"))
    server.store.create("nodes", {**a_node("broken"), "spec": {"taints": "none"}})
    with caplog.at_level(logging.ERROR):
        assert Follower(follow()).nodes == {"good"}
    assert "nodes strange is malformed and ignored: cpu: 'lots' is not a quantity" in caplog.text
    assert (
        "nodes broken is malformed and left as it was: Expected `array`, got `str` - at `$.spec.taints`" in caplog.text
    )


def test_a_pod_that_the_scheduler_gave_up_on_wakes_the_loop(server, transport, eventually) -> None:
    woken = []
    feed = Feed(on_news=lambda: woken.append(1))
    reflector = Reflector(KINDS[1], transport, feed)
    reflector.start()
    server.store.create("pods", {"metadata": {"name": "p", "namespace": "default"}, "spec": {}})
    eventually(lambda: feed.apply_to(Cluster()) > 0)
    assert not woken
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    server.store.modify("pods", "p", "default", lambda pod: pod.update(status={"conditions": [condition]}))
    eventually(lambda: woken)
    reflector.stop()


def test_a_bookmark_tells_how_far_a_watch_has_come(server, follow) -> None:
    feed = follow()
    server.store.create("configmaps", {"metadata": {"name": "unrelated", "namespace": "default"}})
    server.send_bookmarks()
    feed.wait_for_version(server.store.version, 10)


def test_a_response_that_no_api_server_sends_does_not_end_a_reflector(
    server, transport, monkeypatch, eventually
) -> None:
    answers = iter([b"<html>the proxy is ill</html>"])
    get = transport.get
    monkeypatch.setattr(transport, "get", lambda *request: next(answers, None) or get(*request))
    server.store.create("nodes", a_node("n"))
    feed, cluster = Feed(), Cluster()
    reflector = Reflector(KINDS[0], transport, feed)
    reflector.start()

    def seen():
        feed.apply_to(cluster)
        return "n" in cluster.nodes

    eventually(seen)
    reflector.stop()
