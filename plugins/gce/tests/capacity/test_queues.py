"""Resize requests that came to nothing."""

import pytest
from nodewright.api import ErrorClass
from nodewright.testing.clock import SteppedClock
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.migs.queues import Queues
from nodewright_gce.resources.address import Address, Place
from nodewright_gce.resources.managed_instance import AttemptError, AttemptErrors
from nodewright_gce.resources.mig import Mig
from nodewright_gce.resources.resize_request import ResizeRequest, ResizeRequestStatus

ADDRESS = Address(place=Place(project="p", name="europe-west1-b"), name="workers")
GROUP = ManagedGroup(address=ADDRESS, mig=Mig(name="workers"))


class Requests:
    """What Google tells of the requests of any group."""

    def __init__(self):
        self.requests = []

    def resize_requests(self, address):
        return self.requests


@pytest.fixture
def compute():
    return Requests()


@pytest.fixture
def clock():
    return SteppedClock()


@pytest.fixture
def queues(compute, clock):
    return Queues(compute, clock)


def request(state, *codes):
    errors = AttemptErrors(errors=tuple(AttemptError(code=code, message="none left") for code in codes))
    return ResizeRequest(name="r", state=state, resize_by=4, status=ResizeRequestStatus(error=errors))


@pytest.mark.parametrize("state", ["CREATING", "ACCEPTED"])
def test_a_group_waits_while_a_request_is_open(compute, queues, state) -> None:
    compute.requests = [request(state)]
    queues.refresh([GROUP])
    assert queues.is_waiting(ADDRESS.id)
    compute.requests = [request("SUCCEEDED")]
    queues.refresh([GROUP])
    assert not queues.is_waiting(ADDRESS.id)
    assert queues.causes(ADDRESS.id) == ()


def test_a_request_that_failed_while_somebody_waited_for_it_is_told_for_a_while(compute, queues, clock) -> None:
    compute.requests = [request("ACCEPTED")]
    queues.refresh([GROUP])
    compute.requests = [request("FAILED", "INSUFFICIENT_CAPACITY")]
    queues.refresh([GROUP])
    (cause,) = queues.causes(ADDRESS.id)
    assert (cause.error_class, cause.message) == (ErrorClass.STOCK_OUT, "none left")
    clock.advance(60)
    queues.refresh([GROUP])
    assert queues.causes(ADDRESS.id) == ()


def test_a_request_that_failed_without_a_reason_is_told_too(compute, queues) -> None:
    compute.requests = [request("ACCEPTED")]
    queues.refresh([GROUP])
    compute.requests = [request("FAILED")]
    queues.refresh([GROUP])
    (cause,) = queues.causes(ADDRESS.id)
    assert (cause.code, cause.message) == ("RESIZE_REQUEST_FAILED", "resize request r for 4 machines failed")


def test_a_request_that_had_failed_before_anybody_waited_is_not_told(compute, queues) -> None:
    compute.requests = [request("FAILED", "INSUFFICIENT_CAPACITY")]
    queues.refresh([GROUP])
    assert queues.causes(ADDRESS.id) == ()
