"""Why machines can't be made, in Google's words."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from nodewright_gce.pools import Pool
from nodewright_gce.testing.quotas import cores_quota


class Trouble(StrEnum):
    """Why a machine can't be made."""

    STOCK_OUT = "stock-out"
    #: The same without details.
    PLAIN_STOCK_OUT = "plain-stock-out"
    POOL_EXHAUSTED = "pool-exhausted"
    INSUFFICIENT_CAPACITY = "insufficient-capacity"
    REGION_STOCK_OUT = "region-stock-out"
    GPU_STOCK_OUT = "gpu-stock-out"
    #: A stock-out that is told only in words.
    ZONE_FULL = "zone-full"
    QUOTA = "quota"
    ADDRESSES = "addresses"
    PERMISSION = "permission"
    ORGANIZATION_POLICY = "organization-policy"
    RESERVATION_NOT_READY = "reservation-not-ready"
    RESERVATION_WRONG_FAMILY = "reservation-wrong-family"
    RESERVATION_OTHER_PROJECT = "reservation-other-project"
    RESERVATION_AFFINITY = "reservation-affinity"
    RESERVATION_WRONG = "reservation-wrong"
    RESERVATION_MISSING = "reservation-missing"
    RESERVATION_FULL = "reservation-full"
    RESERVATION_INCOMPATIBLE = "reservation-incompatible"
    NO_AUTOMATIC_RESERVATION = "no-automatic-reservation"
    AUTOMATIC_RESERVATIONS_FULL = "automatic-reservations-full"
    TPU = "tpu"
    IMAGE = "image"
    FIELD = "field"
    USAGE = "usage"
    #: A spot VM that was taken while it was made.
    PREEMPTED = "preempted"
    UNKNOWN = "unknown"


def error_of(trouble: Trouble, pool: Pool, machine: str, message: str = "") -> Mapping[str, Any]:
    """Return the error of the attempt to make *machine*, a path, as LMI shows it; *message* replaces Google's."""
    code, words = _WORDS[trouble]
    facts = {
        "project": machine.split("/")[1],
        "machine": machine,
        "zone": pool.zone,
        "type": pool.machine_type,
        "cores": cores_quota(pool.machine_type),
        "region": pool.zone.rpartition("-")[0],
        "reservation": pool.reservation or "reserved",
    }
    error: dict[str, Any] = {"code": code, "message": message or words.format(**facts)}
    if details := _details(trouble, pool):
        error["errorDetails"] = details
    return error


def quota_error(metric: str, limit: float, region: str) -> Mapping[str, Any]:
    """Return the error of an attempt that would exceed a quota."""
    return {
        "code": "QUOTA_EXCEEDED",
        "message": f"Quota '{metric}' exceeded.  Limit: {limit:.1f} in region {region}.",
        "errorDetails": [
            {
                "quotaInfo": {
                    "metricName": f"compute.googleapis.com/{metric.lower()}",
                    "limitName": f"{metric.replace('_', '-')}-per-project-region",
                    "limit": limit,
                    "dimensions": {"region": region},
                }
            }
        ],
    }


def _details(trouble: Trouble, pool: Pool) -> Sequence[Mapping[str, Any]]:
    if trouble is Trouble.STOCK_OUT:
        facts = {"zone": pool.zone, "vmType": pool.machine_type, "attachment": "", "zonesAvailable": ""}
        return [
            {
                "errorInfo": {"reason": "resource_availability", "domain": "compute.googleapis.com"}
                | {"metadatas": facts}
            }
        ]
    if trouble is Trouble.QUOTA:
        details: Sequence[Mapping[str, Any]] = quota_error(
            cores_quota(pool.machine_type), 24, pool.zone.rpartition("-")[0]
        )["errorDetails"]
        return details
    return ()


