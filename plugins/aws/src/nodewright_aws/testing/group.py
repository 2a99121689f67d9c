"""What Auto Scaling keeps of a group in addition to its settings."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from nodewright_aws.pools import Lifecycle, Pool

#: Of each group; AWS keeps them for six weeks.
_ACTIVITIES_KEPT = 1000


@dataclass(kw_only=True)
class Machine:
    """An instance of a group."""

    id: str
    group: str
    pool: Pool
    launched_at: datetime
    #: As AWS calls it: ``Pending``, ``Pending:Wait``, ``InService``, ``Terminating``, ``Warmed:Stopped``, ...
    state: str = "Pending"
    protected: bool = False
    healthy: bool = True
    #: When it moves to the next state by itself; None for never.
    next_at: datetime | None = None
    #: ``LaunchTemplate`` or ``LaunchConfigurationName`` that it was launched from, as boto3 has it.
    source: Mapping[str, object] = field(default_factory=dict)

    @property
    def provider_id(self) -> str:
        """``spec.providerID`` of the node that it becomes."""
        return f"aws:///{self.pool.zone}/{self.id}"

    @property
    def spot(self) -> bool:
        """Whether it is a spot instance."""
        return self.pool.lifecycle is Lifecycle.SPOT

    @property
    def going(self) -> bool:
        """Whether it is being terminated."""
        return self.state.startswith("Terminating")

    @property
    def counts(self) -> bool:
        """Whether desired capacity counts it."""
        return self.state.startswith("Pending") or self.state in ("InService", "EnteringStandby")


@dataclass(frozen=True, kw_only=True)
class Activity:
    """Something that Auto Scaling did, or failed to do."""

    id: str
    group: str
    description: str
    cause: str
    started_at: datetime
    ended_at: datetime | None
    #: ``Successful``, ``Failed``, ``InProgress``, ...
    status: str
    message: str = ""
    #: No answer contains it before this time.
    shown_at: datetime
    details: str = "{}"


@dataclass(kw_only=True)
class Group:
    """Sizes, machines and activities of a group."""

    name: str
    min_size: int
    max_size: int
    desired: int
    machines: dict[str, Machine] = field(default_factory=dict)
    #: Newest last.
    activities: deque[Activity] = field(default_factory=lambda: deque(maxlen=_ACTIVITIES_KEPT))
    #: When it retries a failed launch.
    retry_at: datetime | None = None

    @property
    def living(self) -> list[Machine]:
        """The machines that count for its desired capacity."""
        return [machine for machine in self.machines.values() if machine.counts]
