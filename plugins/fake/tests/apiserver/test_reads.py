from typing import Any

import pytest
from kubernetes import client
from nodewright_fake.apiserver.store import Store

from .builders import config_map, node, pod

PODS = "/api/v1/namespaces/default/pods"


def fill(store: Store, count: int) -> None:
    for number in range(count):
        store.create("pods", pod(f"p{number}", node=f"n{number % 2}"))


def test_the_official_client_reads_an_object(store, core) -> None:
    store.create("nodes", node("n1", zone="a"))

    read = core.read_node("n1")

    assert read.metadata.labels["zone"] == "a"
    assert read.status.allocatable["cpu"] == "4"


def test_what_is_not_there_is_not_found(raw) -> None:
    answer = raw.get(f"{PODS}/gone")

    assert answer.status == 404
    assert answer.body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'pods "gone" not found',
        "reason": "NotFound",
        "details": {"name": "gone", "kind": "pods"},
        "code": 404,
    }


def test_a_list_carries_the_version_of_the_cluster(store, raw) -> None:
    fill(store, 2)
    store.create("nodes", node())

    body = raw.get("/api/v1/pods").body

    assert (body["kind"], body["apiVersion"]) == ("PodList", "v1")
    assert body["metadata"] == {"resourceVersion": str(store.version)}
    assert [(item["kind"], item["metadata"]["name"]) for item in body["items"]] == [("Pod", "p0"), ("Pod", "p1")]


def test_a_list_of_one_namespace_leaves_the_others_out(store, raw) -> None:
    store.create("pods", pod("here"))
    store.create("pods", pod("there", "kube-system"))

    assert raw.get(PODS).items == ["here"]
    assert raw.get("/api/v1/pods").items == ["here", "there"]


@pytest.mark.parametrize(
    ("selectors", "names"),
    [
        ({"labelSelector": "app=web"}, ["p0", "p1", "p2"]),
        ({"labelSelector": "app in (db)"}, []),
        ({"fieldSelector": "spec.nodeName=n0"}, ["p0", "p2"]),
        ({"fieldSelector": "spec.nodeName=n0,metadata.name!=p0"}, ["p2"]),
        ({"fieldSelector": "metadata.name=p1"}, ["p1"]),
        ({"fieldSelector": "metadata.name=p1", "labelSelector": "app=db"}, []),
        ({"fieldSelector": "metadata.name=gone"}, []),
        ({"fieldSelector": "metadata.namespace=default,spec.schedulerName=default-scheduler,status.phase=Pending",
          "labelSelector": "!legacy"}, ["p0", "p1", "p2"]),
    ],
)  # fmt: skip
def test_selectors_narrow_a_list(store, raw, selectors, names) -> None:
    fill(store, 3)

    assert raw.get(PODS, **selectors).items == names
    assert raw.get("/api/v1/pods", **selectors).items == names


def test_a_list_in_chunks_shows_the_moment_of_its_beginning(store, raw) -> None:
    fill(store, 5)
    first = raw.get("/api/v1/pods", limit=2).body
    store.delete("pods", "p3", "default", grace_seconds=0)
    store.create("pods", pod("p9"))

    second = raw.get("/api/v1/pods", limit=2, continue_=first["metadata"]["continue"]).body
    last = raw.get("/api/v1/pods", limit=2, continue_=second["metadata"]["continue"]).body

    chunks = [[item["metadata"]["name"] for item in chunk["items"]] for chunk in (first, second, last)]
    assert chunks == [["p0", "p1"], ["p2", "p3"], ["p4"]]
    assert {chunk["metadata"]["resourceVersion"] for chunk in (first, second, last)} == {
        first["metadata"]["resourceVersion"]
    }
    assert [chunk["metadata"].get("remainingItemCount") for chunk in (first, second, last)] == [3, 1, None]
    assert "continue" not in last["metadata"]


def test_with_a_selector_the_server_does_not_count_the_rest(store, raw) -> None:
    fill(store, 3)

    metadata = raw.get("/api/v1/pods", limit=1, labelSelector="app=web").body["metadata"]

    assert metadata["continue"]
    assert "remainingItemCount" not in metadata


def test_an_unfinished_list_expires_with_a_compaction(store, server, raw) -> None:
    fill(store, 3)
    token = raw.get("/api/v1/pods", limit=2).body["metadata"]["continue"]

    server.compact()
    answer = raw.get("/api/v1/pods", limit=2, continue_=token)

    assert (answer.status, answer.body["reason"]) == (410, "Expired")
    assert answer.body["message"].startswith("The provided continue parameter is too old")


