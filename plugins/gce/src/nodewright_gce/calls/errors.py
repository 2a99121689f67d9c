"""Refusals of Google, as errors of the contract."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
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
from nodewright_gce.causes import cause_of
from nodewright_gce.pools import Pool
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

#: Codes of operations: the same may succeed later.
_PASSING = frozenset({"RESOURCE_ALREADY_EXISTS", "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE", "RESOURCE_NOT_READY"})
#: Kinds of operations that make machines.
_GROWTH = re.compile(r"createInstances|resize", re.IGNORECASE)
#: Looks like a token or a key.
_SECRET = re.compile(r"ya29\.[\w.-]+|eyJ[\w-]+\.[\w.-]+|-----BEGIN.*", re.S)
#: In Google's words, which count more than what its documentation says of a call.
_PERMISSION = re.compile(r"'(\w+\.\w+\.\w+)' permission")
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
        return CapacityError(_quota_error(_read(answer).message or text))
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
    """Return why a change failed that was accepted at first; None if it did not.

    Growth that fails is a `CapacityError` whatever the reason, unless it may soon succeed.
    """
    errors = operation.error.errors
    kind = operation.operation_type.removeprefix("compute.") or str(call)
    if not errors and operation.http_error_status_code:
        return TemporaryError(
            f"{kind} failed: {shown(operation.http_error_message)} ({operation.http_error_status_code})"
        )
    if not errors:
        return None
    text = f"{kind} failed: {shown(errors[-1].message)} ({errors[-1].code})"
    cause = cause_of(errors, Pool(zone=""))
    if cause is None or errors[-1].code in _PASSING:
        return TemporaryError(text)
    if _GROWTH.search(kind):
        return CapacityError(replace(cause, message=shown(cause.message)))
    if cause.error_class is ErrorClass.PERMISSION:
        return AccessDeniedError(f"{text}; give Google's own service agent what it lacks")
    if cause.error_class is ErrorClass.CONFIGURATION:
        return PermanentError(f"{text}; correct the group or its template")
    return TemporaryError(text)


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


def _quota_error(message: str) -> InstanceError:
    error = AttemptError(code="QUOTA_EXCEEDED", message=message)
    advice = f"{shown(message)}; ask Google for more of it, or take other machines"
    cause = cause_of([error], Pool(zone=""))
    return replace(cause, message=advice) if cause else InstanceError(error_class=ErrorClass.QUOTA, code=error.code)


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
    named = _PERMISSION.search(text)
    permission = named[1] if named else call.permission
    allow = f"; allow {permission} in the role of the account" if permission else ""
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
