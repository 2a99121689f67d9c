"""The model of a scenario."""

from datetime import UTC, datetime
from typing import Annotated, Any

from nodewright.api import Clock
from nodewright.testing import FastClock
from pydantic import AfterValidator, AwareDatetime, Field, field_validator

from nodewright_fake.cloud.actions import CloudAction
from nodewright_fake.cloud.group import GroupSettings
from nodewright_fake.cloud.instance_type import InstanceType
from nodewright_fake.cloud.limits import Bounds
from nodewright_fake.controllers.nodes.lifecycle import MONITOR_PERIOD
from nodewright_fake.duration import Duration
from nodewright_fake.scenario.manifest import Manifest, Object
from nodewright_fake.scenario.story import Step
from nodewright_fake.scenario.workloads import Workloads
from nodewright_fake.settings import Settings


def _in_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


class ClockSettings(Settings):
    """How time passes in the world."""

    #: When the world begins; now if not given.
    start: Annotated[AwareDatetime, AfterValidator(_in_utc)] | None = None
    #: Seconds of the world for each second of real time.
    speed: float = Field(default=1.0, gt=0)

    def make(self, speed: float | None = None) -> Clock:
        """A clock that runs from now on, at its own or another *speed*."""
        return FastClock(speed=self.speed if speed is None else speed, start=self.start)


class Scenario(Settings):
    """A world: its cloud, its cluster and its story."""

    name: str = ""
    clock: ClockSettings = ClockSettings()
    #: Where all random choices come from.
    seed: int = 0
    #: Where the cloud is; none if all nodes are made by others.
    zones: tuple[str, ...] = Field(default=(), min_length=1)
    instance_types: dict[str, InstanceType] = Field(default={}, min_length=1)
    groups: tuple[GroupSettings, ...] = ()
    #: Limits of the provider on the total of all nodes, by resource or accelerator type.
    limits: dict[str, Bounds] = Field(default={})
    #: How often NoExecute taints are brought into line with the state of nodes; at once if 0.
    node_monitor_period: Duration = MONITOR_PERIOD
    #: What is wrong from the beginning.
    faults: tuple[CloudAction, ...] = ()
    workloads: Workloads = Workloads()
    #: Any other Kubernetes objects that the cluster begins with.
    objects: tuple[Manifest, ...] = ()
    story: tuple[Step, ...] = ()
    #: Settings for a Nodewright that runs in the same process, as in its own YAML; used by ``nodewright demo``.
    autoscaler: dict[str, Any] = Field(default={})

    @field_validator("groups")
    @classmethod
    def _differ_in_name(cls, groups: tuple[GroupSettings, ...]) -> tuple[GroupSettings, ...]:
        names = [group.name for group in groups]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two groups are named {name!r}")
        return groups

    @property
    def manifests(self) -> tuple[Object, ...]:
        """All Kubernetes objects that the cluster begins with."""
        return self.objects + self.workloads.manifests