def test_a_token_that_the_server_never_gave_is_refused(raw) -> None:
    answer = raw.get("/api/v1/pods", limit=2, continue_="nonsense")

    assert (answer.status, answer.body["message"][:26]) == (400, "continue key is not valid:")


@pytest.mark.parametrize("version", ["", "0", "1"])
def test_any_reached_version_is_good_enough_for_a_list(store, raw, version) -> None:
    fill(store, 1)

    assert raw.get("/api/v1/pods", resourceVersion=version).items == ["p0"]


def test_the_past_cannot_be_listed(store, raw) -> None:
    version = store.version
    exact = {"resourceVersion": version, "resourceVersionMatch": "Exact"}
    assert raw.get("/api/v1/pods", **exact).items == []

    fill(store, 1)
    answer = raw.get("/api/v1/pods", **exact)
    assert (answer.status, answer.body["reason"]) == (410, "Expired")


def test_a_version_that_is_yet_to_come_times_out(store, raw) -> None:
    answer = raw.get("/api/v1/pods", resourceVersion=store.version + 1)

    assert answer.status == 504
    assert answer.headers["Retry-After"] == "1"
    assert answer.body["details"]["causes"] == [
        {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    ]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"resourceVersion": "latest"}, "invalid resource version 'latest'"),
        ({"limit": "many"}, "invalid value for query parameter limit"),
        ({"labelSelector": "a b"}, "unable to parse requirement"),
        ({"fieldSelector": "a b"}, "invalid selector"),
    ],
)
def test_a_query_that_makes_no_sense_is_a_bad_request(raw, query, message) -> None:
    answer = raw.get("/api/v1/pods", **query)

    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert answer.body["message"].startswith(message)


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/nonsense",
        "/api/v2/pods",
        "/apis/apps/v1/pods",
        "/api/v1/pods/web-0",
        "/api/v1/namespaces/default/nodes",
        f"{PODS}/web-0/nonsense",
        "/nonsense",
    ],
)
def test_a_path_that_leads_nowhere_is_not_found(raw, path) -> None:
    answer = raw.get(path)

    assert answer.status == 404
    assert answer.body["message"] == "the server could not find the requested resource"


def test_a_client_that_reads_no_json_is_told_what_there_is(raw) -> None:
    answer = raw.get(PODS, accept="application/vnd.kubernetes.protobuf")

    assert (answer.status, answer.body["reason"]) == (406, "NotAcceptable")
    assert answer.body["message"].endswith("accepted: application/json")


def test_metadata_can_be_had_alone(store, raw) -> None:
    store.create("configmaps", config_map(key="value"))
    accept = "application/json;as=PartialObjectMetadata{};g=meta.k8s.io;v=v1"

    one = raw.get("/api/v1/namespaces/default/configmaps/settings", accept=accept.format("")).body
    many = raw.get("/api/v1/configmaps", accept=accept.format("List")).body

    assert one["kind"] == "PartialObjectMetadata"
    assert one["metadata"]["name"] == "settings"
    assert "data" not in one
    assert many["kind"] == "PartialObjectMetadataList"
    assert many["items"] == [one]


def test_events_are_the_same_objects_in_both_groups(store, api, raw) -> None:
    event: dict[str, Any] = {
        "metadata": {"name": "e", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "name": "web-0", "namespace": "default"},
        "reason": "Killing",
        "message": "bye",
        "source": {"component": "kubelet"},
        "count": 2,
    }
    store.create("events", event)

    newer = raw.get("/apis/events.k8s.io/v1/namespaces/default/events/e").body
    assert (newer["apiVersion"], newer["note"], newer["regarding"]["name"]) == ("events.k8s.io/v1", "bye", "web-0")
    assert (newer["deprecatedSource"], newer["deprecatedCount"]) == ({"component": "kubelet"}, 2)

    sent = {
        "metadata": {"name": "f", "namespace": "default"},
        "note": "hi",
        "regarding": {"kind": "Node", "name": "n1"},
    }
    raw.post("/apis/events.k8s.io/v1/namespaces/default/events", sent)
    read = client.CoreV1Api(api).read_namespaced_event("f", "default")
    assert (read.message, read.involved_object.name) == ("hi", "n1")
