"""Only one of several replicas holds the lease, by its own clock and whatever times others write."""

import json
import re
from threading import Event

import pytest
from nodewright.api import AccessDeniedError, ApiServerError, ConflictError
from nodewright.config.model import LeaderElection
from nodewright.kube.lease import Lease

MICRO_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"
#: As the Go client writes it, with a clock that is a year ahead.
HELD_BY_CA = {
    "holderIdentity": "ca-7d9",
    "leaseDurationSeconds": 15,
    "acquireTime": "2031-01-01T00:00:00.000000Z",
    "renewTime": "2031-01-01T00:00:00.000000Z",
    "leaseTransitions": 3,
}


class Server:
    """An API server with at most one Lease, and the clock of the test."""

    def __init__(self):
        self.now = 100.0
        self.lease = None
        self.version = 0
        self.requests = []
        #: What happens to the next requests, by method: an exception, or a function to call first.
        self.faults = []

    def hold(self, spec, **metadata):
        self.version += 1
        metadata = {"name": "cluster-autoscaler", "uid": "u1", "resourceVersion": str(self.version), **metadata}
        self.lease = {"metadata": metadata, "spec": spec}

    def get(self, path, *, timeout):
        self._meet("GET", timeout)
        if self.lease is None:
            raise ApiServerError("not found", status=404)
        return json.dumps(self.lease).encode()

    def post(self, path, body, *, timeout):
        self._meet("POST", timeout)
        if self.lease is not None:
            raise ConflictError("already exists", status=409)
        return self._write(body)

    def put(self, path, body, *, timeout):
        self._meet("PUT", timeout)
        if self.lease is None:
            raise ApiServerError("not found", status=404)
        if body["metadata"]["resourceVersion"] != self.lease["metadata"]["resourceVersion"]:
            raise ConflictError("modified", status=409)
        return self._write(body)

    def _write(self, body):
        kept = {**body["metadata"], **(self.lease or {}).get("metadata", {})}
        del kept["name"]
        self.hold(body["spec"], **{key: value for key, value in kept.items() if key != "resourceVersion"})
        return json.dumps(self.lease).encode()

    def _meet(self, method, timeout):
        self.requests.append((method, timeout))
        if self.faults and self.faults[0][0] in (method, "*"):
            _, fault = self.faults.pop(0)
            if isinstance(fault, Exception):
                raise fault
            fault()

    @property
    def methods(self):
        return [method for method, _ in self.requests]

    @property
    def holder(self):
        return self.lease["spec"]["holderIdentity"]


class Stop:
    """An event for `Lease.acquire`: waiting for it advances the clock, and it is set after *patience* seconds."""

    def __init__(self, server, patience=60.0):
        self.server = server
        self.until = server.now + patience
        self.waits = []

    def is_set(self):
        return self.server.now >= self.until

    def wait(self, seconds):
        self.waits.append(seconds)
        self.server.now += seconds
        return self.is_set()


@pytest.fixture
def server():
    return Server()


@pytest.fixture
def lease(server):
    """Creates leases that do not renew themselves."""

    def make(identity="me", **settings):
        lease = Lease(server, "kube-system", LeaderElection(**settings), identity, now=lambda: server.now)
        lease._thread.run = lambda: None
        return lease

    return make


def acquired(server, lease):
    assert lease.acquire(Stop(server))
    server.requests.clear()
    return lease


def no_answer():
    return ApiServerError("no answer")


def test_a_lease_that_is_not_there_is_made_as_the_go_client_makes_it(server, lease) -> None:
    mine = acquired(server, lease("me"))
    spec = dict(server.lease["spec"])
    assert spec.pop("acquireTime") == pytest.approx(spec.pop("renewTime"))
    assert spec == {"holderIdentity": "me", "leaseDurationSeconds": 15, "leaseTransitions": 0}
    assert mine.held
    assert mine.name == "kube-system/cluster-autoscaler"
    assert mine.uid == "u1"


def test_times_are_written_with_microseconds(server, lease) -> None:
    acquired(server, lease())
    for key in ("acquireTime", "renewTime"):
        assert re.fullmatch(MICRO_TIME, server.lease["spec"][key])


