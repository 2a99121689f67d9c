"""Cluster Autoscaler's --cloud-config."""

import pytest
from nodewright.api import ConfigurationError
from nodewright_aws.calls.cloud_config import Override, read_cloud_config

OVERRIDE = """
[Global]
Zone = eu-west-1a
[ServiceOverride "1"]
  Service = autoscaling
  Region = "eu-west-1"   ; ours
  URL = {}
  SigningRegion = eu-signing-1
  SigningName = autoscaling
"""


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "cloud.conf"
        path.write_text(text)
        return str(path)

    return write


def test_an_override_says_where_a_service_is(file, caplog) -> None:
    (override,) = read_cloud_config(file(OVERRIDE.format("https://as.internal/")))
    assert override == Override(
        service="autoscaling", region="eu-west-1", url="https://as.internal/", signing_region="eu-signing-1"
    )
    assert caplog.text == ""


def test_calls_of_that_region_go_there_and_are_signed_as_it_says(file, endpoint, connect) -> None:
    path = file(OVERRIDE.format(endpoint.url))
    connect(endpoints={}, cloudConfig=path).call("autoscaling", "describe_auto_scaling_groups")
    ((_, headers),) = endpoint.requests
    assert "/eu-signing-1/autoscaling/aws4_request" in headers["Authorization"]
    elsewhere = connect(endpoints={}, cloudConfig=path, region="us-east-1")
    assert "amazonaws.com" in elsewhere._client("autoscaling", "").meta.endpoint_url


def test_all_mistakes_are_told_with_their_section(file) -> None:
    text = (
        '[ServiceOverride "a"]\nService = ec2\n'
        '[ServiceOverride "b"]\nService = ec2\nRegion = x\nURL = ec2.internal\nSigningRegion = x\n'
    )
    with pytest.raises(ConfigurationError) as error:
        read_cloud_config(file(text))
    assert [(problem.path, problem.message) for problem in error.value.problems] == [
        ('[ServiceOverride "a"]', "Region and URL and SigningRegion must be set"),
        ('[ServiceOverride "b"]', "'ec2.internal' is no URL: begin with https://"),
    ]


def test_a_service_is_overridden_once(file) -> None:
    twice = OVERRIDE.format("https://a/") + OVERRIDE.format("https://b/").replace('"1"', '"2"')
    with pytest.raises(ConfigurationError, match="autoscaling in eu-west-1 is set twice"):
        read_cloud_config(file(twice))


def test_what_has_no_effect_is_warned_of(file, caplog) -> None:
    text = OVERRIDE.format("https://a/") + "SigningMethod = v2\n[Extra]\nx = 1\n[Global]\nRoleARN = arn:x\n"
    read_cloud_config(file(text.replace("SigningName = autoscaling", "SigningName = other")))
    assert "SigningName has no effect" in caplog.text
    assert "SigningMethod has no effect" in caplog.text
    assert "[Extra] is not known" in caplog.text
    assert "RoleARN has no effect, as in Cluster Autoscaler; to use the role, set assumeRole" in caplog.text


@pytest.mark.parametrize("text", ["Zone = x", None])
def test_a_file_that_can_not_be_read_is_a_mistake_in_the_configuration(file, text) -> None:
    with pytest.raises(ConfigurationError, match="cloudConfig: can't be read"):
        read_cloud_config(file(text) if text else "/nowhere/cloud.conf")
