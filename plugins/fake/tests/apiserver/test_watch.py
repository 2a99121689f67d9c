import json
import threading
from collections.abc import Callable
from http.client import IncompleteRead

import pytest
from kubernetes import client, watch
from nodewright_fake.apiserver.server import ApiServer
from nodewright_fake.apiserver.store import Store

from .builders import config_map, node, pod
from .raw import PATIENCE_SECONDS, Raw

PODS = "/api/v1/pods"


def until(holds: Callable[[], bool]) -> None:
    ticks = threading.Event()
    for _ in range(int(PATIENCE_SECONDS / 0.005)):
        if holds():
            return
        ticks.wait(0.005)
    raise AssertionError("it did not come about")


def relabel(store: Store, name: str, **labels: str) -> None:
    store.modify("pods", name, "default", lambda draft: draft["metadata"].update(labels=labels))


def test_a_watch_from_a_version_shows_what_changed_since(store, raw) -> None:
    store.create("pods", pod("before"))
    version = raw.get(PODS).body["metadata"]["resourceVersion"]
    store.create("pods", pod("a"))
    relabel(store, "a", app="db")

    events = raw.watch(PODS, resourceVersion=version)
    assert events.take(2) == [("ADDED", "a"), ("MODIFIED", "a")]

    store.delete("pods", "a", "default")
    store.create("nodes", node())
    store.create("pods", pod("b"))
    assert events.take(2) == [("DELETED", "a"), ("ADDED", "b")]


@pytest.mark.parametrize("query", [{}, {"resourceVersion": "0"}])
def test_a_watch_from_no_version_begins_with_what_there_is(store, raw, query) -> None:
    store.create("pods", pod("a"))
    store.create("pods", pod("b"))

    events = raw.watch(PODS, **query)
    assert events.take(2) == [("ADDED", "a"), ("ADDED", "b")]

    store.create("pods", pod("c"))
    assert events.take(1) == [("ADDED", "c")]


def test_the_official_client_watches(store, core) -> None:
    store.create("pods", pod("a"))
    listed = core.list_pod_for_all_namespaces()
    relabel(store, "a", app="db")
    store.delete("pods", "a", "default")

    stream = watch.Watch().stream(
        core.list_pod_for_all_namespaces, resource_version=listed.metadata.resource_version, timeout_seconds=1
    )

    assert [(event["type"], event["object"].metadata.name) for event in stream] == [("MODIFIED", "a"), ("DELETED", "a")]


def test_an_object_comes_and_goes_as_it_enters_and_leaves_the_selection(store, raw) -> None:
    events = raw.watch(PODS, labelSelector="app=web", resourceVersion=store.version)

    created = store.create("pods", pod("a"))
    relabel(store, "a", app="db")
    relabel(store, "a", app="db", more="labels")
    relabel(store, "a", app="web")
    relabel(store, "a", app="web", more="labels")
    store.delete("pods", "a", "default")

    taken = [next(events) for _ in range(5)]
    assert [event["type"] for event in taken] == ["ADDED", "DELETED", "ADDED", "MODIFIED", "DELETED"]
    left = taken[1]["object"]["metadata"]
    assert left["labels"] == {"app": "web"}
    assert int(left["resourceVersion"]) == int(created["metadata"]["resourceVersion"]) + 1


def test_a_pod_leaves_a_watch_for_unscheduled_pods_when_it_is_bound(store, raw) -> None:
    store.create("pods", pod("a"))
    events = raw.watch(PODS, fieldSelector="spec.nodeName=", resourceVersion=store.version)

    store.modify("pods", "a", "default", lambda draft: draft["spec"].update(nodeName="n1"))

    assert events.take(1) == [("DELETED", "a")]


def test_a_watch_of_one_object_shows_no_other(store, raw) -> None:
    events = raw.watch("/api/v1/namespaces/default/pods", fieldSelector="metadata.name=b", resourceVersion="0")
    for name in ("a", "b", "c"):
        store.create("pods", pod(name))
    store.delete("pods", "b", "default")

    assert events.take(2) == [("ADDED", "b"), ("DELETED", "b")]


def test_a_watch_of_one_namespace_shows_no_other(store, raw) -> None:
    events = raw.watch("/api/v1/namespaces/default/pods", resourceVersion=store.version)
    store.create("pods", pod("a", "kube-system"))
    store.create("pods", pod("b"))

    assert events.take(1) == [("ADDED", "b")]


def test_bookmarks_are_sent_when_the_server_is_asked_to(store, server, raw) -> None:
    events = raw.watch(PODS, allowWatchBookmarks="true", resourceVersion=store.version)
    store.create("pods", pod("a"))
    store.create("nodes", node())
    version = store.version

    server.send_bookmarks()

    assert events.take(1) == [("ADDED", "a")]
    assert next(events) == {
        "type": "BOOKMARK",
        "object": {
            "kind": "Pod",
            "apiVersion": "v1",
            "metadata": {"resourceVersion": str(version), "creationTimestamp": None},
        },
    }


def test_each_call_for_bookmarks_is_answered_even_if_nothing_happened(server, raw) -> None:
    events = raw.watch(PODS, allowWatchBookmarks="true", resourceVersion="0")
    for _ in range(3):
        server.send_bookmarks()
        assert events.take(1) == [("BOOKMARK", "")]


def test_who_did_not_ask_for_bookmarks_gets_none(store, server, raw) -> None:
    events = raw.watch(PODS, resourceVersion=store.version)
    server.send_bookmarks()
    store.create("pods", pod("a"))

    assert events.take(1) == [("ADDED", "a")]


