"""The rights that calls need, and the least IAM policy that grants them.

``python -m nodewright_aws.calls.rights`` writes that policy. Every operation that this plugin calls is in `RIGHTS`, and
none besides: a test compares it with the code.
"""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Part(StrEnum):
    """What a right is for; each is a statement of the policy, by this name."""

    READ_GROUPS = "ReadGroups"
    RESIZE_GROUPS = "ResizeGroups"
    MANAGED_GROUPS = "ReadManagedNodeGroups"
    SPOT_PRICES = "ReadSpotPrices"
    PRICE_LIST = "ReadPriceList"
    INTERRUPTIONS = "ReadInterruptions"
    TAKE_ROLE = "TakeRole"


#: Needed by everybody who does not only watch.
BASIC = frozenset({Part.READ_GROUPS, Part.RESIZE_GROUPS})


@dataclass(frozen=True)
class Right:
    """A right, and what for."""

    part: Part
    #: As policies have it.
    action: str


def _as_written(operation: str) -> str:
    return operation.title().replace("_", "")


#: By service and operation, as boto3 names them.
RIGHTS: Mapping[tuple[str, str], Right] = {
    ("autoscaling", "describe_auto_scaling_groups"): Right(Part.READ_GROUPS, "autoscaling:DescribeAutoScalingGroups"),
    ("autoscaling", "describe_launch_configurations"): Right(
        Part.READ_GROUPS, "autoscaling:DescribeLaunchConfigurations"
    ),
    ("autoscaling", "describe_scaling_activities"): Right(Part.READ_GROUPS, "autoscaling:DescribeScalingActivities"),
    ("ec2", "describe_images"): Right(Part.READ_GROUPS, "ec2:DescribeImages"),
    ("ec2", "describe_instance_types"): Right(Part.READ_GROUPS, "ec2:DescribeInstanceTypes"),
    ("ec2", "describe_launch_template_versions"): Right(Part.READ_GROUPS, "ec2:DescribeLaunchTemplateVersions"),
    ("ec2", "get_instance_types_from_instance_requirements"): Right(
        Part.READ_GROUPS, "ec2:GetInstanceTypesFromInstanceRequirements"
    ),
    ("autoscaling", "set_desired_capacity"): Right(Part.RESIZE_GROUPS, "autoscaling:SetDesiredCapacity"),
    ("autoscaling", "terminate_instance_in_auto_scaling_group"): Right(
        Part.RESIZE_GROUPS, "autoscaling:TerminateInstanceInAutoScalingGroup"
    ),
    ("eks", "describe_nodegroup"): Right(Part.MANAGED_GROUPS, "eks:DescribeNodegroup"),
    ("ec2", "describe_spot_price_history"): Right(Part.SPOT_PRICES, "ec2:DescribeSpotPriceHistory"),
    ("pricing", "get_products"): Right(Part.PRICE_LIST, "pricing:GetProducts"),
    ("sqs", "get_queue_url"): Right(Part.INTERRUPTIONS, "sqs:GetQueueUrl"),
    ("sqs", "receive_message"): Right(Part.INTERRUPTIONS, "sqs:ReceiveMessage"),
    ("sqs", "delete_message_batch"): Right(Part.INTERRUPTIONS, "sqs:DeleteMessage"),
    # Made by the SDK, when a role is configured.
    ("sts", "assume_role"): Right(Part.TAKE_ROLE, "sts:AssumeRole"),
}

_ACTIONS = {(service, _as_written(operation)): right.action for (service, operation), right in RIGHTS.items()}


def action_of(service: str, operation: str) -> str:
    """Return the action that policies allow for an *operation*, as AWS writes it, of a *service*."""
    return _ACTIONS.get((service, operation), f"{service}:{operation}")


def policy(
    parts: Collection[Part] = BASIC, *, cluster: str = "", queue: str = "*", role: str = "*", partition: str = "aws"
) -> dict[str, Any]:
    """Return the least IAM policy for *parts*.

    Groups can be resized that have the tag ``k8s.io/cluster-autoscaler/`` and the name of the *cluster*, or
    ``enabled`` if it has no name. *queue* and *role* are ARNs.
    """
    tag = f"aws:ResourceTag/k8s.io/cluster-autoscaler/{cluster or 'enabled'}"
    narrower: dict[Part, dict[str, Any]] = {
        # Most operations that only read can't be granted for less than everything.
        Part.RESIZE_GROUPS: {
            "Resource": f"arn:{partition}:autoscaling:*:*:autoScalingGroup:*:autoScalingGroupName/*",
            "Condition": {"Null": {tag: "false"}},
        },
        Part.MANAGED_GROUPS: {"Resource": f"arn:{partition}:eks:*:*:nodegroup/{cluster or '*'}/*/*"},
        Part.INTERRUPTIONS: {"Resource": queue},
        Part.TAKE_ROLE: {"Resource": role},
    }
    statements = [
        {
            "Sid": part.value,
            "Effect": "Allow",
            "Action": sorted(right.action for right in RIGHTS.values() if right.part is part),
            "Resource": "*",
            **narrower.get(part, {}),
        }
        for part in Part
        if part in parts
    ]
    return {"Version": "2012-10-17", "Statement": statements}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the policy for what is asked on the command line."""
    parser = ArgumentParser(prog="python -m nodewright_aws.calls.rights", description="The least IAM policy.")
    parser.add_argument("--cluster", default="", help="allow to resize groups with this cluster's tag only")
    parser.add_argument("--read-only", action="store_true", help="for a dry run, which resizes nothing")
    parser.add_argument("--eks", action="store_true", help="some groups are managed node groups of EKS")
    parser.add_argument("--spot-prices", action="store_true", help="prices: {spot: history}")
    parser.add_argument("--price-list", action="store_true", help="prices: {onDemand: api}")
    parser.add_argument("--queue", default="", metavar="ARN", help="interruptions: {queue: ...}")
    parser.add_argument("--role", default="", metavar="ARN", help="assumeRole: {arn: ...}; for the role that takes it")
    parser.add_argument("--partition", default="aws", help="aws-cn or aws-us-gov, if it is one of them")
    asked = parser.parse_args(arguments)
    wanted = {
        Part.READ_GROUPS: True,
        Part.RESIZE_GROUPS: not asked.read_only,
        Part.MANAGED_GROUPS: asked.eks,
        Part.SPOT_PRICES: asked.spot_prices,
        Part.PRICE_LIST: asked.price_list,
        Part.INTERRUPTIONS: bool(asked.queue),
        Part.TAKE_ROLE: bool(asked.role),
    }
    found = policy(
        {part for part, is_wanted in wanted.items() if is_wanted},
        cluster=asked.cluster,
        queue=asked.queue,
        role=asked.role,
        partition=asked.partition,
    )
    json.dump(found, sys.stdout, indent=2)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
