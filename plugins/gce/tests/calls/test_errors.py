"""Refusals of Google in the words of the contract."""

import json
from datetime import UTC, datetime

import pytest
from nodewright.api import (
    AccessDeniedError,
    CapacityError,
    CloudUnavailableError,
    ErrorClass,
    GroupNotFoundError,
    PermanentError,
    TemporaryError,
    ThrottledError,
)
from nodewright_gce.calls.connections import Answer
from nodewright_gce.calls.errors import Call, failure, refusal
from nodewright_gce.resources.managed_instance import (
    AttemptError,
    AttemptErrors,
    ErrorDetail,
    QuotaInfo,
)
from nodewright_gce.resources.operation import Operation

NOW = datetime(2030, 1, 1, 12, 0, 48, tzinfo=UTC)
RESIZE = Call(
    resource="instance_group_managers", verb="resize", path="projects/p/zones/z/instanceGroupManagers/workers"
)
LIST = Call(resource="instance_group_managers", verb="list", path="projects/p/zones/z")
PAGE = b"<html><title>502</title><body>" + 2000 * b"proxy " + b"</body></html>"


def answer(status, reason="", message="No.", *, grpc="", detail="", headers=None, body=None):
    error = {"code": status, "message": message, "status": grpc, "errors": [{"reason": reason, "message": message}]}
    if detail:
        error["details"] = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": detail, "metadata": {}}]
    data = json.dumps({"error": error}).encode() if body is None else body
    return Answer(status=status, headers=headers or {}, data=data)


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        (answer(403, "rateLimitExceeded", grpc="PERMISSION_DENIED", detail="RATE_LIMIT_EXCEEDED"), ThrottledError),
        (answer(403, "userRateLimitExceeded"), ThrottledError),
        (answer(429, "anything"), ThrottledError),
        (answer(403, "quotaExceeded"), CapacityError),
        (answer(403, "forbidden", grpc="PERMISSION_DENIED"), AccessDeniedError),
        (answer(403, "accessNotConfigured", detail="SERVICE_DISABLED"), AccessDeniedError),
        (answer(401, "authError", grpc="UNAUTHENTICATED"), AccessDeniedError),
        (answer(404, "notFound"), GroupNotFoundError),
        (answer(409, "resourceInUseByAnotherResource"), TemporaryError),
        (answer(412, "conditionNotMet"), TemporaryError),
        (answer(400, "resourceNotReady"), TemporaryError),
        (answer(400, "invalid"), PermanentError),
        (answer(503, "backendError"), CloudUnavailableError),
        (answer(502, body=PAGE), CloudUnavailableError),
        (answer(404, body=PAGE), CloudUnavailableError),
        (answer(403, body=b""), CloudUnavailableError),
        (answer(302, body=b""), CloudUnavailableError),
    ],
)
def test_a_refusal_is_of_the_kind_that_its_reason_says(told, kind) -> None:
    assert type(refusal(told, RESIZE, NOW)) is kind


def test_a_message_says_what_happened_to_what_and_what_to_do() -> None:
    denied = answer(403, "forbidden", "Required 'compute.instanceGroupManagers.update' permission.")

    assert str(refusal(denied, RESIZE, NOW)) == (
        "Google does not allow instanceGroupManagers.resize of projects/p/zones/z/instanceGroupManagers/workers: "
        "Required 'compute.instanceGroupManagers.update' permission (forbidden); allow "
        "compute.instanceGroupManagers.update in the role of the account"
    )


def test_the_permission_to_allow_is_the_one_that_google_names() -> None:
    denied = answer(403, "forbidden", "Required 'iam.serviceAccounts.actAs' permission for 'projects/p'")

    assert str(refusal(denied, RESIZE, NOW)).endswith("allow iam.serviceAccounts.actAs in the role of the account")


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (answer(403, "rateLimitExceeded", "Quota exceeded."), "asks for fewer calls: instanceGroupManagers.resize of"),
        (answer(403, detail="ACCESS_TOKEN_SCOPE_INSUFFICIENT"), "give the machine the scope cloud-platform"),
        (answer(403, "accessNotConfigured"), "enable the API, and billing"),
        (answer(401, "authError"), "renew them, and look at the clock"),
        (answer(502, body=PAGE), "status 502 in a form that is not Google's: see what is at that endpoint"),
    ],
)
def test_a_message_says_what_to_do(told, words) -> None:
    message = str(refusal(told, RESIZE, NOW))

    assert words in message
    assert len(message) < 400


