"""Instances: machines as the cloud sees them, registered as nodes or not."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class InstanceState(StrEnum):
    """How far a machine is between its order and its end."""

    CREATING = "Creating"
    RUNNING = "Running"
    DELETING = "Deleting"
    #: It exists, but is not in service, and the target size does not count it: a standby pool, or a machine that was
    #: deallocated. No node of it is expected before the cloud starts it for an order; one that is there gets no pods.
    STOPPED = "Stopped"

    @property
    def counted(self) -> bool:
        """Whether the target size counts the machine."""
        return self in (InstanceState.CREATING, InstanceState.RUNNING)


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
    #: What is used up, if the cloud names it. With class StockOut, a capacity pool: ``zone/instance type`` such as
    #: ``eu-a/c5.large``, or one of `NodeGroup.pools`; other groups of the provider stay away from it as well. With
    #: class Quota, one of `NodeGroup.quotas`: other groups whose machines take at least as much of it wait as well.
    pool: str = ""

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" if self.message else self.code


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
    #: Tells machines apart that have the same id one after the other, where a cloud makes a new machine under an old
    #: name; what is known of the one does not hold for the other. Empty if that can't happen, or is not known yet.
    incarnation: str = ""
    #: When the cloud will end the machine, whatever runs on it, if that is known.
    ends_at: datetime | None = None
