"""What the groups of a provider share."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nodewright.api import NodewrightError

from nodewright_gce.calls.compute import Compute
from nodewright_gce.groups.attempts import Attempts
from nodewright_gce.groups.known_machines import KnownMachines
from nodewright_gce.groups.listing import Listing
from nodewright_gce.groups.names import Names
from nodewright_gce.groups.operations import Operations
from nodewright_gce.groups.orders import RecentOrders
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.resources.address import Address

if TYPE_CHECKING:
    from nodewright_gce.groups.supply import Supply
    from nodewright_gce.migs.history import History
    from nodewright_gce.migs.queues import Queues
    from nodewright_gce.templates.templates import Templates


@dataclass(frozen=True, kw_only=True)
class GroupServices:
    """How groups are changed, and what is remembered of that."""

    compute: Compute
    machines: KnownMachines
    listing: Listing
    orders: RecentOrders
    operations: Operations
    attempts: Attempts
    names: Names
    #: Has the machines of a group listed at the next refresh.
    touch: Callable[[Address], None]


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """What is known about groups besides their machines."""

    templates: "Templates"
    history: "History"
    queues: "Queues"
    supply: "Supply"

    def limits(self, group: ManagedGroup) -> tuple[int | None, int | None]:
        """Return the limits in the metadata of *group*, as far as they are known."""
        with suppress(NodewrightError):
            return self.templates.limits(group)
        return None, None
