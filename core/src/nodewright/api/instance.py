"""Instances: machines as the cloud sees them, registered as nodes or not."""

from dataclasses import dataclass
from enum import StrEnum


class InstanceState(StrEnum):
    """How far a machine is between its order and its end."""

    CREATING = "Creating"
    RUNNING = "Running"
    DELETING = "Deleting"


class ErrorClass(StrEnum):
    """Why a machine could not be made. The back-off of its group goes by it."""

    #: The cloud has no such machines at the moment, in `InstanceError.pool` if that is known.
    STOCK_OUT = "StockOut"
    #: The account's quota allows no more of them.
    QUOTA = "Quota"
    #: The credentials lack a right.
    PERMISSION = "Permission"
    #: The group's own set-up is wrong (template, image, network).
    CONFIGURATION = "Configuration"
    OTHER = "Other"

    @property
    def out_of_resources(self) -> bool:
        """Whether Cluster Autoscaler calls this OutOfResources."""
        return self in (ErrorClass.STOCK_OUT, ErrorClass.QUOTA)


@dataclass(frozen=True, kw_only=True)
class InstanceError:
    """Why a machine could not be made."""

    error_class: ErrorClass
    #: The cloud's own code. Metrics count by it, so it must have few values and contain no ids.
    code: str
    message: str = ""
    #: The capacity pool that is empty, if the cloud names it: ``zone/instance type`` such as ``eu-a/c5.large``, or one
    #: of `NodeGroup.pools`. With class StockOut, other groups of the provider stay away from that pool as well.
    pool: str = ""


@dataclass(frozen=True, kw_only=True)
class Instance:
    """A machine of a node group."""

    #: Equal to ``spec.providerID`` of the node it becomes.
    id: str
    state: InstanceState
    #: Set with state Creating if the machine will never come. The core deletes it and backs the group off.
    error: InstanceError | None = None
    #: Zone and type name the capacity pool of the machine, where `NodeGroup.pools` names none.
    zone: str = ""
    instance_type: str = ""
