"""Machines as the cloud sees them, registered as nodes or not."""

from dataclasses import dataclass
from enum import StrEnum


class InstanceState(StrEnum):
    """Where a machine is in its life."""

    CREATING = "Creating"
    RUNNING = "Running"
    DELETING = "Deleting"


class ErrorClass(StrEnum):
    """Why a machine could not be made; kept with the back-off of its group."""

    #: The cloud has no such machines at the moment, in `InstanceError.pool`.
    STOCK_OUT = "StockOut"
    #: The account may not have more of them.
    QUOTA = "Quota"
    #: Credentials lack a right.
    PERMISSION = "Permission"
    #: The group's own set-up is wrong (template, image, network).
    CONFIGURATION = "Configuration"
    OTHER = "Other"

    @property
    def out_of_resources(self) -> bool:
        """Whether Cluster Autoscaler would call this OutOfResources."""
        return self in (ErrorClass.STOCK_OUT, ErrorClass.QUOTA)


@dataclass(frozen=True, kw_only=True)
class InstanceError:
    """Why a machine could not be made."""

    error_class: ErrorClass
    #: The cloud's own code, for people and metrics; of bounded variety.
    code: str
    message: str = ""
    #: The capacity pool that ran dry, where the cloud tells: ``zone/instance type`` such as ``eu-a/c5.large``, or one
    #: of `NodeGroup.pools`. With class StockOut it keeps other groups of the provider off that pool as well.
    pool: str = ""


@dataclass(frozen=True, kw_only=True)
class Instance:
    """A machine of a node group."""

    #: Equals ``spec.providerID`` of the node it becomes.
    id: str
    state: InstanceState
    #: Set with state Creating when the machine will never come; it is deleted and the group backed off.
    error: InstanceError | None = None
    zone: str = ""
    instance_type: str = ""
