"""An API that misbehaves."""

from typing import Literal

from pydantic import Field

from nodewright_fake.cloud.action import Action
from nodewright_fake.cloud.api_fault import ApiFault, ApiFaultKind
from nodewright_fake.cloud.cloud import Cloud
from nodewright_fake.duration import Duration


class Throttle(Action):
    """The API refuses some calls because there are too many."""

    summary = "throttle the cloud's API: every n-th call, or those above a rate"

    every: int = Field(default=1, ge=1)
    per_second: float | None = Field(default=None, gt=0)
    retry_after: Duration | None = None
    operations: str = "*"
    times: int | None = Field(default=None, ge=1)

    def apply(self, cloud: Cloud) -> None:
        """Set the fault."""
        cloud.gate.add(
            ApiFault(
                ApiFaultKind.THROTTLED,
                operations=self.operations,
                every=self.every,
                per_second=self.per_second,
                times=self.times,
                retry_after=self.retry_after,
            )
        )


class FailApi(Action):
    """The API answers some calls with an error."""

    summary = "let calls of the cloud's API fail"

    kind: Literal[
        ApiFaultKind.UNAVAILABLE, ApiFaultKind.INTERNAL, ApiFaultKind.DENIED, ApiFaultKind.RESET, ApiFaultKind.LOST
    ] = ApiFaultKind.UNAVAILABLE
    every: int = Field(default=1, ge=1)
    operations: str = "*"
    times: int | None = Field(default=None, ge=1)

    def apply(self, cloud: Cloud) -> None:
        """Set the fault."""
        cloud.gate.add(ApiFault(self.kind, operations=self.operations, every=self.every, times=self.times))


class SlowApi(Action):
    """The API takes its time, in seconds of real time."""

    summary = "let calls of the cloud's API take longer"

    latency: Duration = Field(le=60)
    every: int = Field(default=1, ge=1)
    operations: str = "*"
    times: int | None = Field(default=None, ge=1)

    def apply(self, cloud: Cloud) -> None:
        """Set the fault."""
        cloud.gate.add(
            ApiFault(
                ApiFaultKind.SLOW,
                operations=self.operations,
                every=self.every,
                times=self.times,
                latency=self.latency,
            )
        )


class HealApi(Action):
    """The API works well again."""

    summary = "end throttling, errors and slowness of the cloud's API"

    operations: str = "*"

    def apply(self, cloud: Cloud) -> None:
        """Forget the faults."""
        cloud.gate.heal(self.operations)
