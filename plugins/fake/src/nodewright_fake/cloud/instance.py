"""Machines as the cloud sees them."""

from dataclasses import dataclass
from datetime import datetime

from nodewright.api import InstanceError, InstanceState

from nodewright_fake.cloud.group import GroupSettings
from nodewright_fake.host import Host


@dataclass(kw_only=True)
class CloudInstance:
    """A machine from its order to its end. Changed by its `Fleet` only."""

    host: Host
    group: GroupSettings
    #: Counts the machines of the group from its beginning.
    number: int
    hourly_price: float
    created_at: datetime
    boot_time: float
    delete_time: float
    state: InstanceState = InstanceState.CREATING
    #: Counts the machines that have had its name.
    incarnation: int = 1
    #: Why it will never come.
    error: InstanceError | None = None
    #: Whether it is taken out of the cloud's supply.
    supplied: bool = False
    #: Whether its kubelet was started.
    registered: bool = False
    #: When the cloud takes it back, once that is decided.
    reclaim_at: datetime | None = None

    @property
    def id(self) -> str:
        """The provider ID of the node that it becomes."""
        return self.host.id

    @property
    def name(self) -> str:
        """The name of the node that it becomes."""
        return self.host.name

    @property
    def going(self) -> bool:
        """Whether it is being deleted, so that it no longer counts for its group."""
        return self.state is InstanceState.DELETING
