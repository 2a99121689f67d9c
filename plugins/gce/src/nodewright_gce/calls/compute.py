"""What the plugin asks of Google Cloud."""

from collections.abc import Sequence
from typing import Protocol

from nodewright_gce.resources.address import Address, Place
from nodewright_gce.resources.instance_template import InstanceTemplate
from nodewright_gce.resources.machine_type import MachineType
from nodewright_gce.resources.managed_instance import ManagedInstance, MigError
from nodewright_gce.resources.mig import Mig
from nodewright_gce.resources.operation import Operation
from nodewright_gce.resources.region import Region
from nodewright_gce.resources.reservation import Reservation
from nodewright_gce.resources.resize_request import ResizeRequest
from nodewright_gce.resources.sku import Sku


class Compute(Protocol):
    """Calls to the Compute Engine and Billing APIs, one method for each; lists are read to their end.

    Any thread may call. All methods raise errors of the contract (`nodewright.api.NodewrightError`); a group that does
    not exist is a `GroupNotFoundError`. Changes return an operation that is still under way or went well. One that
    failed raises, as `CapacityError` if that was about a quota or a stock-out. A change is repeated once with its
    *request_id* when its answer is lost, so it is made once.
    """

    @property
    def project(self) -> str:
        """The project of the configuration. Determined once; may ask the machine."""

    def zone(self) -> str:
        """Return the zone that the configuration, or else the machine that this runs on, is in.

        ``gce.conf`` may have a region in its place.
        """

    def migs(self, place: Place) -> Sequence[Mig]:
        """``instanceGroupManagers.list``."""

    def mig(self, address: Address) -> Mig:
        """``instanceGroupManagers.get``."""

    def managed_instances(self, address: Address) -> Sequence[ManagedInstance]:
        """``instanceGroupManagers.listManagedInstances``."""

    def mig_errors(self, address: Address) -> Sequence[MigError]:
        """``instanceGroupManagers.listErrors``, newest first."""

    def create_instances(self, address: Address, names: Sequence[str], *, request_id: str) -> Operation:
        """``instanceGroupManagers.createInstances``; at most 1,000 names."""

    def delete_instances(self, address: Address, instances: Sequence[str], *, request_id: str) -> Operation:
        """``instanceGroupManagers.deleteInstances``: at most 1,000 URLs, or names of queued machines.

        Those that are not in the group are skipped.
        """

    def resize(self, address: Address, size: int, *, request_id: str) -> Operation:
        """``instanceGroupManagers.resize``."""

    def resize_requests(self, address: Address) -> Sequence[ResizeRequest]:
        """``instanceGroupManagerResizeRequests.list``."""

    def insert_resize_request(self, address: Address, name: str, count: int, *, request_id: str) -> Operation:
        """``instanceGroupManagerResizeRequests.insert``."""

    def cancel_resize_request(self, address: Address, name: str, *, request_id: str) -> Operation:
        """``instanceGroupManagerResizeRequests.cancel``."""

    def operation(self, operation: Operation) -> Operation:
        """``zoneOperations.get`` or ``regionOperations.get``: how far it is now.

        Raises as changes do if it failed. If it can't be read, that is a `CloudUnavailableError`, unless Google
        throttles the call, or does not allow it, which has a status.
        """

    def template(self, url: str) -> InstanceTemplate:
        """``instanceTemplates.get`` or ``regionInstanceTemplates.get``, as *url* says."""

    def machine_type(self, zone: Place, name: str) -> MachineType:
        """``machineTypes.get``."""

    def region(self, region: Place) -> Region:
        """``regions.get``, with zones and quotas."""

    def reservations(self, zone: Place) -> Sequence[Reservation]:
        """``reservations.list``."""

    def skus(self, currency: str) -> Sequence[Sku]:
        """``services.skus.list`` of Compute Engine in the billing catalogue."""

    def close(self) -> None:
        """Close all connections."""
