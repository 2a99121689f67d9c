import http.client
import json
import time

import pytest
from kubernetes import client
from nodewright_fake.apiserver.faults import Fault
from nodewright_fake.apiserver.record import Call
from nodewright_fake.apiserver.request import Request

from .builders import config_map, pod

MAPS = "/api/v1/namespaces/default/configmaps"


def writes(request: Request) -> bool:
    return request.verb in ("create", "update", "patch")


@pytest.mark.parametrize(
    ("status", "reason"),
    [(500, "InternalError"), (503, "ServiceUnavailable"), (429, "TooManyRequests"), (410, "Expired")],
)
def test_requests_can_be_refused(server, raw, status, reason) -> None:
    server.faults.append(Fault(status=status, message="not today"))

    answer = raw.get("/api/v1/pods")

    assert (answer.status, answer.body["reason"], answer.body["message"]) == (status, reason, "not today")


def test_a_throttled_client_is_told_when_to_come_again(server, raw) -> None:
    server.faults.append(Fault(status=429, retry_after=3))

    answer = raw.get("/api/v1/pods")

    assert answer.headers["Retry-After"] == "3"
    assert answer.body["details"] == {"retryAfterSeconds": 3}


def test_a_fault_hits_only_what_it_is_meant_for(store, server, raw) -> None:
    fault = Fault(when=writes, status=500)
    server.faults.append(fault)

    assert raw.get("/api/v1/pods").status == 200
    assert raw.post(MAPS, config_map()).status == 500
    assert fault.hits == 1
    assert store.find("configmaps", "settings", "default") is None


def test_a_fault_passes(server, raw) -> None:
    server.faults.append(Fault(times=2, status=503))

    assert [raw.get("/api/v1/pods").status for _ in range(3)] == [503, 503, 200]


def test_a_fault_can_be_taken_away(server, raw) -> None:
    fault = Fault(status=500)
    server.faults.append(fault)
    raw.get("/api/v1/pods")
    server.faults.remove(fault)

    assert raw.get("/api/v1/pods").status == 200


def test_requests_can_be_held_up(server, raw) -> None:
    server.faults.append(Fault(latency=0.1))

    started = time.monotonic()
    raw.get("/api/v1/pods")

    assert time.monotonic() - started >= 0.1


def test_the_connection_can_break_before_the_work_is_done(store, server, raw) -> None:
    server.faults.append(Fault(when=writes, hang_up="before"))

    with pytest.raises(http.client.RemoteDisconnected):
        raw.post(MAPS, config_map())

    assert store.find("configmaps", "settings", "default") is None


def test_the_answer_can_be_lost_after_the_work_is_done(store, server, raw) -> None:
    server.faults.append(Fault(when=writes, hang_up="after"))

    with pytest.raises(http.client.RemoteDisconnected):
        raw.post(MAPS, config_map())

    assert store.find("configmaps", "settings", "default") is not None


def test_the_connection_can_break_in_the_middle_of_an_answer(store, server, raw) -> None:
    server.faults.append(Fault(when=writes, hang_up="midway"))

    with pytest.raises(http.client.IncompleteRead):
        raw.post(MAPS, config_map())

    assert store.find("configmaps", "settings", "default") is not None


def test_a_watch_can_break_in_the_middle_of_an_event(store, server, raw) -> None:
    server.faults.append(Fault(when=lambda request: request.verb == "watch", hang_up="midway"))
    store.create("configmaps", config_map())

    with pytest.raises((json.JSONDecodeError, http.client.IncompleteRead)):
        next(raw.watch(MAPS))


def test_a_hook_of_ones_own_may_do_anything(server, raw) -> None:
    seen: list[str] = []
    server.faults.append(lambda request: seen.append(request.verb))

    raw.get("/api/v1/pods")

    assert seen == ["list"]


def test_a_bug_in_the_server_is_answered_and_logged(server, raw, caplog) -> None:
    def bug(request: Request) -> None:
        raise ZeroDivisionError("oops")

    server.faults.append(bug)

    answer = raw.get("/api/v1/pods")

    assert (answer.status, answer.body["message"]) == (500, "Internal error occurred: ZeroDivisionError('oops')")
    assert caplog.messages == ["the API server failed on GET /api/v1/pods"]


def test_the_record_counts_who_asked_for_what(store, server, api, core) -> None:
    store.create("pods", pod())
    api.user_agent = "nodewright/0.1.0"
    core.list_node()
    core.list_node()
    core.read_namespaced_pod("web-0", "default")
    core.create_namespaced_config_map("default", config_map())
    core.delete_collection_namespaced_config_map("default")
    client.AppsV1Api(api).list_deployment_for_all_namespaces()

    calls = {(call.verb, call.group, call.resource): times for call, times in server.record.calls.items()}
    assert calls == {
        ("list", "", "nodes"): 2,
        ("get", "", "pods"): 1,
        ("create", "", "configmaps"): 1,
        ("deletecollection", "", "configmaps"): 1,
        ("list", "apps", "deployments"): 1,
    }
    assert server.record.count(user_agent="nodewright/") == 6
    assert server.record.count(user_agent="kubectl") == 0
    assert server.record.count(verb="list") == 3
    assert server.record.count(verb="list", resource="nodes") == 2


def test_the_record_knows_subresources_watches_and_other_paths(server, raw) -> None:
    raw.get("/version")
    raw.watch("/api/v1/pods", resourceVersion="0")
    raw.patch("/apis/apps/v1/namespaces/default/deployments/web/scale", {})

    assert set(server.record.calls) == {
        Call(user_agent="", verb="get", resource="/version"),
        Call(user_agent="", verb="watch", resource="pods"),
        Call(user_agent="", verb="patch", group="apps", resource="deployments", subresource="scale"),
    }

    server.record.clear()
    assert server.record.count() == 0


def test_refused_requests_are_counted_too(server, raw) -> None:
    server.authorize = lambda request: ""
    server.faults.append(Fault(status=500, when=writes))
    raw.get("/api/v1/nodes")
    raw.post(MAPS, config_map())

    assert server.record.count() == 2
