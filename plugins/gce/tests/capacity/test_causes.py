"""Why machines do not come, from Google's codes and words."""

import pytest
from nodewright.api import ErrorClass
from nodewright_gce.causes import cause_of, cause_of_machine
from nodewright_gce.pools import Pool
from nodewright_gce.resources.managed_instance import (
    AttemptError,
    AttemptErrors,
    ErrorDetail,
    ErrorInfo,
    LastAttempt,
    ManagedInstance,
    QuotaInfo,
)

POOL = Pool(zone="europe-west1-b", machine_type="n2-standard-8")
DRY = str(POOL)
STOCK_OUT, QUOTA, OTHER = ErrorClass.STOCK_OUT, ErrorClass.QUOTA, ErrorClass.OTHER
PERMISSION, CONFIGURATION = ErrorClass.PERMISSION, ErrorClass.CONFIGURATION


def an_error(code, message="", *details):
    return AttemptError(code=code, message=message, error_details=details)


def a_machine(*errors, action="CREATING", status=""):
    attempt = LastAttempt(errors=AttemptErrors(errors=errors))
    return ManagedInstance(name="w-1", current_action=action, instance_status=status, last_attempt=attempt)


def told(code, message="", *details, pool=POOL):
    cause = cause_of([an_error(code, message, *details)], pool)
    assert cause is not None
    return cause.error_class, cause.code, cause.pool


@pytest.mark.scenario(18)
@pytest.mark.parametrize(
    ("code", "message", "error_class", "name", "pool"),
    [
        ("RESOURCE_POOL_EXHAUSTED", "", STOCK_OUT, "RESOURCE_POOL_EXHAUSTED", DRY),
        ("ZONE_RESOURCE_POOL_EXHAUSTED", "", STOCK_OUT, "RESOURCE_POOL_EXHAUSTED", DRY),
        ("ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", "", STOCK_OUT, "RESOURCE_POOL_EXHAUSTED", DRY),
        ("INSUFFICIENT_CAPACITY", "", STOCK_OUT, "INSUFFICIENT_CAPACITY", DRY),
        ("QUOTA_EXCEEDED", "", QUOTA, "QUOTA_EXCEEDED", ""),
        ("CPUS_QUOTA", "", QUOTA, "QUOTA_EXCEEDED", ""),
        ("IP_SPACE_EXHAUSTED", "", OTHER, "IP_SPACE_EXHAUSTED", ""),
        ("IP_SPACE_EXHAUSTED_WITH_DETAILS", "", OTHER, "IP_SPACE_EXHAUSTED", ""),
        ("PERMISSIONS_ERROR", "Required 'x' permission", PERMISSION, "PERMISSIONS_ERROR", ""),
        (
            "CONDITION_NOT_MET",
            "Constraint constraints/compute.vmExternalIpAccess violated for project 1.",
            PERMISSION,
            "VM_EXTERNAL_IP_ACCESS_POLICY_CONSTRAINT",
            "",
        ),
        ("X", "Instance requires reservation to be in READY state.", OTHER, "RESERVATION_NOT_READY", ""),
        ("X", "Wrong VM family for aggregate reservation r.", CONFIGURATION, "INVALID_RESERVATION", ""),
        ("X", "The reservation must exist in the same project.", CONFIGURATION, "INVALID_RESERVATION", ""),
        ("X", "It must use ReservationAffinity of SPECIFIC.", CONFIGURATION, "INVALID_RESERVATION", ""),
        ("X", "The workload_type differs.", CONFIGURATION, "INVALID_RESERVATION", ""),
        ("X", "Reservation r is incorrect for the requested resources", CONFIGURATION, "INVALID_RESERVATION", ""),
        (
            "X",
            "Zone does not currently have sufficient capacity for the requested resources",
            STOCK_OUT,
            "RESOURCE_POOL_EXHAUSTED",
            DRY,
        ),
        ("X", "Specified reservations [r] do not exist.", CONFIGURATION, "RESERVATION_NOT_FOUND", ""),
        ("X", "Specified reservation 'r' does not exist.", CONFIGURATION, "RESERVATION_NOT_FOUND", ""),
        (
            "X",
            "Specified reservation 'paid-1' does not have available resources for the request.",
            STOCK_OUT,
            "RESERVATION_CAPACITY_EXCEEDED",
            "europe-west1-b/reservation:paid-1",
        ),
        (
            "X",
            "Specified reservations [projects/p/reservations/paid] do not have available resources for the request.",
            STOCK_OUT,
            "RESERVATION_CAPACITY_EXCEEDED",
            "europe-west1-b/reservation:paid",
        ),
        ("X", "No available resources in specified reservations", CONFIGURATION, "RESERVATION_INCOMPATIBLE", ""),
        (
            "CONDITION_NOT_MET",
            "Unsupported TPU configuration: v5",
            CONFIGURATION,
            "UNSUPPORTED_TPU_CONFIGURATION",
            "",
        ),
        (
            "X",
            "There is no automatic reservation matching the instance in your project",
            CONFIGURATION,
            "AUTOMATIC_RESERVATIONS_NOT_AVAILABLE",
            "",
        ),
        (
            "X",
            "All automatic reservations in your project matching it are fully consumed",
            STOCK_OUT,
            "AUTOMATIC_RESERVATIONS_NO_CAPACITY",
            "",
        ),
        ("RESOURCE_NOT_FOUND", "no image", CONFIGURATION, "RESOURCE_NOT_FOUND", ""),
        ("INVALID_FIELD_VALUE", "", CONFIGURATION, "INVALID_FIELD_VALUE", ""),
        ("INVALID_USAGE", "", CONFIGURATION, "INVALID_USAGE", ""),
        ("REGION_RESOURCE_POOL_EXHAUSTED", "", STOCK_OUT, "RESOURCE_POOL_EXHAUSTED", DRY),
        ("GPU_STOCKOUT", "", STOCK_OUT, "GPU_STOCKOUT", DRY),
        ("insufficientCapacity", "", STOCK_OUT, "insufficientCapacity", DRY),
        ("UNSUPPORTED_OPERATION", "the instance was preempted", STOCK_OUT, "UNSUPPORTED_OPERATION", DRY),
        ("UNSUPPORTED_OPERATION", "it is a mystery", OTHER, "UNSUPPORTED_OPERATION", ""),
        ("CONDITION_NOT_MET", "another condition", OTHER, "CONDITION_NOT_MET", ""),
        ("INTERNAL_ERROR", "", OTHER, "INTERNAL_ERROR", ""),
    ],
)
def test_codes_and_words_have_a_meaning(code, message, error_class, name, pool) -> None:
    assert told(code, message) == (error_class, name, pool)


