"""The least IAM policy for a configuration: ``python -m nodewright_aws.policy`` writes it."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Collection, Sequence
from typing import Any

from nodewright_aws.calls.rights import RIGHTS, Part

#: Needed always, except in a dry run.
BASIC = frozenset({Part.READ_GROUPS, Part.RESIZE_GROUPS})


def policy(
    parts: Collection[Part] = BASIC, *, cluster: str = "", queue: str = "*", role: str = "*", partition: str = "aws"
) -> dict[str, Any]:
    """Return the least IAM policy for *parts*.

    It allows resizing groups with the tag ``k8s.io/cluster-autoscaler/`` plus the name of the *cluster*, or ``enabled``
    without a name. *queue* and *role* are ARNs.
    """
    tag = f"aws:ResourceTag/k8s.io/cluster-autoscaler/{cluster or 'enabled'}"
    narrower: dict[Part, dict[str, Any]] = {
        # Most operations that only read can't be restricted to resources.
        Part.RESIZE_GROUPS: {
            "Resource": f"arn:{partition}:autoscaling:*:*:autoScalingGroup:*:autoScalingGroupName/*",
            "Condition": {"Null": {tag: "false"}},
        },
        Part.MANAGED_GROUPS: {"Resource": f"arn:{partition}:eks:*:*:nodegroup/{cluster or '*'}/*/*"},
        Part.IMAGE_PARAMETERS: {"Resource": f"arn:{partition}:ssm:*:*:parameter/*"},
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
    """Write the policy for the options on the command line."""
    parser = ArgumentParser(prog="python -m nodewright_aws.policy", description="The least IAM policy.")
    parser.add_argument("--cluster", default="", help="allow resizing only groups with this cluster's tag")
    parser.add_argument("--read-only", action="store_true", help="for a dry run, which resizes nothing")
    parser.add_argument("--eks", action="store_true", help="some groups are managed node groups of EKS")
    parser.add_argument("--image-parameters", action="store_true", help="launch templates name images by parameters")
    parser.add_argument("--spot-prices", action="store_true", help="prices: {spot: history}")
    parser.add_argument("--price-list", action="store_true", help="prices: {onDemand: api}")
    parser.add_argument("--queue", default="", metavar="ARN", help="interruptions: {queue: ...}")
    parser.add_argument(
        "--role", default="", metavar="ARN", help="assumeRole: {arn: ...}; for the role that assumes it"
    )
    parser.add_argument("--partition", default="aws", help="the partition, if it is aws-cn or aws-us-gov")
    asked = parser.parse_args(arguments)
    wanted = {
        Part.READ_GROUPS: True,
        Part.RESIZE_GROUPS: not asked.read_only,
        Part.MANAGED_GROUPS: asked.eks,
        Part.IMAGE_PARAMETERS: asked.image_parameters,
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