def test_a_lease_that_cluster_autoscaler_renews_is_waited_for(server, lease) -> None:
    server.hold(HELD_BY_CA)
    stop = Stop(server, patience=120)

    def renew():
        server.hold({**HELD_BY_CA, "renewTime": str(server.now)})

    assert not lease().acquire(stop, renew)
    assert server.lease["spec"]["holderIdentity"] == "ca-7d9"
    assert "PUT" not in server.methods
    assert all(2 <= wait <= 4.4 for wait in stop.waits)
    assert len(set(stop.waits)) > 1


def test_a_lease_without_renewals_is_taken_after_its_own_duration_by_our_clock(server, lease) -> None:
    server.hold({**HELD_BY_CA, "leaseDurationSeconds": 40})
    begun = server.now
    assert lease().acquire(Stop(server))
    assert 40 <= server.now - begun <= 44.4
    assert server.holder == "me"
    assert server.lease["spec"]["leaseTransitions"] == 4
    assert server.lease["spec"]["leaseDurationSeconds"] == 15
    assert server.lease["spec"]["acquireTime"] != HELD_BY_CA["acquireTime"]


def test_time_counts_from_the_first_look(server, lease) -> None:
    server.hold(HELD_BY_CA)
    mine = lease()
    mine.look()
    server.now += 15
    stop = Stop(server)
    assert mine.acquire(stop)
    assert stop.waits == []


def test_a_change_of_labels_is_no_renewal(server, lease) -> None:
    server.hold(HELD_BY_CA)
    begun = server.now
    assert lease().acquire(Stop(server), lambda: server.hold(HELD_BY_CA, labels={"at": str(server.now)}))
    assert server.now - begun <= 19.4


def test_a_released_lease_is_taken_at_once(server, lease) -> None:
    server.hold({**HELD_BY_CA, "holderIdentity": "", "leaseDurationSeconds": 1})
    stop = Stop(server)
    assert lease().acquire(stop)
    assert stop.waits == []
    assert server.lease["spec"]["leaseTransitions"] == 4


def test_what_we_do_not_know_of_a_lease_stays(server, lease) -> None:
    server.hold({"holderIdentity": "", "preferredHolder": "x"}, labels={"a": "b"})
    acquired(server, lease())
    assert server.lease["spec"]["preferredHolder"] == "x"
    assert server.lease["metadata"]["labels"] == {"a": "b"}


def test_who_comes_second_waits(server, lease) -> None:
    server.faults = [("POST", lambda: server.hold({**HELD_BY_CA, "holderIdentity": "first"}))]
    assert not lease("second").acquire(Stop(server, patience=10))
    assert server.holder == "first"


def test_a_stop_ends_waiting_and_leaves_the_lease_alone(server, lease) -> None:
    stop = Event()
    stop.set()
    assert not lease().acquire(stop)
    assert server.requests == []


def test_a_lease_that_can_not_be_read_is_tried_again_and_said_once(server, lease, caplog) -> None:
    denied = AccessDeniedError('leases "cluster-autoscaler" is forbidden: cannot get', status=403)
    server.faults = [("GET", denied), ("GET", denied), ("GET", no_answer())]
    assert lease().acquire(Stop(server))
    assert caplog.messages == [
        'lease kube-system/cluster-autoscaler could not be taken: leases "cluster-autoscaler" is forbidden: cannot get',
        "lease kube-system/cluster-autoscaler could not be taken: no answer",
    ]


def test_it_is_renewed_by_one_request(server, lease) -> None:
    mine = acquired(server, lease())
    taken = dict(server.lease["spec"])
    server.now += 2
    assert mine.renew() == 2
    assert server.methods == ["PUT"]
    assert {**server.lease["spec"], "renewTime": taken["renewTime"]} == taken
    server.now += 9
    assert mine.held


def test_a_change_by_someone_else_does_not_end_it(server, lease) -> None:
    mine = acquired(server, lease())
    server.hold(server.lease["spec"], labels={"touched": "yes"})
    assert mine.renew() == 2
    assert server.methods == ["PUT", "GET", "PUT"]
    assert server.lease["metadata"]["labels"] == {"touched": "yes"}


def test_a_lease_that_was_deleted_is_made_again(server, lease) -> None:
    mine = acquired(server, lease())
    server.lease = None
    assert mine.renew() == 2
    assert server.holder == "me"


def test_it_ends_with_the_renew_deadline_and_not_when_the_thread_finds_out(server, lease) -> None:
    mine = acquired(server, lease())
    server.now += 9.9
    assert mine.held
    server.now += 0.2
    assert not mine.held
    assert mine.spare == pytest.approx(4.9)
    assert not mine.lost.is_set()
    # Even though the API server would allow it.
    assert mine.renew() is None
    assert mine.lost.is_set()
    assert not mine.held


