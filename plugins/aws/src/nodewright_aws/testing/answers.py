"""Parts of Auto Scaling's answers, in boto3's form."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from nodewright_aws.testing.group import Activity, Machine
from nodewright_aws.testing.messages import RefusalError, validation_error

T = TypeVar("T")


def instance(machine: Machine) -> dict[str, Any]:
    """Return a machine as groups list it."""
    return {
        "InstanceId": machine.id,
        "InstanceType": machine.pool.instance_type,
        "AvailabilityZone": machine.pool.zone,
        "LifecycleState": machine.state,
        "HealthStatus": "Healthy" if machine.healthy else "Unhealthy",
        "ProtectedFromScaleIn": machine.protected,
        **machine.source,
    }


def activity(done: Activity) -> dict[str, Any]:
    """Return an activity as AWS lists it."""
    body: dict[str, Any] = {
        "ActivityId": done.id,
        "AutoScalingGroupName": done.group,
        "Description": done.description,
        "Cause": done.cause,
        "StartTime": done.started_at,
        "StatusCode": done.status,
        "Progress": 50 if done.status == "InProgress" else 100,
        "Details": done.details,
    }
    if done.ended_at:
        body["EndTime"] = done.ended_at
    if done.message:
        body["StatusMessage"] = done.message
    return body


def age(done: Activity) -> datetime:
    """The start time of an activity."""
    return done.started_at


def page(things: Sequence[T], arguments: Mapping[str, Any], *, most: int) -> tuple[Sequence[T], str | None]:
    """Return the page that a call asks for, and the token of the next page if there is one."""
    size = arguments.get("MaxRecords", most)
    if size > most:
        raise validation_error(
            f"1 validation error detected: Value '{size}' at 'maxRecords' failed to satisfy constraint: "
            f"Member must have value less than or equal to {most}"
        )
    token = arguments.get("NextToken", "0")
    if not token.isdecimal():
        raise RefusalError("InvalidNextToken", "The NextToken value is not valid.")
    end = int(token) + size
    return things[int(token) : end], str(end) if end < len(things) else None


def check_sizes(low: int, high: int, desired: int) -> None:
    """Raise `RefusalError` unless the desired capacity is within its limits."""
    if low > high:
        raise validation_error(f"Max bound, {high}, must be greater than or equal to min bound, {low}")
    if not low <= desired <= high:
        raise validation_error(
            f"Desired capacity:{desired} must be between the specified min size:{low} and max size:{high}"
        )
