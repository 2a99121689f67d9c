"""Whose account, which region, and how calls are made."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from nodewright.api import AccessDeniedError, ConfigurationError
from nodewright_aws.calls import session
from nodewright_aws.config import AwsConfig
from pydantic import ValidationError

ROLE = "arn:aws:iam::123456789012:role/scaler"


def describe(aws):
    return aws.call("autoscaling", "describe_auto_scaling_groups")


def credentials(key, *, lifetime):
    until = (datetime.now(UTC) + lifetime).isoformat()
    answer = (
        "<AssumeRoleResponse><AssumeRoleResult><Credentials>"
        f"<AccessKeyId>{key}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
        f"<Expiration>{until}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"
    )
    return 200, answer


def keys(endpoint):
    return [
        (form["Action"], re.search("Credential=([A-Z0-9]+)/", headers["Authorization"])[1])
        for form, headers in endpoint.requests
    ]


def test_the_configured_region_comes_first_and_no_call_is_made(endpoint, connect, monkeypatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-1")
    assert connect().region == "eu-west-1"
    assert connect(region="").region == "us-west-2"
    monkeypatch.delenv("AWS_REGION")
    assert connect(region="").region == "us-west-1"
    assert endpoint.requests == []


def test_the_region_may_be_the_profiles(connect, tmp_path) -> None:
    (tmp_path / "config").write_text("[profile dr]\nregion = eu-north-1\n")
    assert connect(region="", profile="dr").region == "eu-north-1"


def test_the_region_may_be_the_machines_own(connect, monkeypatch) -> None:
    monkeypatch.setattr("botocore.utils.IMDSRegionProvider.provide", lambda _: "ap-south-1")
    assert connect(region="").region == "ap-south-1"


def test_without_a_region_the_error_says_where_to_set_it(connect) -> None:
    with pytest.raises(ConfigurationError, match="region: no region of AWS is known: set region of provider aws"):
        connect(region="").region  # noqa: B018


def test_calls_tell_who_makes_them(endpoint, connect) -> None:
    describe(connect())
    ((_, headers),) = endpoint.requests
    assert "nodewright/9" in headers["User-Agent"]


def test_no_call_lasts_longer_than_a_refresh_may() -> None:
    assert (session.CONNECT_TIMEOUT + session.READ_TIMEOUT) * session.ATTEMPTS < 50


def test_the_environment_tells_how_often_to_try(connect, monkeypatch) -> None:
    monkeypatch.delenv("AWS_MAX_ATTEMPTS")
    retries = connect()._client("autoscaling", "").meta.config.retries
    assert retries == {"mode": "adaptive", "total_max_attempts": session.ATTEMPTS}
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "7")
    assert connect()._client("autoscaling", "").meta.config.retries["total_max_attempts"] == 7


def test_a_role_is_taken_on_before_the_first_call_and_kept(endpoint, connect) -> None:
    endpoint.script = [credentials("ASIAROLE", lifetime=timedelta(hours=1))]
    aws = connect(assumeRole={"arn": ROLE, "externalId": "x1", "sessionName": "prod"})
    describe(aws)
    describe(aws)
    assert keys(endpoint) == [
        ("AssumeRole", "AKIAOWN"),
        ("DescribeAutoScalingGroups", "ASIAROLE"),
        ("DescribeAutoScalingGroups", "ASIAROLE"),
    ]
    form, _ = endpoint.requests[0]
    assert (form["RoleArn"], form["ExternalId"], form["RoleSessionName"]) == (ROLE, "x1", "prod")


def test_a_role_is_taken_on_again_before_it_expires(endpoint, connect) -> None:
    endpoint.script = [credentials("ASIAONE", lifetime=timedelta(minutes=5))]
    aws = connect(assumeRole={"arn": ROLE})
    describe(aws)
    endpoint.script = [credentials("ASIATWO", lifetime=timedelta(hours=1))]
    describe(aws)
    assert [key for action, key in keys(endpoint) if action != "AssumeRole"] == ["ASIAONE", "ASIATWO"]


def test_a_role_that_may_not_be_taken_on_is_named_as_that(endpoint, connect, caplog) -> None:
    endpoint.default = endpoint.refuse("AccessDenied", f"User is not authorized to perform: sts:AssumeRole on {ROLE}")
    with pytest.raises(
        AccessDeniedError, match=f"AWS does not allow sts:AssumeRole: .*{ROLE}.*allow sts:AssumeRole in"
    ):
        describe(connect(assumeRole={"arn": ROLE}))
    # It is raised, so that the core tells it once; the SDK would log it, with its stack, in every loop.
    assert caplog.text == ""


def test_that_a_role_can_not_be_taken_on_again_yet_is_told_in_a_line(endpoint, connect, caplog) -> None:
    endpoint.script = [credentials("ASIAONE", lifetime=timedelta(minutes=12))]
    aws = connect(assumeRole={"arn": ROLE})
    describe(aws)
    endpoint.script = [endpoint.refuse("AccessDenied")]
    describe(aws)
    assert [record.getMessage() for record in caplog.records] == [
        "Refreshing temporary credentials failed during advisory refresh period."
    ]
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    ("region", "nearest"),
    [
        ("eu-west-1", "eu-central-1"),
        ("ap-east-1", "ap-south-1"),
        ("us-west-2", "us-east-1"),
        ("sa-east-1", "us-east-1"),
    ],
)
def test_price_lists_are_asked_for_where_there_are_some(connect, region, nearest) -> None:
    assert connect(region=region)._client("pricing", "").meta.region_name == nearest


@pytest.mark.parametrize(
    ("config", "place", "why"),
    [
        ({"region": "eu west 1"}, ("region",), "no region: write one such as eu-west-1"),
        ({"endpoints": {"ec2": "localhost:4566"}}, ("endpoints", "ec2"), "no URL: write one such as https://"),
        (
            {"endpoints": {"autoscalling": "http://localhost"}},
            ("endpoints", "autoscalling", "[key]"),
            "Input should be 'autoscaling', 'ec2'",
        ),
        ({"assumeRole": {"arn": "scaler"}}, ("assumeRole", "arn"), "no role: write its ARN, such as arn:aws:iam::"),
        ({"discover": [{"tags": {}}]}, ("discover", 0, "tags"), "at least 1 item"),
        ({"interruptions": {"rebalance": "avoid"}}, ("interruptions",), "needs a queue: set queue"),
    ],
)
def test_mistakes_are_found_when_the_configuration_is_checked(config, place, why) -> None:
    with pytest.raises(ValidationError) as error:
        AwsConfig.model_validate(config)
    (mistake,) = error.value.errors()
    assert mistake["loc"] == place
    assert why in mistake["msg"]


def test_what_the_sdk_knows_of_services_is_read_once_for_all_sessions() -> None:
    one, other = (session.open_session(AwsConfig())._session.get_component("data_loader") for _ in range(2))
    assert one is other
