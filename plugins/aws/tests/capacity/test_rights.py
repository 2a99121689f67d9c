"""The rights that the plugin needs: all of them, and no others."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import nodewright_aws
import pytest
from botocore.exceptions import ClientError
from botocore.session import Session
from nodewright_aws.calls.errors import translate
from nodewright_aws.calls.rights import RIGHTS, Part
from nodewright_aws.config import Service
from nodewright_aws.policy import BASIC, main, policy

SOURCE = Path(nodewright_aws.__file__).parent


def test_every_operation_that_is_called_has_a_right_and_no_right_is_superfluous() -> None:
    made_by_the_sdk = {("sts", "assume_role")}
    assert set(_called()) | made_by_the_sdk == set(RIGHTS)


def test_every_service_that_is_called_may_have_an_endpoint_of_its_own() -> None:
    assert {service for service, _ in RIGHTS} == set(get_args(Service))


def test_every_operation_is_one_of_the_sdk_and_most_are_named_like_their_right() -> None:
    for (service, operation), right in RIGHTS.items():
        named = operation.title().replace("_", "")
        assert named in Session().get_service_model(service).operation_names
        assert right.action in (f"{service}:{named}", f"{service}:{named.removesuffix('Batch')}")


def test_what_changes_something_is_allowed_for_groups_with_the_tag_of_the_cluster_only() -> None:
    statements = {each["Sid"]: each for each in policy(cluster="prod")["Statement"]}
    assert statements["ResizeGroups"]["Condition"] == {
        "Null": {"aws:ResourceTag/k8s.io/cluster-autoscaler/prod": "false"}
    }
    assert statements["ResizeGroups"]["Resource"] != "*"
    others = [action for sid, each in statements.items() if sid != "ResizeGroups" for action in each["Action"]]
    assert all(action.partition(":")[2].startswith(("Describe", "Get")) for action in others)


def test_a_policy_has_the_parts_that_are_asked_for() -> None:
    assert [each["Sid"] for each in policy()["Statement"]] == sorted(BASIC)
    assert {each["Sid"] for each in policy(set(Part))["Statement"]} == set(Part)


def test_the_command_writes_the_policy(capsys) -> None:
    queue = "arn:aws:sqs:eu-west-1:123456789012:interruptions"
    main(
        [
            "--cluster",
            "prod",
            "--read-only",
            "--eks",
            "--image-parameters",
            "--spot-prices",
            "--price-list",
            "--queue",
            queue,
        ]
    )
    written = json.loads(capsys.readouterr().out)
    parts = set(Part) - {Part.RESIZE_GROUPS, Part.TAKE_ROLE}
    assert written == policy(parts, cluster="prod", queue=queue)


@pytest.mark.parametrize(
    ("service", "operation", "action"),
    [
        ("sqs", "DeleteMessageBatch", "sqs:DeleteMessage"),
        ("autoscaling", "SetDesiredCapacity", "autoscaling:SetDesiredCapacity"),
        ("sts", "GetCallerIdentity", "sts:GetCallerIdentity"),
    ],
)
def test_an_operation_that_is_refused_is_named_by_the_action_to_allow(service, operation, action) -> None:
    response = {"Error": {"Code": "AccessDenied", "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": 403}}
    error = translate(ClientError(response, operation), service, operation)
    assert str(error) == (
        f"AWS does not allow {service}:{operation}: no (AccessDenied); allow {action} in the policy of the role"
    )


def _called() -> Iterator[tuple[str, str]]:
    """Yield what the package calls by name of service and operation."""
    for path in SOURCE.rglob("*.py"):
        # One makes the calls of others.
        if path.is_relative_to(SOURCE / "testing") or path == SOURCE / "calls" / "circuit_breaker.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("call", "pages")
                and len(node.args) >= 2
            ):
                service, operation = node.args[:2]
                assert isinstance(service, ast.Constant), f"{path}:{node.lineno}: name the service where it is called"
                assert isinstance(operation, ast.Constant), f"{path}:{node.lineno}: name the operation, too"
                yield str(service.value), str(operation.value)
