"""What Google keeps of a managed instance group and its machines."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from nodewright_gce.pools import Pool
from nodewright_gce.resources.address import Address

#: Of each group; listErrors shows no more.
_ERRORS_KEPT = 1000


@dataclass(kw_only=True)
class Machine:
    """A VM of a group, or the plan to make it."""

    name: str
    project: str
    #: Name of the group; empty once it was abandoned.
    group: str
    #: Where its group is: ``zones/Z`` or ``regions/R``.
    owner: str
    pool: Pool
    #: URL of the template, and the name of the version, that it is made of.
    template: str
    version: str = ""
    #: 0 until the VM exists; another one each time it is made anew.
    id: int = 0
    #: As ``instances.get`` has it; empty until the VM exists.
    status: str = ""
    #: As the group has it; ``NONE`` at rest.
    action: str = "CREATING"
    target_status: str = "RUNNING"
    #: What it takes from quotas of its region, by metric.
    takes: Mapping[str, float] = field(default_factory=dict)
    #: Whether Google has capacity for it: it comes without another attempt.
    granted: bool = False
    #: Of the last attempt, in the form of the API, and when answers begin to show them.
    errors: Sequence[Mapping[str, Any]] = ()
    shown_at: datetime | None = None
    #: Whether another attempt is under way, which hides the errors of the last.
    attempting: bool = False
    #: Whether it is not listed, as it failed: only the history of the group tells.
    unseen: bool = False
    #: When it moves on by itself; None for never.
    next_at: datetime | None = None
    created_at: datetime | None = None
    ends_at: datetime | None = None
    #: Name of the resize request that it belongs to.
    request: str = ""
    #: Whether its type was chosen by a flexibility policy.
    flexible: bool = False

    def errors_at(self, now: datetime) -> Sequence[Mapping[str, Any]]:
        """The errors that answers show: none while another attempt is under way."""
        hidden = self.attempting or self.shown_at is None or self.shown_at > now
        return () if hidden else self.errors

    @property
    def zone(self) -> str:
        """Where it is."""
        return self.pool.zone

    @property
    def path(self) -> str:
        """What its URL ends with."""
        return f"projects/{self.project}/zones/{self.zone}/instances/{self.name}"

    @property
    def provider_id(self) -> str:
        """``spec.providerID`` of the node that it becomes."""
        return f"gce://{self.project}/{self.zone}/{self.name}"

    @property
    def spot(self) -> bool:
        """Whether it is a spot VM."""
        return self.pool.spot

    @property
    def going(self) -> bool:
        """Whether it is being deleted."""
        return self.action in ("DELETING", "ABANDONING")

    @property
    def counts(self) -> bool:
        """Whether the target size counts it."""
        return not self.going and self.target_status == "RUNNING"

    @property
    def queued(self) -> bool:
        """Whether it waits for its resize request: it has a name, but no URL yet."""
        return bool(self.request) and not self.granted


@dataclass(kw_only=True)
class ResizeRequest:
    """So many machines together or none."""

    name: str
    count: int
    made_at: datetime
    state: str = "ACCEPTED"
    seconds: float | None = None
    errors: Sequence[Mapping[str, Any]] = ()

    @property
    def open(self) -> bool:
        """Whether something may still come of it."""
        return self.state in ("CREATING", "ACCEPTED")


@dataclass(kw_only=True)
class Group:
    """Sizes, machines and errors of a managed instance group."""

    address: Address
    base: str
    target: int
    zones: tuple[str, ...]
    stopped: int = 0
    suspended: int = 0
    #: Everything else, in the form of the API.
    settings: dict[str, Any] = field(default_factory=dict)
    machines: dict[str, Machine] = field(default_factory=dict)
    requests: dict[str, ResizeRequest] = field(default_factory=dict)
    #: Newest last, in the form of listErrors.
    history: deque[Mapping[str, Any]] = field(default_factory=lambda: deque(maxlen=_ERRORS_KEPT))
    #: Whether machines were ordered by name, which leaves a configuration for each.
    configured: bool = False
    #: URL of the autoscaler of Google that steers it.
    autoscaler: str = ""
    fingerprint: int = 1

    @property
    def name(self) -> str:
        """Its name, which other groups may have in other zones."""
        return self.address.name

    @property
    def id(self) -> str:
        """The id that `nodewright.api.NodeGroup` has."""
        return self.address.id

    @property
    def bulk(self) -> bool:
        """Whether it grows all or nothing."""
        return str(self.settings.get("targetSizePolicy", {}).get("mode", "INDIVIDUAL")) == "BULK"

    def count(self, target_status: str, more: int) -> None:
        """Change how many machines are to have a status."""
        if target_status == "STOPPED":
            self.stopped += more
        elif target_status == "SUSPENDED":
            self.suspended += more
        else:
            self.target += more

    @property
    def living(self) -> list[Machine]:
        """The machines that its target size counts."""
        return [machine for machine in self.machines.values() if machine.counts]

    @property
    def stable(self) -> bool:
        """Whether nothing is under way."""
        return len(self.living) == self.target and all(each.action == "NONE" for each in self.machines.values())
