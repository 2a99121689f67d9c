"""Refusals of Google, as errors of the contract."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import msgspec
from nodewright.api import (
    AccessDeniedError,
    CapacityError,
    CloudUnavailableError,
    ErrorClass,
    GroupNotFoundError,
    InstanceError,
    NodewrightError,
    PermanentError,
    TemporaryError,
    ThrottledError,
)

from nodewright_gce.calls.connections import Answer
from nodewright_gce.calls.rights import right_of
from nodewright_gce.resources.managed_instance import AttemptError
from nodewright_gce.resources.operation import Operation
from nodewright_gce.resources.resource import Resource

_THROTTLED = frozenset(
    {"RATE_LIMIT_EXCEEDED", "rateLimitExceeded", "userRateLimitExceeded", "RESOURCE_EXHAUSTED", "concurrentLimit"}
)
_QUOTA = frozenset({"quotaExceeded", "QUOTA_EXCEEDED"})
_DISABLED = frozenset({"accessNotConfigured", "SERVICE_DISABLED", "CONSUMER_INVALID", "BILLING_DISABLED"})
_SCOPES = frozenset({"ACCESS_TOKEN_SCOPE_INSUFFICIENT", "insufficientPermissions"})
_BUSY = frozenset({"resourceNotReady", "resourceInUseByAnotherResource", "resourceInUse", "operationInProgress"})

_STOCK_OUT = frozenset(
    {
        "GPU_STOCKOUT",
        "INSUFFICIENT_CAPACITY",
        "REGION_RESOURCE_POOL_EXHAUSTED",
        "REGION_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
        "RESOURCE_POOL_EXHAUSTED",
        "ZONE_RESOURCE_POOL_EXHAUSTED",
        "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
        "insufficientCapacity",
    }
)
_MISCONFIGURED = frozenset({"INVALID_FIELD_VALUE", "INVALID_USAGE", "RESOURCE_NOT_FOUND"})
#: ``Quota 'N2_CPUS' exceeded.  Limit: 24.0 in region us-central1.``
_METRIC = re.compile(r"Quota '([\w-]+)' exceeded")
_REGION = re.compile(r"in region ([a-z0-9-]+)")
#: Looks like a token or a key.
_SECRET = re.compile(r"ya29\.[\w.-]+|eyJ[\w-]+\.[\w.-]+|-----BEGIN.*", re.S)
#: Length of a message that may not come from Google.
_LONGEST = 200


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call, as messages and metrics name it."""

    #: As metrics of Cluster Autoscaler: ``instance_group_managers`` and ``list_managed_instances``.
    resource: str
    verb: str
    #: What it is about, such as ``projects/P/zones/Z/instanceGroupManagers/NAME``.
    path: str

    @property
    def permission(self) -> str:
        """The permission that it needs."""
        return right_of(self.resource, self.verb).permission

    def __str__(self) -> str:
        return f"{_camel(self.resource)}.{_camel(self.verb)} of {self.path}"


class _Reason(Resource, frozen=True, kw_only=True):
    reason: str = ""
    message: str = ""


class _Detail(Resource, frozen=True, kw_only=True):
    reason: str = ""
    metadata: Mapping[str, object] = {}


class _Error(Resource, frozen=True, kw_only=True):
    message: str = ""
    status: str = ""
    errors: tuple[_Reason, ...] = ()
    details: tuple[_Detail, ...] = ()


class _Body(Resource, frozen=True, kw_only=True):
    error: _Error = _Error()


def reasons_of(answer: Answer) -> tuple[str, ...]:
    """Return the reasons of a refusal in Google's words, the most exact one first; none if it is not Google's."""
    error = _read(answer)
    found = [*(each.reason for each in error.details), *(each.reason for each in error.errors), error.status]
    return tuple(reason for reason in found if reason)


def refusal(answer: Answer, call: Call, now: datetime) -> NodewrightError:
    """Return what an answer with a status from 300 on means; *now* tells when a rate quota begins anew."""
    reasons = frozenset(reasons_of(answer))
    text = _sentence(answer)
    if reasons & _QUOTA:
        return CapacityError(_quota_error(_read(answer).message or text, "", {}))
    if answer.status == 429 or reasons & _THROTTLED:
        return ThrottledError(f"Google asks for fewer calls: {call}: {text}", retry_after=_pause(answer, now))
    if answer.status == 401:
        return AccessDeniedError(
            f"Google does not accept the credentials ({call}): {text}; renew them, and look at the clock", status=401
        )
    if answer.status >= 500 or not reasons:
        return CloudUnavailableError(f"Google could not answer {call}: {text}")
    if answer.status == 403:
        return _denied(reasons, call, text)
    if answer.status == 404:
        if "instanceGroupManagers/" in call.path:
            return GroupNotFoundError(f"Google knows no group {call.path}: {text}; correct its URL, or leave it out")
        return PermanentError(f"Google finds nothing for {call}: {text}; correct project, zone or name")
    if answer.status == 412:
        return TemporaryError(f"somebody else changed the group first ({call}): {text}")
    if answer.status in (408, 409) or reasons & _BUSY:
        return TemporaryError(f"Google can't do this now: {call}: {text}")
    return PermanentError(f"Google refuses {call}: {text}")


