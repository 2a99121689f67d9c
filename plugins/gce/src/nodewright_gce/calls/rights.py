"""The permissions that calls need.

`RIGHTS` lists exactly the calls that this plugin makes: a test compares it with the code.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Part(StrEnum):
    """What a right is for."""

    READ_GROUPS = "read groups"
    RESIZE_GROUPS = "resize groups"
    RESERVATIONS = "read reservations"
    PRICES = "read prices"


@dataclass(frozen=True)
class Right:
    """A permission, and what it is for."""

    part: Part
    #: As written in roles; empty if none is needed.
    permission: str


_LIST = Right(Part.READ_GROUPS, "compute.instanceGroupManagers.list")
_READ = Right(Part.READ_GROUPS, "compute.instanceGroupManagers.get")
_UPDATE = Right(Part.RESIZE_GROUPS, "compute.instanceGroupManagers.update")

#: By resource and verb, as metrics name them.
RIGHTS: Mapping[tuple[str, str], Right] = {
    ("instance_group_managers", "list"): _LIST,
    ("instance_group_managers", "get"): _READ,
    ("instance_group_managers", "list_managed_instances"): _LIST,
    ("instance_group_managers", "list_errors"): _READ,
    ("instance_group_manager_resize_requests", "list"): _READ,
    ("instance_templates", "get"): Right(Part.READ_GROUPS, "compute.instanceTemplates.get"),
    ("region_instance_templates", "get"): Right(Part.READ_GROUPS, "compute.instanceTemplates.get"),
    ("machine_types", "get"): Right(Part.READ_GROUPS, "compute.machineTypes.get"),
    ("regions", "get"): Right(Part.READ_GROUPS, "compute.regions.get"),
    ("instance_group_managers", "create_instances"): _UPDATE,
    ("instance_group_managers", "delete_instances"): _UPDATE,
    ("instance_group_managers", "resize"): _UPDATE,
    ("instance_group_manager_resize_requests", "insert"): _UPDATE,
    ("instance_group_manager_resize_requests", "cancel"): _UPDATE,
    ("zone_operations", "get"): Right(Part.RESIZE_GROUPS, "compute.zoneOperations.get"),
    ("region_operations", "get"): Right(Part.RESIZE_GROUPS, "compute.regionOperations.get"),
    ("reservations", "list"): Right(Part.RESERVATIONS, "compute.reservations.list"),
    # Any account may read the catalogue.
    ("skus", "list"): Right(Part.PRICES, ""),
}


def right_of(resource: str, verb: str) -> Right:
    """Return the right for a call; a resource of a region needs that of its kind in a zone."""
    return RIGHTS.get((resource, verb)) or RIGHTS[resource.removeprefix("region_"), verb]
