"""How calls of AWS are counted."""

import pytest
from nodewright.api import CloudUnavailableError, ProviderContext, ThrottledError
from nodewright.plugins import Faults
from nodewright.serve.metrics import Metrics
from nodewright.testing.clock import SteppedClock
from nodewright_aws.calls import metrics
from nodewright_aws.config import AwsConfig
from nodewright_aws.provider import AwsProvider

from .conftest import GROUPS

DESCRIBE = 'endpoint="DescribeAutoScalingGroups"'


@pytest.fixture(autouse=True)
def from_zero():
    metrics().durations.clear()
    metrics().retries.clear()


def page(*providers):
    """What ``/metrics`` serves with these providers in use."""
    served, faults = Metrics(SteppedClock()), Faults(SteppedClock())
    served.plugins.show({f"aws-{at}": tuple(each.collectors()) for at, each in enumerate(providers)}, faults)
    text = served.render().decode()
    assert faults.counts == {}
    return text


def provider():
    config = AwsConfig.model_validate({"region": "eu-west-1", "groups": ["0:1:a"]})
    return AwsProvider(config, ProviderContext(clock=SteppedClock()))


def test_every_page_is_a_call_that_is_served_once_for_all_accounts(endpoint, connect) -> None:
    endpoint.script = [(200, GROUPS.format("", "<NextToken>2</NextToken>"))]
    assert len(list(connect().pages("autoscaling", "describe_auto_scaling_groups"))) == 2
    text = page(provider(), provider())
    assert text.count(f'cluster_autoscaler_aws_request_duration_seconds_count{{{DESCRIBE},status="success"}} 2.0') == 1


def test_refusals_are_counted_by_their_code(endpoint, connect) -> None:
    endpoint.script = [endpoint.refuse("Throttling")]
    aws = connect()
    with pytest.raises(ThrottledError):
        aws.call("autoscaling", "describe_auto_scaling_groups")
    aws = connect(endpoints={"autoscaling": "http://127.0.0.1:9"})
    with pytest.raises(CloudUnavailableError):
        aws.call("autoscaling", "describe_auto_scaling_groups")
    text = page(provider())
    assert f'cluster_autoscaler_aws_request_duration_seconds_count{{{DESCRIBE},status="Throttling"}} 1.0' in text
    assert f'cluster_autoscaler_aws_request_duration_seconds_count{{{DESCRIBE},status="error"}} 1.0' in text


def test_what_the_sdk_tries_again_is_one_call_and_counted_apart(endpoint, connect, monkeypatch) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "3")
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0)
    endpoint.script = [endpoint.refuse("InternalFailure", status=500)] * 2
    connect().call("autoscaling", "describe_auto_scaling_groups")
    text = page(provider())
    assert f'cluster_autoscaler_aws_request_duration_seconds_count{{{DESCRIBE},status="success"}} 1.0' in text
    assert f"nodewright_aws_request_retries_total{{{DESCRIBE}}} 2.0" in text