_CONSTRAINT = (
    "Constraint constraints/compute.vmExternalIpAccess violated for project 100000000000. Add instance {machine} to "
    "the constraint to use external IP with it."
)
#: Code and message. Reservations are told apart by the message alone.
_WORDS: Mapping[Trouble, tuple[str, str]] = {
    Trouble.STOCK_OUT: (
        "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
        (
            "The zone 'projects/{project}/zones/{zone}' does not have enough resources available to fulfill the "
            "request.  "
            "'(resource type:compute)'."
        ),
    ),
    Trouble.PLAIN_STOCK_OUT: (
        "ZONE_RESOURCE_POOL_EXHAUSTED",
        (
            "The zone 'projects/{project}/zones/{zone}' does not have enough resources available to fulfill the "
            "request.  "
            "Try a different zone, or try again later."
        ),
    ),
    Trouble.POOL_EXHAUSTED: ("RESOURCE_POOL_EXHAUSTED", "The resource pool of {type} is exhausted."),
    Trouble.INSUFFICIENT_CAPACITY: ("INSUFFICIENT_CAPACITY", "There is no capacity for {type} in {zone}."),
    Trouble.REGION_STOCK_OUT: (
        "REGION_RESOURCE_POOL_EXHAUSTED",
        "The region '{region}' does not have enough resources available to fulfill the request.",
    ),
    Trouble.GPU_STOCK_OUT: ("GPU_STOCKOUT", "There are not enough GPUs for {type} in {zone}."),
    Trouble.ZONE_FULL: (
        "UNSUPPORTED_OPERATION",
        "Zone does not currently have sufficient capacity for the requested resources",
    ),
    Trouble.QUOTA: ("QUOTA_EXCEEDED", "Quota '{cores}' exceeded.  Limit: 24.0 in region {region}."),
    Trouble.ADDRESSES: (
        "IP_SPACE_EXHAUSTED_WITH_DETAILS",
        "IP space of 'projects/{project}/regions/{region}/subnetworks/nodes' is exhausted.",
    ),
    Trouble.PERMISSION: (
        "PERMISSIONS_ERROR",
        "Required 'compute.instances.create' permission for '{machine}'",
    ),
    Trouble.ORGANIZATION_POLICY: ("CONDITION_NOT_MET", _CONSTRAINT),
    Trouble.RESERVATION_NOT_READY: (
        "INVALID_USAGE",
        "Instance '{machine}' requires reservation to be in READY state.",
    ),
    Trouble.RESERVATION_WRONG_FAMILY: (
        "INVALID_USAGE",
        "Cannot use the VM family of {type} with an aggregate reservation of another VM family.",
    ),
    Trouble.RESERVATION_OTHER_PROJECT: (
        "INVALID_USAGE",
        "The reservation must exist in the same project as the instance.",
    ),
    Trouble.RESERVATION_AFFINITY: (
        "INVALID_USAGE",
        "Instances of {type} must use ReservationAffinity of SPECIFIC_RESERVATION.",
    ),
    Trouble.RESERVATION_WRONG: (
        "INVALID_USAGE",
        "The reservation '{reservation}' is incorrect for the requested resources.",
    ),
    Trouble.RESERVATION_MISSING: ("INVALID_USAGE", "Specified reservations [{reservation}] do not exist."),
    Trouble.RESERVATION_FULL: (
        "INVALID_USAGE",
        "Specified reservation '{reservation}' does not have available resources for the request.",
    ),
    Trouble.RESERVATION_INCOMPATIBLE: (
        "INVALID_USAGE",
        "No available resources in specified reservations [{reservation}].",
    ),
    Trouble.NO_AUTOMATIC_RESERVATION: (
        "INVALID_USAGE",
        "There is no automatic reservation matching the instance in your project.",
    ),
    Trouble.AUTOMATIC_RESERVATIONS_FULL: (
        "INVALID_USAGE",
        "All automatic reservations in your project matching the instance are fully consumed.",
    ),
    Trouble.TPU: ("CONDITION_NOT_MET", "Unsupported TPU configuration: {type}."),
    Trouble.IMAGE: ("RESOURCE_NOT_FOUND", "The resource 'projects/{project}/global/images/nodes-1' was not found"),
    Trouble.FIELD: (
        "INVALID_FIELD_VALUE",
        "Invalid value for field 'resource.disks[0].initializeParams.diskSizeGb': '5'.",
    ),
    Trouble.USAGE: ("INVALID_USAGE", "Machine type {type} can't be used with this disk."),
    Trouble.PREEMPTED: ("UNSUPPORTED_OPERATION", "Instance '{machine}' was preempted while it was created."),
    Trouble.UNKNOWN: ("INTERNAL_ERROR", "Something went wrong that nobody has seen before."),
}