def failure(operation: Operation, call: Call) -> NodewrightError | None:
    """Return why a change failed that was accepted at first; None if it did not."""
    if not operation.error.errors:
        return None
    what = operation.operation_type.removeprefix("compute.") or str(call)
    first = operation.error.errors[0]
    cause = class_of(first.code)
    text = f"{shown(first.message)} ({first.code})"
    if cause in (ErrorClass.STOCK_OUT, ErrorClass.QUOTA):
        return CapacityError(error_of(first, cause))
    if cause is ErrorClass.PERMISSION:
        return AccessDeniedError(f"{what} failed: {text}; give Google's own service agent what it lacks")
    if cause is ErrorClass.CONFIGURATION:
        return PermanentError(f"{what} failed: {text}; correct the group or its template")
    return TemporaryError(f"{what} failed: {text}")


def class_of(code: str) -> ErrorClass | None:
    """Return what a code of an operation or of a machine's last attempt means; None if the code alone does not tell."""
    if code in _STOCK_OUT:
        return ErrorClass.STOCK_OUT
    if "QUOTA" in code:
        return ErrorClass.QUOTA
    if "PERMISSIONS_ERROR" in code:
        return ErrorClass.PERMISSION
    if code in _MISCONFIGURED:
        return ErrorClass.CONFIGURATION
    return None


def error_of(error: AttemptError, error_class: ErrorClass) -> InstanceError:
    """Return *error* as one of the contract; with class Quota, its pool is the quota: ``REGION/METRIC``."""
    if error_class is ErrorClass.QUOTA:
        info = next((detail.quota_info for detail in error.error_details if detail.quota_info), None)
        # ``N2-CPUS-per-project-region`` is the quota N2_CPUS.
        metric = info.limit_name.partition("-per-project")[0].replace("-", "_") if info else ""
        return _quota_error(error.message, metric, info.dimensions if info else {})
    return InstanceError(error_class=error_class, code=error.code, message=shown(error.message))


def next_minute(now: datetime) -> float:
    """Return the seconds until rate quotas begin anew: they count by full minutes."""
    return 60 - now.second - now.microsecond / 1e6


def shown(text: str) -> str:
    """Return *text* fit for messages: one line, without what looks like a secret."""
    return _SECRET.sub("…", " ".join(text.split())).rstrip(".")


def _camel(name: str) -> str:
    """A name of metrics as Google writes it."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _quota_error(message: str, metric: str, dimensions: Mapping[str, str]) -> InstanceError:
    found = _METRIC.search(message)
    metric = found[1] if found else metric
    place = _REGION.search(message)
    region = dimensions.get("region") or (place[1].rstrip(".") if place else "")
    return InstanceError(
        error_class=ErrorClass.QUOTA,
        code="QUOTA_EXCEEDED",
        message=f"{shown(message)}; ask Google for more of it, or take other machines",
        pool=f"{region}/{metric}" if region and metric else "",
    )


def _denied(reasons: frozenset[str], call: Call, text: str) -> AccessDeniedError:
    if reasons & _SCOPES:
        return AccessDeniedError(
            f"the token's scopes do not allow {call}: {text}; give the machine the scope cloud-platform or compute-rw, "
            "or the pod an account of its own by workload identity",
            status=403,
        )
    if reasons & _DISABLED:
        return AccessDeniedError(
            f"the project may not use the API for {call}: {text}; enable the API, and billing, for it", status=403
        )
    allow = f"; allow {call.permission} in the role of the account" if call.permission else ""
    return AccessDeniedError(f"Google does not allow {call}: {text}{allow}", status=403)


def _read(answer: Answer) -> _Error:
    try:
        return msgspec.json.decode(answer.data, type=_Body).error
    except msgspec.MsgspecError:
        return _Error()


def _sentence(answer: Answer) -> str:
    reasons = reasons_of(answer)
    if not reasons:
        # A page of a proxy is long and useless.
        return f"status {answer.status} in a form that is not Google's: see what is at that endpoint, or on the way"
    message = shown(_read(answer).message)[:_LONGEST]
    return f"{message} ({reasons[0]})" if message else reasons[0]


def _pause(answer: Answer, now: datetime) -> float:
    wanted = answer.headers.get("retry-after", "")
    return float(wanted) if re.fullmatch(r"\d+(\.\d+)?", wanted) else next_minute(now)
