"""The permissions that calls need.

`RIGHTS` lists exactly the operations that this plugin calls: a test compares it with the code.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Part(StrEnum):
    """What a right is for. Each value is the name of a statement of the policy."""

    READ_GROUPS = "ReadGroups"
    RESIZE_GROUPS = "ResizeGroups"
    MANAGED_GROUPS = "ReadManagedNodeGroups"
    IMAGE_PARAMETERS = "ReadImageParameters"
    SPOT_PRICES = "ReadSpotPrices"
    PRICE_LIST = "ReadPriceList"
    INTERRUPTIONS = "ReadInterruptions"
    TAKE_ROLE = "TakeRole"


@dataclass(frozen=True)
class Right:
    """An allowed action, and what it is for."""

    part: Part
    #: As written in policies.
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
    ("ec2", "describe_instance_type_offerings"): Right(Part.READ_GROUPS, "ec2:DescribeInstanceTypeOfferings"),
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
    ("ssm", "get_parameters"): Right(Part.IMAGE_PARAMETERS, "ssm:GetParameters"),
    ("ec2", "describe_spot_price_history"): Right(Part.SPOT_PRICES, "ec2:DescribeSpotPriceHistory"),
    ("pricing", "get_products"): Right(Part.PRICE_LIST, "pricing:GetProducts"),
    ("sqs", "get_queue_url"): Right(Part.INTERRUPTIONS, "sqs:GetQueueUrl"),
    ("sqs", "receive_message"): Right(Part.INTERRUPTIONS, "sqs:ReceiveMessage"),
    ("sqs", "delete_message_batch"): Right(Part.INTERRUPTIONS, "sqs:DeleteMessage"),
    # Called by the SDK if a role is configured.
    ("sts", "assume_role"): Right(Part.TAKE_ROLE, "sts:AssumeRole"),
}

_ACTIONS = {(service, _as_written(operation)): right.action for (service, operation), right in RIGHTS.items()}


def action_of(service: str, operation: str) -> str:
    """Return the action to allow in policies for an *operation*, in AWS' spelling, of a *service*."""
    return _ACTIONS.get((service, operation), f"{service}:{operation}")
