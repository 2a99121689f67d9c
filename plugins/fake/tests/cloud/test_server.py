"""The cloud's API on the wire."""

import http.client
import json
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress

import pytest
from nodewright_fake.cloud.server import CloudServer


@pytest.fixture
def town(bench, group):
    """A cloud that is served."""
    b = bench(group(desired=1))
    b.server = CloudServer(b.cloud)
    b.server.start()
    yield b
    b.server.stop()


def call(town, method, path, body=None):
    """Status and answer of a request; a body that is text is sent as it is."""
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(town.server.url + path, data=data, method=method)
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_one_call_tells_everything(town) -> None:
    town.do("stock-out", pool="*")
    town.cloud.increase("web", 1)
    town.run(2)
    status, snapshot = call(town, "GET", "/v1/snapshot")
    assert status == 200
    assert snapshot["at"] == "2030-01-01T00:00:02+00:00"
    assert snapshot["zones"] == ["eu-a", "eu-b"]
    assert snapshot["instanceTypes"]["c5.large"] == {"cpu": "2", "memory": "4Gi"}
    assert snapshot["groups"] == [
        {
            "settings": {"name": "web", "zone": "eu-a", "instanceType": "c5.large", "max": 10, "desired": 1},
            "desired": 2,
            "instances": [
                {
                    "id": "fake://eu-a/web-1",
                    "state": "Running",
                    "createdAt": "2030-01-01T00:00:00+00:00",
                    "incarnation": "1",
                },
                {
                    "id": "fake://eu-a/web-2",
                    "state": "Creating",
                    "createdAt": "2030-01-01T00:00:00+00:00",
                    "incarnation": "1",
                    "error": {
                        "class": "StockOut",
                        "code": "STOCK_OUT",
                        "message": "capacity pool eu-a/c5.large has no more machines at the moment",
                        "pool": "eu-a/c5.large",
                    },
                },
            ],
        }
    ]


def test_prices_have_a_call_of_their_own(town) -> None:
    assert call(town, "GET", "/v1/prices") == (
        200,
        {
            "currency": "USD",
            "hourly": {
                "c5.large": {"on-demand": 0.1, "spot": 0.04},
                "c5.xlarge": {"on-demand": 0.2, "spot": 0.2},
                "g4.xlarge": {"on-demand": 0.5, "spot": 0.5},
            },
        },
    )


def test_what_is_set_and_counted_can_be_read(town) -> None:
    call(town, "POST", "/v1/groups/web/increase", {"count": 1})
    call(town, "POST", "/control/limit-quota", {"types": "*", "vcpus": 4})
    call(town, "POST", "/control/break-boots", {"groups": "web", "kind": "fails", "times": 2})
    call(town, "POST", "/control/throttle", {"operations": "increase", "retryAfter": "5s"})
    call(town, "POST", "/v1/groups/web/increase", {"count": 1})
    _, state = call(town, "GET", "/control")
    assert state["quotas"] == [{"instance_types": "*", "vcpus": 4, "mode": "refuse", "told": False}]
    assert state["bootFaults"] == [{"groups": "web", "kind": "fails", "share": 1.0, "times": 2}]
    assert state["apiFaults"] == [{"kind": "throttled", "operations": "increase", "times": None}]
    assert state["calls"] == {"increase": 2}
    assert state["refused"] == {"increase": 1}
    assert state["actions"]["reclaim"] == "take machines back, as clouds do with spot machines"


def test_throttling_is_said_in_header_and_body(town) -> None:
    call(town, "POST", "/control/throttle", {"retryAfter": "5s"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(town.server.url + "/v1/snapshot", timeout=5)
    with refused.value as answer:
        assert answer.code == 429
        assert answer.headers["Retry-After"] == "5"
        assert json.load(answer)["retryAfter"] == 5


def test_control_is_never_refused(town) -> None:
    call(town, "POST", "/control/fail-api", {})
    assert call(town, "GET", "/v1/prices")[0] == 503
    assert call(town, "POST", "/control/heal-api", {})[0] == 200
    assert call(town, "GET", "/v1/prices")[0] == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "message"),
    [
        ("GET", "/v1/nothing", None, 404, "there is nothing at GET /v1/nothing"),
        ("POST", "/v1/groups/web/increase", "{", 400, "the body is not JSON: "),
        ("POST", "/v1/groups/web/increase", {}, 400, "count: is missing"),
        ("POST", "/v1/groups/web/increase", {"count": 0}, 400, "count: must be at least 1, not 0"),
        ("POST", "/v1/groups/web/increase", None, 400, "must be a mapping, not empty"),
        ("POST", "/v1/groups/web/delete-instances", {"ids": []}, 400, "ids: must not be empty"),
        ("POST", "/v1/groups/wbe/increase", {"count": 1}, 404, "there is no node group 'wbe'"),
        (
            "POST",
            "/v1/groups",
            {"name": "x", "zone": "eu-z", "instanceType": "c5.large", "max": 1},
            400,
            "zone: there is",
        ),
        (
            "POST",
            "/control/stock-out",
            {"pool": "x", "avail": 1},
            400,
            "pool: no capacity pool matches 'x'; there are: ",
        ),
        ("POST", "/control/explode", {}, 404, "there is no action 'explode'; there are: stock-out, "),
    ],
)
def test_a_request_that_makes_no_sense_is_told_why(town, method, path, body, status, message) -> None:
    found, refusal = call(town, method, path, body)
    assert found == status
    assert refusal["message"].startswith(message)


def test_a_slow_call_does_not_hold_up_others_nor_the_end(town) -> None:
    call(town, "POST", "/control/slow-api", {"latency": "30s", "operations": "prices"})

    def wait_for_prices():
        # Whether the answer still gets through while the server stops is left open.
        with suppress(OSError, http.client.HTTPException):
            call(town, "GET", "/v1/prices")

    slow = threading.Thread(target=wait_for_prices)
    began = time.monotonic()
    slow.start()
    while "prices" not in town.cloud.gate.calls:
        assert time.monotonic() - began < 5, "the slow call never arrived"
        time.sleep(0.005)
    assert call(town, "GET", "/v1/snapshot")[0] == 200
    town.server.stop()
    slow.join(5)
    assert time.monotonic() - began < 5


def test_calls_take_as_long_as_they_are_told_to(town) -> None:
    call(town, "POST", "/control/slow-api", {"latency": "50ms"})
    began = time.monotonic()
    call(town, "GET", "/v1/prices")
    assert time.monotonic() - began >= 0.05
