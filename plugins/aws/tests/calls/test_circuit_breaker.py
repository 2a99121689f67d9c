"""Services that do not answer."""

import pytest
from nodewright.api import CloudUnavailableError, ThrottledError
from nodewright_aws.calls.circuit_breaker import CircuitBreaker


class SlowAws:
    """Lets services that are *out* wait for half a minute before each call fails."""

    region = "eu-west-1"

    def __init__(self):
        self.time = 0.0
        self.out = {}
        self.asked = []

    def call(self, service, operation, **arguments):
        self.asked.append((service, operation))
        if service in self.out:
            seconds, error = self.out[service]
            self.time += seconds
            raise error
        return {"answer": operation}

    def pages(self, service, operation, **arguments):
        yield self.call(service, operation)
        yield self.call(service, operation)


@pytest.fixture
def aws():
    return SlowAws()


@pytest.fixture
def patience(aws):
    return CircuitBreaker(aws, lambda: aws.time)


SILENT = 30, CloudUnavailableError("AWS did not answer eks:DescribeNodegroup: timeout")


def test_a_service_that_kept_us_waiting_is_not_waited_for_twice(aws, patience) -> None:
    aws.out["eks"] = SILENT
    for _ in range(3):
        with pytest.raises(CloudUnavailableError, match="AWS did not answer eks:DescribeNodegroup"):
            patience.call("eks", "describe_nodegroup")
        with pytest.raises(CloudUnavailableError, match="AWS did not answer"):
            next(patience.pages("eks", "list_nodegroups"))
    assert aws.asked == [("eks", "describe_nodegroup")]


def test_other_services_are_asked_all_the_same(aws, patience) -> None:
    aws.out["eks"] = SILENT
    with pytest.raises(CloudUnavailableError):
        patience.call("eks", "describe_nodegroup")
    assert patience.call("ec2", "describe_images") == {"answer": "describe_images"}
    assert len(list(patience.pages("ec2", "describe_images"))) == 2


def test_a_service_is_asked_again_after_as_long_as_it_was_waited_for(aws, patience) -> None:
    aws.out["eks"] = SILENT
    with pytest.raises(CloudUnavailableError):
        patience.call("eks", "describe_nodegroup")
    aws.out.clear()
    aws.time += 30
    assert patience.call("eks", "describe_nodegroup")


@pytest.mark.parametrize(
    "refusal", [(0.1, CloudUnavailableError("connection refused")), (5, ThrottledError("fewer calls"))]
)
def test_who_was_refused_may_ask_again_at_once(aws, patience, refusal) -> None:
    aws.out["eks"] = refusal
    for _ in range(2):
        with pytest.raises(type(refusal[1])):
            patience.call("eks", "describe_nodegroup")
    assert len(aws.asked) == 2
