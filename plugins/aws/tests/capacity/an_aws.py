"""An AWS that answers as it is told and remembers what it was asked."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from nodewright.testing import EPOCH
from nodewright_aws.autoscaling.group import AutoScalingGroup, AutoScalingInstance

_numbers = count(1)


class AnAws:
    """Answers each operation with what is set for it: an answer, an error, or pages."""

    region = "eu-west-1"

    def __init__(self, **answers: Any) -> None:
        self.answers: dict[str, Any] = answers
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def call(self, service: str, operation: str, **arguments: Any) -> dict[str, Any]:
        """Return the first page of the answer."""
        return next(self.pages(service, operation, **arguments), {})

    def pages(self, service: str, operation: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        """Yield the answer, counting each page as a call."""
        answer = self.answers.get(operation, {})
        if callable(answer):
            answer = answer(**arguments)
        for page in answer if isinstance(answer, list) else [answer]:
            self.asked.append((operation, arguments))
            if isinstance(page, Exception):
                raise page
            yield page

    def count(self, operation: str) -> int:
        """How often *operation* was called."""
        return sum(name == operation for name, _ in self.asked)


def a_group(
    name: str = "spot", *, desired: int = 3, instances: Sequence[AutoScalingInstance] = (), **more: Any
) -> AutoScalingGroup:
    """An Auto Scaling group."""
    settings = {"arn": "", "min_size": 0, "max_size": 10, "zones": ("eu-west-1a",)} | more
    return AutoScalingGroup(name=name, desired=desired, instances=tuple(instances), **settings)


def an_instance(number: int, state: str = "InService") -> AutoScalingInstance:
    """A machine of a group."""
    return AutoScalingInstance(
        id=f"i-{number:017x}", zone="eu-west-1a", instance_type="m5.large", lifecycle_state=state
    )


def a_launch(
    status: str,
    at: float = 0,
    message: str = "",
    *,
    group: str = "spot",
    instance: int = 0,
    clock: datetime = EPOCH,
    **more: Any,
) -> dict[str, Any]:
    """An activity that began *at* seconds after *clock*, in boto3's words."""
    machine = f": i-{instance:017x}" if instance else "."
    return {
        "ActivityId": f"activity-{next(_numbers)}",
        "AutoScalingGroupName": group,
        "Description": f"Launching a new EC2 instance{machine}" + (f"  Status Reason: {message}" if message else ""),
        "StartTime": clock + timedelta(seconds=at),
        "StatusCode": status,
        "StatusMessage": message,
        "Details": '{"Subnet ID":"subnet-1","Availability Zone":"eu-west-1a"}',
    } | more