def test_one_failed_renewal_is_tried_again_until_the_deadline(server, lease) -> None:
    mine = acquired(server, lease())
    server.now += 9
    server.faults = [("PUT", no_answer())]
    assert mine.renew() == pytest.approx(1)
    server.now += 0.9
    assert mine.renew() == 2
    assert mine.held


def test_that_it_is_renewed_again_is_said_once(server, lease, caplog) -> None:
    caplog.set_level("INFO")
    mine = acquired(server, lease())
    server.faults = [("PUT", no_answer())]
    caplog.clear()
    for _ in range(3):
        mine.renew()
    assert caplog.messages == [
        "lease kube-system/cluster-autoscaler could not be renewed: no answer",
        "lease kube-system/cluster-autoscaler is renewed again",
    ]


def test_an_answer_after_the_deadline_is_too_late(server, lease) -> None:
    mine = acquired(server, lease())

    def hang():
        server.now += 3

    server.now += 8
    server.faults = [("PUT", hang)]
    assert mine.renew() is None
    assert mine.lost.is_set()
    assert not mine.held


def test_a_renewal_whose_answer_was_lost_is_found_to_be_ours(server, lease) -> None:
    mine = acquired(server, lease())

    def lands():
        server.hold({**server.lease["spec"], "renewTime": "then"})
        raise no_answer()

    server.now += 2
    server.faults = [("PUT", lands)]
    assert mine.renew() == 2
    server.now += 2
    assert mine.renew() == 2
    assert mine.held


def test_it_counts_from_when_the_request_was_sent(server, lease) -> None:
    mine = acquired(server, lease())
    server.faults = [("PUT", lambda: setattr(server, "now", server.now + 4))]
    assert mine.renew() == 2
    server.now += 6.1
    assert not mine.held


def test_requests_get_half_of_the_deadline_and_what_is_left_of_it(server, lease) -> None:
    mine = acquired(server, lease())
    assert mine.renew()
    server.now += 8
    assert mine.renew()
    assert [timeout for _, timeout in server.requests] == [5, pytest.approx(2)]


def test_another_holder_ends_it_at_once(server, lease) -> None:
    mine = acquired(server, lease())
    server.hold(HELD_BY_CA)
    server.now += 2
    assert mine.renew() is None
    assert not mine.held
    assert mine.spare == 0
    assert server.holder == "ca-7d9"


def test_a_lost_lease_does_not_come_back(server, lease) -> None:
    mine = acquired(server, lease())
    server.now += 11
    mine.renew()
    mine.release()
    assert server.holder == "me"
    assert not mine.held


def test_a_released_lease_is_there_for_cluster_autoscaler_at_once(server, lease) -> None:
    mine = acquired(server, lease())
    mine.release()
    spec = server.lease["spec"]
    assert (spec["holderIdentity"], spec["leaseDurationSeconds"], spec["leaseTransitions"]) == ("", 1, 0)
    assert not mine.held
    assert not mine.taken
    assert not mine.lost.is_set()
    other = lease("other")
    assert other.acquire(stop := Stop(server))
    assert stop.waits == []


def test_a_lease_that_another_replica_holds_is_not_released(server, lease) -> None:
    mine = acquired(server, lease())
    server.hold(HELD_BY_CA)
    mine.release()
    assert server.holder == "ca-7d9"


def test_an_api_server_that_is_away_does_not_keep_it_from_ending(server, lease, caplog) -> None:
    mine = acquired(server, lease())
    server.faults = [("GET", no_answer())]
    mine.release()
    assert not mine.held
    assert "could not be released; it is free in 15 s: no answer" in caplog.text


def test_a_response_after_the_deadline_does_not_make_it_lead(server, lease) -> None:
    server.faults = [("POST", lambda: setattr(server, "now", server.now + 11))]
    mine = acquired(server, lease())
    assert mine.held
    assert server.lease["spec"]["leaseTransitions"] == 0


def test_parts_of_seconds_are_rounded_up_for_others(server, lease) -> None:
    acquired(server, lease(leaseDuration="1500ms", renewDeadline="1s", retryPeriod="100ms"))
    assert server.lease["spec"]["leaseDurationSeconds"] == 2