def test_a_zone_that_is_not_found_is_no_group_that_is_not_found() -> None:
    error = refusal(answer(404, "notFound", "Unknown zone."), LIST, NOW)

    assert type(error) is PermanentError
    assert "correct project, zone or name" in str(error)


def test_rate_quotas_begin_anew_with_the_full_minute() -> None:
    error = refusal(answer(403, "rateLimitExceeded"), LIST, NOW)

    assert isinstance(error, ThrottledError)
    assert error.retry_after == 12


@pytest.mark.parametrize(("header", "seconds"), [("30", 30), ("Wed, 21 Oct 2026 07:28:00 GMT", 12), ("-1", 12)])
def test_a_time_to_wait_is_kept_to_if_it_is_a_number(header, seconds) -> None:
    error = refusal(answer(429, "rateLimitExceeded", headers={"retry-after": header}), LIST, NOW)

    assert isinstance(error, ThrottledError)
    assert error.retry_after == seconds


def test_no_message_repeats_a_token() -> None:
    error = refusal(answer(403, "forbidden", "Bearer ya29.a0-SECRET_x is not allowed"), LIST, NOW)

    assert "SECRET" not in str(error)
    assert "Bearer … is not allowed" in str(error)


@pytest.mark.scenario(13)
@pytest.mark.parametrize(
    ("code", "kind", "error_class"),
    [
        ("ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", CapacityError, ErrorClass.STOCK_OUT),
        ("QUOTA_EXCEEDED", CapacityError, ErrorClass.QUOTA),
        ("PERMISSIONS_ERROR", CapacityError, ErrorClass.PERMISSION),
        ("INVALID_FIELD_VALUE", CapacityError, ErrorClass.CONFIGURATION),
        ("INTERNAL_ERROR", CapacityError, ErrorClass.OTHER),
        ("RESOURCE_ALREADY_EXISTS", TemporaryError, None),
    ],
)
def test_growth_that_ends_with_an_error_is_a_lack_of_capacity_unless_it_may_soon_succeed(
    code, kind, error_class
) -> None:
    operation = Operation(
        status="DONE",
        operation_type="compute.instanceGroupManagers.createInstances",
        error=AttemptErrors(errors=(AttemptError(code=code, message="Why."),)),
    )

    error = failure(operation, RESIZE)
    assert type(error) is kind
    assert not isinstance(error, CapacityError) or error.cause.error_class is error_class


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("PERMISSIONS_ERROR", AccessDeniedError),
        ("INVALID_FIELD_VALUE", PermanentError),
        ("INTERNAL_ERROR", TemporaryError),
    ],
)
def test_a_deletion_that_ends_with_an_error_is_a_failure_of_that_kind(code, kind) -> None:
    operation = Operation(
        status="DONE",
        operation_type="compute.instanceGroupManagers.deleteInstances",
        error=AttemptErrors(errors=(AttemptError(code=code, message="Why."),)),
    )

    assert type(failure(operation, RESIZE)) is kind


def test_an_operation_may_fail_with_a_status_and_no_error() -> None:
    operation = Operation(status="DONE", http_error_status_code=500, http_error_message="INTERNAL")

    error = failure(operation, RESIZE)
    assert type(error) is TemporaryError
    assert "INTERNAL (500)" in str(error)


def test_an_operation_without_an_error_is_none() -> None:
    assert failure(Operation(status="RUNNING"), RESIZE) is None


@pytest.mark.parametrize(
    "error",
    [
        AttemptError(code="QUOTA_EXCEEDED", message="Quota 'N2_CPUS' exceeded.  Limit: 24.0 in region europe-west1."),
        AttemptError(
            code="QUOTA_EXCEEDED",
            message="No more.",
            error_details=(
                ErrorDetail(
                    quota_info=QuotaInfo(
                        metric_name="compute.googleapis.com/n2_cpus",
                        limit_name="N2-CPUS-per-project-region",
                        dimensions={"region": "europe-west1"},
                    )
                ),
            ),
        ),
    ],
)
def test_a_quota_is_named_by_region_and_metric(error) -> None:
    told = failure(Operation(status="DONE", error=AttemptErrors(errors=(error,))), RESIZE)

    assert isinstance(told, CapacityError)
    assert told.cause.pool == "europe-west1/N2_CPUS"
