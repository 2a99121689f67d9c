"""What AWS and the SDK refuse, in the contract's errors."""

import re
from threading import Event

import pytest
from botocore.exceptions import ClientError, PaginationError
from nodewright.api import (
    AccessDeniedError,
    CloudUnavailableError,
    ConfigurationError,
    ForeignNodeError,
    GroupNotFoundError,
    PermanentError,
    SizeLimitError,
    TemporaryError,
    ThrottledError,
)
from nodewright_aws.calls.errors import translate
from nodewright_aws.config import AwsConfig

from .conftest import GROUPS

AT_MINIMUM = (
    "Currently, desiredSize equals minSize (1). Terminating instance without replacement will violate group's min size "
    "constraint. Either set shouldDecrementDesiredCapacity flag to false or lower group's min size."
)


def refusal(code, message="no", *, operation="DescribeAutoScalingGroups", status=400, headers=None):
    metadata = {"HTTPStatusCode": status, "HTTPHeaders": headers or {}}
    answer = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": metadata}
    return ClientError(answer, operation)


def describe(aws):
    return aws.call("autoscaling", "describe_auto_scaling_groups")


@pytest.mark.parametrize(
    ("code", "kind", "advice"),
    [
        ("Throttling", ThrottledError, "AWS asks for fewer calls of autoscaling:DescribeAutoScalingGroups"),
        ("RequestLimitExceeded", ThrottledError, "fewer calls"),
        ("ThrottlingException", ThrottledError, "fewer calls"),
        ("TooManyRequestsException", ThrottledError, "fewer calls"),
        ("RequestThrottled", ThrottledError, "fewer calls"),
        ("ExpiredToken", AccessDeniedError, "have expired, or the clock is wrong .*; renew them"),
        ("ExpiredTokenException", AccessDeniedError, "have expired"),
        ("RequestExpired", AccessDeniedError, "have expired"),
        (
            "InvalidClientTokenId",
            AccessDeniedError,
            "does not know these credentials .*; correct key, secret and token",
        ),
        ("UnrecognizedClientException", AccessDeniedError, "does not know these credentials"),
        ("SignatureDoesNotMatch", AccessDeniedError, "does not know these credentials"),
        ("AuthFailure", AccessDeniedError, "does not know these credentials"),
        ("OptInRequired", AccessDeniedError, "may not use autoscaling here .*; enable the service or the region"),
        ("AccessDenied", AccessDeniedError, "allow autoscaling:DescribeAutoScalingGroups in the policy of the role"),
        ("UnauthorizedOperation", AccessDeniedError, "in the policy of the role"),
        ("ScalingActivityInProgress", TemporaryError, "still busy with another operation"),
        ("ResourceContention", TemporaryError, "still busy with another operation"),
        ("InvalidNextToken", TemporaryError, "can't continue the list of .* the next loop reads it"),
        ("InvalidPaginationToken", TemporaryError, "can't continue the list"),
        ("ResourceInUse", TemporaryError, "still busy with another operation"),
        ("InternalFailure", CloudUnavailableError, "could not answer"),
        ("ServiceUnavailable", CloudUnavailableError, "could not answer"),
        ("LimitExceeded", PermanentError, "AWS refuses autoscaling:DescribeAutoScalingGroups: no .LimitExceeded."),
        ("ValidationError", PermanentError, "AWS refuses"),
    ],
)
def test_codes_of_aws_become_errors_that_say_what_to_do(code, kind, advice) -> None:
    error = translate(refusal(code), "autoscaling", "DescribeAutoScalingGroups")
    assert type(error) is kind
    assert re.search(advice, str(error))
    assert code in str(error)


def test_a_list_that_goes_round_in_circles_is_the_fault_of_aws_and_may_pass() -> None:
    error = translate(PaginationError(message="The same next token was received twice"), "ec2", "DescribeImages")
    assert type(error) is CloudUnavailableError


@pytest.mark.parametrize("code", ["SignatureDoesNotMatch", "InvalidSignatureException"])
@pytest.mark.parametrize(
    "message",
    [
        "Signature expired: 20261121T072529Z is now earlier than 20261121T193257Z (20261121T194757Z - 15 min.)",
        "Signature not yet current: 20261121T160100Z is still later than 20261121T140900Z (20261121T140400Z + 5 min.)",
    ],
)
def test_a_signature_of_another_time_points_to_the_clock_and_not_to_the_key(code, message) -> None:
    error = translate(refusal(code, message, status=403), "autoscaling", "DescribeAutoScalingGroups")
    assert type(error) is AccessDeniedError
    assert "or the clock is wrong" in str(error)


def test_a_refusal_over_the_wire_is_read_as_such(endpoint, connect) -> None:
    endpoint.default = endpoint.refuse("Throttling", "Rate exceeded")
    with pytest.raises(ThrottledError, match=r"autoscaling:DescribeAutoScalingGroups: Rate exceeded \(Throttling\)"):
        describe(connect())


def test_how_long_to_wait_is_passed_on() -> None:
    error = translate(refusal("TooManyRequestsException", headers={"retry-after": "7"}), "eks", "ListClusters")
    assert isinstance(error, ThrottledError)
    assert error.retry_after == 7


