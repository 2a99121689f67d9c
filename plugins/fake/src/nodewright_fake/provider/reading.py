"""Readings: what one refresh read of the cloud."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nodewright.api import Instance, InstanceError, InstanceState, Pause, ResourceLimits

from nodewright_fake.cloud.group import GroupSettings
from nodewright_fake.cloud.instance_type import Hardware
from nodewright_fake.cloud.limits import Bounds, resource_limits
from nodewright_fake.cloud.refusal import parse_error


@dataclass(frozen=True, kw_only=True)
class GroupReading:
    """One group."""

    settings: GroupSettings
    desired: int
    instances: tuple[Instance, ...] = ()
    #: What a machine takes of quotas, by their names.
    quotas: Mapping[str, int] = field(default_factory=dict)
    available: int | None = None
    error: InstanceError | None = None
    pause: Pause | None = None


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The whole cloud at one moment of its clock; empty before the first refresh."""

    hardware: Mapping[str, Hardware] = field(default_factory=dict)
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    groups: tuple[GroupReading, ...] = ()

    @property
    def group_by_instance(self) -> dict[str, str]:
        """Names of groups by provider ID of their machines."""
        return {instance.id: group.settings.name for group in self.groups for instance in group.instances}


def parse_reading(snapshot: dict[str, Any]) -> Reading:
    """Return the cloud's snapshot as values."""
    return Reading(
        hardware={name: Hardware.model_validate(body) for name, body in snapshot["instanceTypes"].items()},
        limits=resource_limits({name: Bounds.model_validate(bounds) for name, bounds in snapshot["limits"].items()}),
        groups=tuple(_group(group) for group in snapshot["groups"]),
    )


def _group(body: dict[str, Any]) -> GroupReading:
    settings = GroupSettings.model_validate(body["settings"])
    return GroupReading(
        settings=settings,
        desired=body["desired"],
        instances=tuple(_instance(machine, settings) for machine in body["instances"]),
        quotas=body.get("quotas", {}),
        available=body.get("available"),
        error=parse_error(body["error"]) if "error" in body else None,
        pause=Pause(**body["pause"]) if "pause" in body else None,
    )


def _instance(body: dict[str, Any], settings: GroupSettings) -> Instance:
    return Instance(
        id=body["id"],
        state=InstanceState(body["state"]),
        error=parse_error(body["error"]) if "error" in body else None,
        zone=settings.zone,
        instance_type=settings.instance_type,
        incarnation=body["incarnation"],
    )