def test_a_watch_that_begins_behind_the_last_call_for_bookmarks_gets_one(store, server, raw) -> None:
    old = store.version
    store.create("pods", pod("a"))
    server.send_bookmarks()

    events = raw.watch(PODS, allowWatchBookmarks="true", resourceVersion=old)

    assert events.take(2) == [("ADDED", "a"), ("BOOKMARK", "")]


def test_bookmarks_also_come_by_themselves(clock) -> None:
    store = Store(clock)
    with ApiServer(store, bookmark_interval=0.05) as server:
        raw = Raw(server.url)
        events = raw.watch(PODS, allowWatchBookmarks="true", resourceVersion="0")
        assert events.take(2) == [("BOOKMARK", ""), ("BOOKMARK", "")]
        raw.close()


def test_a_watch_list_marks_the_end_of_what_there_was(store, raw) -> None:
    store.create("pods", pod("a"))
    events = raw.watch(PODS, sendInitialEvents="true", resourceVersionMatch="NotOlderThan", allowWatchBookmarks="true")

    assert events.take(1) == [("ADDED", "a")]
    bookmark = next(events)
    assert bookmark["type"] == "BOOKMARK"
    assert bookmark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert bookmark["object"]["metadata"]["resourceVersion"] == str(store.version)


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        (
            {"sendInitialEvents": "true"},
            "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
        (
            {"resourceVersionMatch": "NotOlderThan"},
            "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
    ],
)
def test_options_of_a_watch_that_contradict_each_other_are_invalid(raw, query, problem) -> None:
    events = raw.watch(PODS, **query)

    assert events.status == 422
    assert (
        json.loads(events.rest())["message"]
        == f'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: {problem}'
    )


def test_a_watch_ends_after_its_time(raw) -> None:
    assert list(raw.watch(PODS, timeoutSeconds=1, resourceVersion="0")) == []


def test_a_compacted_version_is_gone_in_the_stream(store, server, raw) -> None:
    old = store.version
    store.create("pods", pod("a"))
    server.compact()

    events = list(raw.watch(PODS, resourceVersion=old))

    assert [event["type"] for event in events] == ["ERROR"]
    status = events[0]["object"]
    assert (status["code"], status["reason"]) == (410, "Expired")
    assert status["message"] == f"too old resource version: {old} ({store.version})"


def test_the_official_client_raises_for_a_compacted_version(store, server, core) -> None:
    old = store.version
    store.create("pods", pod("a"))
    server.compact()

    with pytest.raises(client.ApiException) as gone:
        list(watch.Watch().stream(core.list_pod_for_all_namespaces, resource_version=str(old), timeout_seconds=1))

    assert gone.value.status == 410


def test_a_server_may_answer_for_a_compacted_version_before_the_stream(clock) -> None:
    store = Store(clock)
    with ApiServer(store, expires_in_band=False) as server:
        old = store.version
        store.create("pods", pod("a"))
        server.compact()
        raw = Raw(server.url)

        events = raw.watch(PODS, resourceVersion=old)
        assert (events.status, json.loads(events.rest())["reason"]) == (410, "Expired")
        raw.close()


def test_a_watch_that_has_seen_everything_survives_a_compaction(store, server, raw) -> None:
    events = raw.watch(PODS, resourceVersion=store.version)
    store.create("pods", pod("a"))
    assert events.take(1) == [("ADDED", "a")]

    store.create("nodes", node())
    server.compact()
    store.create("pods", pod("b"))

    assert events.take(1) == [("ADDED", "b")]


def test_the_log_has_an_end(clock) -> None:
    store = Store(clock)
    with ApiServer(store, log_length=10) as server:
        old = store.version
        for number in range(50):
            store.create("configmaps", config_map(f"c{number}"))
        raw = Raw(server.url)

        error = next(raw.watch("/api/v1/configmaps", resourceVersion=old))
        late = raw.watch("/api/v1/configmaps", resourceVersion=store.version - 5)

        assert (error["type"], error["object"]["code"]) == ("ERROR", 410)
        assert late.take(5) == [("ADDED", f"c{number}") for number in range(45, 50)]
        raw.close()


def test_watches_can_be_cut_and_resumed_without_loss(store, server, raw) -> None:
    events = raw.watch(PODS, resourceVersion=store.version)
    store.create("pods", pod("a"))
    seen = next(events)["object"]["metadata"]["resourceVersion"]

    server.drop_watches()
    with pytest.raises(IncompleteRead):
        events.rest()
    store.create("pods", pod("b"))

    assert raw.watch(PODS, resourceVersion=seen).take(1) == [("ADDED", "b")]


def test_a_watch_opened_after_a_cut_is_not_cut(store, server, raw) -> None:
    server.drop_watches()
    events = raw.watch(PODS, resourceVersion=store.version)
    store.create("pods", pod("a"))

    assert events.take(1) == [("ADDED", "a")]


def test_open_watches_are_counted(server, raw) -> None:
    assert server.open_watches("pods") == 0

    raw.watch(PODS, resourceVersion="0")
    raw.watch("/api/v1/nodes", resourceVersion="0")
    until(lambda: server.open_watches("pods") == 1)

    server.drop_watches()
    until(lambda: server.open_watches("pods") == 0)


def test_many_changes_reach_many_watches_in_order(store, raw) -> None:
    watches = [raw.watch(PODS, resourceVersion=store.version) for _ in range(5)]
    for number in range(1200):
        store.create("pods", pod(f"p{number}"))

    expected = [("ADDED", f"p{number}") for number in range(1200)]
    assert all(events.take(1200) == expected for events in watches)