@pytest.mark.parametrize(("status", "kind"), [(429, ThrottledError), (503, CloudUnavailableError)])
def test_codes_that_nobody_knows_are_told_by_their_status(status, kind) -> None:
    assert type(translate(refusal("Odd", status=status), "eks", "ListClusters")) is kind


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("AutoScalingGroup name not found - AutoScalingGroup 'workers' not found", GroupNotFoundError),
        ("AutoScalingGroup name not found - null", GroupNotFoundError),
        ("Instance Id not found - No managed instance found for instance ID: i-0123", ForeignNodeError),
        ("New SetDesiredCapacity value 12 is above max value 10 for the AutoScalingGroup.", SizeLimitError),
        ("New SetDesiredCapacity value 0 is below min value 1 for the AutoScalingGroup.", SizeLimitError),
        ("New SetDesiredCapacity value 5 is greater than the max size of the AutoScalingGroup, 2.", SizeLimitError),
        (AT_MINIMUM, SizeLimitError),
        ("AutoScalingGroup 'workers' is pending delete", TemporaryError),
        ("1 validation error detected: Value '' at 'instanceId' failed to satisfy constraint", PermanentError),
    ],
)
def test_what_auto_scaling_calls_a_validation_error_is_told_apart(message, kind) -> None:
    error = translate(refusal("ValidationError", message), "autoscaling", "DescribeAutoScalingGroups")
    assert type(error) is kind
    assert str(error).startswith(f"AWS refuses autoscaling:DescribeAutoScalingGroups: {message.rstrip('.')}")


def test_the_blob_that_ec2_adds_to_a_refusal_is_left_out(endpoint, connect) -> None:
    blob = "You may not do this. Encoded authorization failure message: " + "x" * 900
    endpoint.default = (
        403,
        f"<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>{blob}</Message></Error></Errors></Response>",
    )
    with pytest.raises(AccessDeniedError, match=r"ec2:DescribeImages: You may not do this \(Unauth") as error:
        connect().call("ec2", "describe_images")
    assert "xxx" not in str(error.value)


@pytest.mark.parametrize("page", ["<html>a proxy's page", "<html>a proxy's page</html>"])
def test_what_is_no_answer_of_aws_is_told_as_that(endpoint, connect, page) -> None:
    endpoint.default = (200, page)
    with pytest.raises(
        CloudUnavailableError, match="the answer to autoscaling:DescribeAutoScalingGroups can't be read"
    ):
        describe(connect())


@pytest.mark.parametrize(
    ("service", "operation", "arguments"),
    [
        ("autoscaling", "describe_auto_scaling_groups", {}),
        ("ssm", "get_parameters", {"Names": ["image"]}),
    ],
)
@pytest.mark.parametrize(
    ("status", "kind", "told"), [(403, PermanentError, "AWS refuses"), (502, CloudUnavailableError, "AWS could not")]
)
def test_a_page_in_place_of_a_refusal_is_not_quoted_but_says_where_to_look(
    endpoint, connect, service, operation, arguments, status, kind, told
) -> None:
    endpoint.default = (status, "<!DOCTYPE html>\n<html>" + "<p>Not through this proxy\n</p>" * 200 + "</html>")
    with pytest.raises(kind, match=rf"{told}.* status {status} without a code of AWS: see what is at that") as error:
        connect().call(service, operation, **arguments)
    assert "proxy" not in str(error.value)


def test_who_says_something_but_has_no_code_is_quoted_in_short(endpoint, connect) -> None:
    endpoint.default = (403, "Not through this proxy. " + "x" * 5000)
    with pytest.raises(PermanentError, match=r"Not through this proxy\. x+ \(status 403 without a code") as error:
        connect().call("ssm", "get_parameters", Names=["image"])
    assert len(str(error.value)) < 400


def test_an_error_between_pages_is_told_as_any_other(endpoint, connect) -> None:
    endpoint.script = [(200, GROUPS.format("", "<NextToken>2</NextToken>")), endpoint.refuse("Throttling")]
    pages = connect().pages("autoscaling", "describe_auto_scaling_groups")
    assert next(pages)["AutoScalingGroups"] == []
    with pytest.raises(ThrottledError):
        next(pages)


def test_nobody_there_is_told_with_the_address(connect) -> None:
    with pytest.raises(CloudUnavailableError, match=r"AWS did not answer autoscaling:Desc.*http://127\.0\.0\.1:9/"):
        describe(connect(endpoints={"autoscaling": "http://127.0.0.1:9"}))


def test_an_endpoint_that_hangs_is_given_up(endpoint, connect, monkeypatch) -> None:
    monkeypatch.setattr("nodewright_aws.calls.session.READ_TIMEOUT", 0.1)
    over = Event()
    endpoint.default = (200, lambda _: str(over.wait(5)))
    try:
        with pytest.raises(CloudUnavailableError, match="Read timeout on endpoint URL"):
            describe(connect())
    finally:
        over.set()


def test_missing_credentials_are_told_with_where_they_may_come_from(connect, monkeypatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(AccessDeniedError, match=r"no usable credentials for AWS: .*; give the pod a role"):
        describe(connect())


def test_a_profile_that_does_not_exist_is_a_mistake_in_the_configuration(connect) -> None:
    with pytest.raises(ConfigurationError, match=r"the SDK's configuration for AWS can't be used: .*\(nobody\)"):
        describe(connect(profile="nobody"))


def test_a_call_that_does_not_exist_is_our_fault(connect) -> None:
    with pytest.raises(PermanentError, match="bug in nodewright-aws"):
        connect().call("autoscaling", "set_desired_capacity")


def test_no_secret_is_in_an_error(endpoint, connect) -> None:
    endpoint.default = endpoint.refuse("SignatureDoesNotMatch", "The signature does not match")
    role = {"arn": "arn:aws:iam::123456789012:role/scaler", "externalId": "hush-hush"}
    assert "hush-hush" not in repr(AwsConfig.model_validate({"assumeRole": role}))
    with pytest.raises(AccessDeniedError) as error:
        describe(connect(assumeRole=role))
    assert "very-secret" not in str(error.value)
    assert "hush-hush" not in str(error.value)
