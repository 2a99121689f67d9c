"""Notices of EventBridge about instances that will be interrupted."""

import json
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import uuid4

from nodewright_aws.testing.group import Machine


class Notice(StrEnum):
    """A notice, by its ``detail-type``."""

    INTERRUPTION = "EC2 Spot Instance Interruption Warning"
    REBALANCE = "EC2 Instance Rebalance Recommendation"
    STATE_CHANGE = "EC2 Instance State-change Notification"
    TERMINATING = "EC2 Instance-terminate Lifecycle Action"
    SCHEDULED = "AWS Health Event"


def notice_body(notice: Notice, machine: Machine, *, account: str, region: str, at: datetime) -> str:
    """Return the message that a rule of EventBridge puts into a queue."""
    source = {Notice.TERMINATING: "aws.autoscaling", Notice.SCHEDULED: "aws.health"}.get(notice, "aws.ec2")
    return json.dumps(
        {
            "version": "0",
            "id": str(uuid4()),
            "detail-type": str(notice),
            "source": source,
            "account": account,
            "time": f"{at:%Y-%m-%dT%H:%M:%SZ}",
            "region": region,
            "resources": [f"arn:aws:ec2:{machine.pool.zone}:instance/{machine.id}"],
            "detail": _detail(notice, machine),
        }
    )


def _detail(notice: Notice, machine: Machine) -> dict[str, Any]:
    match notice:
        case Notice.INTERRUPTION:
            return {"instance-id": machine.id, "instance-action": "terminate"}
        case Notice.REBALANCE:
            return {"instance-id": machine.id}
        case Notice.STATE_CHANGE:
            return {"instance-id": machine.id, "state": "shutting-down"}
        case Notice.TERMINATING:
            return {
                "LifecycleActionToken": str(uuid4()),
                "AutoScalingGroupName": machine.group,
                "LifecycleHookName": "drain",
                "EC2InstanceId": machine.id,
                "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING",
            }
        case Notice.SCHEDULED:
            return {
                "service": "EC2",
                "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
                "eventTypeCategory": "scheduledChange",
                "affectedEntities": [{"entityValue": machine.id}],
            }