@pytest.mark.parametrize("code", ["", "web-1a2b", "x" * 70])
def test_a_code_that_may_hold_an_id_is_not_told(code) -> None:
    assert told(code, "something")[:2] == (OTHER, "OTHER")


@pytest.mark.scenario(19)
def test_an_unknown_error_of_a_machine_that_has_got_further_is_none() -> None:
    assert cause_of_machine(a_machine(an_error("WHATEVER"), status="RUNNING"), POOL) is None


@pytest.mark.scenario(19)
@pytest.mark.parametrize("status", ["", "PENDING", "PROVISIONING", "STAGING"])
def test_an_unknown_error_of_a_machine_that_does_not_run_yet_counts(status) -> None:
    cause = cause_of_machine(a_machine(an_error("WHATEVER", "it broke"), status=status), POOL)
    assert cause is not None
    assert (cause.error_class, cause.code, cause.message) == (OTHER, "WHATEVER", "it broke")


@pytest.mark.parametrize("code", ["INVALID_FIELD_VALUE", "RESOURCE_NOT_FOUND", "GPU_STOCKOUT"])
def test_errors_of_machines_in_the_making_are_none_of_a_machine_that_has_got_further(code) -> None:
    machine = a_machine(an_error(code), action="RECREATING", status="RUNNING")
    assert cause_of_machine(machine, POOL) is None


def test_a_known_error_counts_however_far_the_machine_has_got() -> None:
    cause = cause_of_machine(a_machine(an_error("INSUFFICIENT_CAPACITY"), status="RUNNING"), POOL)
    assert cause is not None


@pytest.mark.parametrize("action", ["NONE", "DELETING", "VERIFYING", "RESTARTING", "STOPPING"])
def test_only_machines_that_are_to_come_have_failed(action) -> None:
    assert cause_of_machine(a_machine(an_error("INSUFFICIENT_CAPACITY"), action=action), POOL) is None


@pytest.mark.parametrize("action", ["CREATING", "CREATING_WITHOUT_RETRIES", "RECREATING"])
def test_machines_that_are_made_in_any_way_may_fail(action) -> None:
    assert cause_of_machine(a_machine(an_error("INSUFFICIENT_CAPACITY"), action=action), POOL) is not None


