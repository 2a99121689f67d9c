"""Why machines do not come: Google's errors in the words of the contract.

Codes are those of Cluster Autoscaler where it has one, and Google's own otherwise; there are few of either.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nodewright.api import ErrorClass, InstanceError

from nodewright_gce.pools import Pool
from nodewright_gce.resources.managed_instance import AttemptError, ManagedInstance, QuotaInfo
from nodewright_gce.resources.resource import last_part

_STOCK_OUT, _QUOTA = ErrorClass.STOCK_OUT, ErrorClass.QUOTA
_PERMISSION, _CONFIGURATION, _OTHER = ErrorClass.PERMISSION, ErrorClass.CONFIGURATION, ErrorClass.OTHER

#: Actions under which a machine is on its way. Only then its errors say that it does not come.
CREATING = frozenset({"CREATING", "CREATING_WITHOUT_RETRIES", "RECREATING"})
#: What a machine shows that has not got further than being made.
_NOT_YET_RUNNING = frozenset({"", "PENDING", "PROVISIONING", "STAGING"})
_UNKNOWN = "OTHER"
#: How Google writes codes. What looks otherwise may contain an id.
_CODE = re.compile(r"[A-Za-z][A-Za-z_]{2,60}")


@dataclass(frozen=True, kw_only=True)
class _Meaning:
    """What an error means if its code and its message, as far as these are given, match."""

    error_class: ErrorClass
    #: Empty if Google's own code is told.
    name: str = ""
    code: str = ""
    message: str = ""
    #: Whether the pool that the machine was to come from has run dry.
    of_pool: bool = False
    #: Whether the reservation that the machine was to come from is used up.
    of_reservation: bool = False
    #: Whether it counts only for a machine that has not got further than being made.
    early: bool = False

    def fits(self, error: AttemptError) -> bool:
        """Whether *error* means this."""
        return bool(re.search(self.code, error.code) and re.search(self.message, error.message))


#: The first that fits counts.
_MEANINGS: tuple[_Meaning, ...] = (
    _Meaning(
        error_class=_STOCK_OUT,
        name="RESOURCE_POOL_EXHAUSTED",
        code=r"^((ZONE|REGION)_)?RESOURCE_POOL_EXHAUSTED(_WITH_DETAILS)?$",
        of_pool=True,
    ),
    _Meaning(error_class=_STOCK_OUT, name="INSUFFICIENT_CAPACITY", code=r"^INSUFFICIENT_CAPACITY$", of_pool=True),
    _Meaning(error_class=_STOCK_OUT, code=r"^(GPU_STOCKOUT|insufficientCapacity)$", of_pool=True, early=True),
    _Meaning(error_class=_QUOTA, name="QUOTA_EXCEEDED", code="(?i)QUOTA"),
    _Meaning(error_class=_OTHER, name="IP_SPACE_EXHAUSTED", code="IP_SPACE_EXHAUSTED"),
    _Meaning(error_class=_PERMISSION, name="PERMISSIONS_ERROR", code="PERMISSIONS_ERROR"),
    _Meaning(
        error_class=_PERMISSION,
        name="VM_EXTERNAL_IP_ACCESS_POLICY_CONSTRAINT",
        code=r"^CONDITION_NOT_MET$",
        message="constraints/compute.vmExternalIpAccess violated for project",
    ),
    _Meaning(error_class=_OTHER, name="RESERVATION_NOT_READY", message="requires reservation to be in READY state"),
    # It comes among errors of reservations, and is none.
    _Meaning(
        error_class=_STOCK_OUT,
        name="RESOURCE_POOL_EXHAUSTED",
        message="Zone does not currently have sufficient capacity for the requested resources",
        of_pool=True,
    ),
    _Meaning(
        error_class=_CONFIGURATION,
        name="INVALID_RESERVATION",
        message="(?i)VM family.*aggregate reservation|aggregate reservation.*VM family"
        "|reservation must exist in the same project|must use ReservationAffinity of|workload_type"
        "|is incorrect for the requested resources",
    ),
    _Meaning(
        error_class=_CONFIGURATION,
        name="RESERVATION_NOT_FOUND",
        message=r"Specified reservations?\b.* do(es)? not exist",
    ),
    _Meaning(
        error_class=_STOCK_OUT,
        name="RESERVATION_CAPACITY_EXCEEDED",
        message=r"Specified reservations?\b.* do(es)? not have available resources for the request",
        of_reservation=True,
    ),
    _Meaning(
        error_class=_CONFIGURATION,
        name="RESERVATION_INCOMPATIBLE",
        message="No available resources in specified reservations",
    ),
    _Meaning(
        error_class=_CONFIGURATION,
        name="UNSUPPORTED_TPU_CONFIGURATION",
        code=r"^CONDITION_NOT_MET$",
        message="Unsupported TPU configuration",
    ),
    _Meaning(
        error_class=_CONFIGURATION,
        name="AUTOMATIC_RESERVATIONS_NOT_AVAILABLE",
        message="There is no automatic reservation matching the instance in your project",
    ),
    _Meaning(
        error_class=_STOCK_OUT,
        name="AUTOMATIC_RESERVATIONS_NO_CAPACITY",
        message="All automatic reservations in your project.* are fully consumed",
    ),
    _Meaning(error_class=_CONFIGURATION, code=r"^(RESOURCE_NOT_FOUND|INVALID_FIELD_VALUE|INVALID_USAGE)$", early=True),
    # A spot machine was taken back while it was being made.
    _Meaning(error_class=_STOCK_OUT, code=r"^UNSUPPORTED_OPERATION$", message="(?i)preempt", of_pool=True, early=True),
)
#: All causes that are known by name; the others have Google's code.
NAMES = frozenset(each.name for each in _MEANINGS if each.name)

_EXCEEDED = re.compile(
    r"[Qq]uota '(?P<metric>[A-Z0-9_]+)' exceeded\.\s+Limit: (?P<limit>[\d.]+)(?: in region (?P<region>[a-z0-9-]+))?"
)
_NAMED_RESERVATION = re.compile(r"[Rr]eservations? \W*(?P<name>[a-z0-9][-a-z0-9./]*)")


def cause_of_machine(machine: ManagedInstance, pool: Pool) -> InstanceError | None:
    """Return why *machine*, which was to come from *pool*, does not come; None if nothing says that it will not."""
    if machine.current_action not in CREATING:
        return None
    further = machine.instance_status not in _NOT_YET_RUNNING
    return cause_of(machine.last_attempt.errors.errors, pool, further=further)


def cause_of(errors: Sequence[AttemptError], pool: Pool, *, further: bool = False) -> InstanceError | None:
    """Return what *errors* of one attempt say together, for a machine that was to come from *pool*.

    The last error that is known decides, and all are told. If the machine got *further* than being made, only those
    count that say that it does not come all the same.
    """
    known = [
        (error, meaning)
        for error in errors
        if (meaning := _meaning(error)) is not None and not (further and meaning.early)
    ]
    message = "; ".join(dict.fromkeys(_sentences(errors)))
    if not known:
        if further or not errors:
            return None
        code = errors[-1].code
        return InstanceError(
            error_class=_OTHER, code=code if _CODE.fullmatch(code) else _UNKNOWN, message=message or code
        )
    error, meaning = known[-1]
    return InstanceError(
        error_class=meaning.error_class,
        code=meaning.name or error.code,
        message=message,
        pool=_used_up(error, meaning, pool),
    )


def quota_name(region: str, metric: str) -> str:
    """Return the name of a quota of a region, as in `nodewright.api.NodeGroup.quotas`."""
    return f"{region}/{metric}"


def _meaning(error: AttemptError) -> _Meaning | None:
    return next((each for each in _MEANINGS if each.fits(error)), None)


def _sentences(errors: Iterable[AttemptError]) -> Iterator[str]:
    for error in errors:
        figures = "".join(map(_figures, _quotas(error))) if "quota" not in error.message.lower() else ""
        yield (error.message or error.code) + figures


def _used_up(error: AttemptError, meaning: _Meaning, pool: Pool) -> str:
    if meaning.error_class is _QUOTA:
        return _exceeded(error)
    if meaning.of_reservation:
        named = _NAMED_RESERVATION.search(error.message)
        name = last_part(named["name"].rstrip(".")) if named else pool.reservation
        return str(Pool(zone=pool.zone, reservation=name)) if pool.zone and name else ""
    return _dry(error, pool) if meaning.of_pool else ""


def _dry(error: AttemptError, pool: Pool) -> str:
    """Return the pool that has run dry, as far as it is known; what is attached to machines has no pool."""
    details = _details(error)
    if details.get("attachment"):
        return ""
    dry = replace(
        pool,
        zone=last_part(details.get("zone", "")) or pool.zone,
        machine_type=last_part(details.get("vmType", "")) or pool.machine_type,
        reservation="",
    )
    return str(dry) if dry.zone and dry.machine_type else ""


def _exceeded(error: AttemptError) -> str:
    """Return the quota that is used up, where it is named."""
    info = next(_quotas(error), QuotaInfo())
    told = _EXCEEDED.search(error.message)
    if told is not None:
        metric, region = told["metric"], told["region"] or ""
    else:
        # Such as CPUS-per-project-region.
        name, per, _ = info.limit_name.partition("-per-project")
        metric = name.replace("-", "_").upper() if per else ""
        region = info.dimensions.get("region", "")
    family = info.dimensions.get("vm_family", "")
    if not metric:
        return ""
    return quota_name(region or "global", f"{metric}/{family}" if family else metric)


def _figures(info: QuotaInfo) -> str:
    where = f" in {region}" if (region := info.dimensions.get("region", "")) else ""
    return f" (the limit of {info.limit_name or info.metric_name} is {float(info.limit):g}{where})"


def _quotas(error: AttemptError) -> Iterator[QuotaInfo]:
    return (detail.quota_info for detail in error.error_details if detail.quota_info is not None)


def _details(error: AttemptError) -> Mapping[str, str]:
    return {
        key: value
        for detail in error.error_details
        if detail.error_info is not None
        for key, value in detail.error_info.metadatas.items()
    }
