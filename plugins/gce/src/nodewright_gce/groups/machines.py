"""Machines of a MIG as instances of the contract."""

import re
from collections.abc import Collection, Iterable
from datetime import UTC, datetime

from nodewright.api import Instance, InstanceState

from nodewright_gce.causes import CREATING
from nodewright_gce.resources.address import Place
from nodewright_gce.resources.managed_instance import ManagedInstance
from nodewright_gce.resources.mig import Mig
from nodewright_gce.resources.resource import last_part

_ID = re.compile(r"gce://(?P<project>[^/]+)/(?P<zone>[^/]+)/(?P<name>[^/]+)")
_ZONE = re.compile(r"/zones/(?P<zone>[^/]+)/instances/")

_LEAVING = frozenset({"DELETING", "ABANDONING"})
_TO_LEAVE = frozenset({"DELETED", "ABANDONED"})
#: The target statuses of machines of a standby pool.
_STANDBY = frozenset({"STOPPED", "SUSPENDED"})
#: Started again from a standby pool.
_STARTING = frozenset({"STARTING", "RESUMING"})
#: What `ManagedInstance.instance_status` is while the machine is off, or soon will be.
_OFF = frozenset({"STOPPING", "STOPPED", "SUSPENDING", "SUSPENDED", "TERMINATED", "DEPROVISIONING", "PENDING_STOP"})
_COMING = frozenset({"PENDING", "PROVISIONING", "STAGING"})


def is_machine_id(provider_id: str) -> bool:
    """Tell whether *provider_id* is that of a machine of Google Cloud."""
    return _ID.fullmatch(provider_id) is not None


def provider_id(machine: ManagedInstance, place: Place) -> str:
    """Return the provider ID of a machine of a MIG in *place*.

    A machine that is queued in a regional MIG has no zone yet: its id has the region.
    """
    return f"gce://{place.project}/{zone_of(machine, place) or place.name}/{name_of(machine)}"


def name_of(machine: ManagedInstance) -> str:
    """Return the name, which the node shares."""
    return machine.name or last_part(machine.instance)


def zone_of(machine: ManagedInstance, place: Place) -> str:
    """Return the zone of a machine of a MIG in *place*; empty while nobody knows it."""
    found = _ZONE.search(machine.instance)
    if found is not None:
        return found["zone"]
    return "" if place.regional else place.name


def state_of(machine: ManagedInstance, mig: Mig) -> InstanceState:
    """Return the state of a machine of *mig*.

    A machine that has been stopped by others, as by preemption, is on its way again if the MIG repairs it. If it does
    not, nothing is told but what its node shows.
    """
    if machine.current_action in _LEAVING or machine.target_status in _TO_LEAVE:
        return InstanceState.DELETING
    if machine.target_status in _STANDBY:
        return InstanceState.STOPPED
    if machine.current_action in CREATING:
        return InstanceState.CREATING
    on = machine.instance_status not in _OFF | _COMING
    if machine.current_action in _STARTING or machine.instance_status in _COMING:
        return InstanceState.RUNNING if on else InstanceState.CREATING
    repairs = mig.instance_lifecycle_policy.default_action_on_failure != "DO_NOTHING"
    return InstanceState.CREATING if not on and repairs else InstanceState.RUNNING


def is_counted(machine: ManagedInstance, mig: Mig) -> bool:
    """Whether the target size counts a machine of *mig*."""
    return state_of(machine, mig) not in (InstanceState.DELETING, InstanceState.STOPPED)


def has_not_come(machine: ManagedInstance, mig: Mig) -> bool:
    """Whether a machine of *mig* is counted and listed, but does not exist: it was ordered and has not come."""
    return state_of(machine, mig) is InstanceState.CREATING and machine.current_action in CREATING and not machine.id


def to_come(members: Iterable[ManagedInstance], mig: Mig) -> int:
    """Return how many machines of *mig*, which lists *members*, were ordered and do not exist yet, listed or not."""
    existing = sum(is_counted(each, mig) and not has_not_come(each, mig) for each in members)
    return max(0, mig.target_size - existing)


def is_queued(machine: ManagedInstance) -> bool:
    """Whether a machine waits in a queue, with all others of its resize request: it has a name, and no URL yet."""
    return machine.current_action in CREATING and not machine.instance


def as_instance(machine: ManagedInstance, mig: Mig, place: Place, machine_types: Collection[str]) -> Instance:
    """Return a machine of *mig* in *place*, whose new machines are of one of *machine_types*; without an error."""
    chosen = last_part(machine.properties_from_flexibility_policy.machine_type)
    # Machines of another version are of a type that is not known here.
    template = _path(machine.version.instance_template)
    usual = template in ("", _path(mig.template)) and len(machine_types) == 1
    return Instance(
        id=provider_id(machine, place),
        state=state_of(machine, mig),
        zone=zone_of(machine, place),
        instance_type=chosen or (next(iter(machine_types)) if usual else ""),
        incarnation=str(machine.id),
        ends_at=_time(machine.scheduling.termination_timestamp),
    )


def _path(url: str) -> str:
    return url.partition("/projects/")[2]


def _time(text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
