"""A managed instance group with its machines, as of one refresh."""

from dataclasses import dataclass

from nodewright.api import NodewrightError

from nodewright_gce.resources.address import Address
from nodewright_gce.resources.managed_instance import ManagedInstance
from nodewright_gce.resources.mig import Mig


@dataclass(frozen=True, kw_only=True)
class ManagedGroup:
    """What is known of a group that is used."""

    address: Address
    #: As it was read last.
    mig: Mig
    members: tuple[ManagedInstance, ...] = ()
    #: As the user wrote; None if only the template's metadata may tell.
    min_size: int | None = None
    max_size: int | None = None
    #: Why this refresh could not read it; the rest is then as it was read last.
    trouble: NodewrightError | None = None