@pytest.mark.scenario(20)
def test_an_error_that_is_not_known_does_not_hide_a_known_one_before_it() -> None:
    cause = cause_of_machine(
        a_machine(an_error("ZONE_RESOURCE_POOL_EXHAUSTED", "dry"), an_error("WHATEVER", "odd")), POOL
    )
    assert cause is not None
    assert (cause.error_class, cause.pool, cause.message) == (STOCK_OUT, DRY, "dry; odd")


def test_the_last_of_several_known_errors_decides() -> None:
    cause = cause_of([an_error("ZONE_RESOURCE_POOL_EXHAUSTED", "dry"), an_error("PERMISSIONS_ERROR", "no")], POOL)
    assert cause is not None
    assert (cause.error_class, cause.pool) == (PERMISSION, "")


@pytest.mark.scenario(21)
def test_without_errors_there_is_no_cause() -> None:
    assert cause_of_machine(a_machine(), POOL) is None


def test_details_name_the_pool_better_than_the_group_does() -> None:
    info = ErrorInfo(metadatas={"zone": "europe-west1-c", "vmType": "n2-standard-4", "attachment": ""})
    pool = told("ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", "", ErrorDetail(error_info=info))[2]
    assert pool == "europe-west1-c/n2-standard-4"


def test_a_stock_out_of_what_is_attached_does_not_empty_the_pool_of_plain_machines() -> None:
    info = ErrorInfo(metadatas={"zone": "europe-west1-b", "vmType": "n1-standard-8", "attachment": "nvidia-tesla-t4:1"})
    pool = told("ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", "", ErrorDetail(error_info=info))[2]
    assert pool == ""


def test_a_pool_that_is_known_only_in_part_is_not_named() -> None:
    assert told("INSUFFICIENT_CAPACITY", pool=Pool(zone="europe-west1-b"))[2] == ""
    assert told("INSUFFICIENT_CAPACITY", pool=Pool(zone="", machine_type="n2-standard-8"))[2] == ""


def test_the_pool_of_spot_machines_is_another() -> None:
    spot = Pool(zone="europe-west1-b", machine_type="n2-standard-8", spot=True)
    assert told("INSUFFICIENT_CAPACITY", pool=spot)[2] == "europe-west1-b/n2-standard-8/spot"


def test_a_reservation_that_is_not_named_is_the_one_that_the_group_is_bound_to() -> None:
    bound = Pool(zone="europe-west1-b", machine_type="n2-standard-8", reservation="paid")
    message = "Specified reservations: do not have available resources for the request."
    assert told("X", message, pool=bound)[2] == "europe-west1-b/reservation:paid"


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("Quota 'N2_CPUS' exceeded.  Limit: 24.0 in region europe-west1.", "europe-west1/N2_CPUS"),
        ("Quota 'CPUS_ALL_REGIONS' exceeded.  Limit: 32.0 globally.", "global/CPUS_ALL_REGIONS"),
        ("There is too much of it.", ""),
    ],
)
def test_a_quota_is_named_as_groups_name_what_they_take_of_it(message, name) -> None:
    assert told("QUOTA_EXCEEDED", message)[2] == name


def test_a_quota_is_named_by_its_details_and_its_limit_told_if_the_message_does_not() -> None:
    info = QuotaInfo(
        metric_name="compute.googleapis.com/n2_cpus",
        limit_name="N2-CPUS-per-project-region",
        limit=24.0,
        dimensions={"region": "europe-west1"},
    )
    cause = cause_of([an_error("QUOTA_EXCEEDED", "Too much.", ErrorDetail(quota_info=info))], POOL)
    assert cause is not None
    assert cause.pool == "europe-west1/N2_CPUS"
    assert cause.message == "Too much. (the limit of N2-CPUS-per-project-region is 24 in europe-west1)"


def test_a_quota_of_a_family_of_machines_is_named_with_it() -> None:
    info = QuotaInfo(
        limit_name="CPUS-PER-VM-FAMILY-per-project-region",
        limit=8,
        dimensions={"region": "europe-west1", "vm_family": "C4"},
    )
    pool = told("QUOTA_EXCEEDED", "Too much.", ErrorDetail(quota_info=info))[2]
    assert pool == "europe-west1/CPUS_PER_VM_FAMILY/C4"
