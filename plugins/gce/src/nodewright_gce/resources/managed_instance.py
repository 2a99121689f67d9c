"""Machines of a MIG, as ``listManagedInstances`` and ``listErrors`` write them."""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from nodewright_gce.resources.resource import Resource


class ErrorInfo(Resource, frozen=True, kw_only=True):
    """Details of an error."""

    reason: str = ""
    domain: str = ""
    metadatas: Mapping[str, str] = {}


class QuotaInfo(Resource, frozen=True, kw_only=True):
    """The quota that was exceeded."""

    metric_name: str = ""
    limit_name: str = ""
    limit: float | str = 0
    dimensions: Mapping[str, str] = {}


class ErrorDetail(Resource, frozen=True, kw_only=True):
    """One detail of an error: at most one of these is set."""

    error_info: ErrorInfo | None = None
    quota_info: QuotaInfo | None = None


class AttemptError(Resource, frozen=True, kw_only=True):
    """Why the last attempt to act on a machine failed."""

    code: str = ""
    message: str = ""
    location: str = ""
    error_details: tuple[ErrorDetail, ...] = ()


class AttemptErrors(Resource, frozen=True, kw_only=True):
    """All errors of the last attempt."""

    errors: tuple[AttemptError, ...] = ()


class LastAttempt(Resource, frozen=True, kw_only=True):
    """The last attempt to act on a machine; empty if there was none, or it went well."""

    errors: AttemptErrors = AttemptErrors()


class InstanceVersion(Resource, frozen=True, kw_only=True):
    """The version that a machine is made of."""

    name: str = ""
    instance_template: str = ""


class Flexibility(Resource, frozen=True, kw_only=True):
    """What a flexible MIG chose for a machine."""

    machine_type: str = ""


class Scheduling(Resource, frozen=True, kw_only=True):
    """When a machine ends."""

    termination_timestamp: str = ""


class ManagedInstance(Resource, frozen=True, kw_only=True):
    """A machine of a MIG, which is listed before it exists."""

    name: str = ""
    #: URL; empty while the machine is queued.
    instance: str = ""
    #: Absent until the machine exists. A machine that is made anew under its name has another id.
    id: str | int = ""
    #: As ``instances.get`` writes it; empty until the machine exists.
    instance_status: str = ""
    current_action: str = "NONE"
    target_status: str = "RUNNING"
    last_attempt: LastAttempt = LastAttempt()
    version: InstanceVersion = InstanceVersion()
    properties_from_flexibility_policy: Flexibility = Flexibility()
    scheduling: Scheduling = Scheduling()


class InstanceActionDetails(Resource, frozen=True, kw_only=True):
    """The action that failed, and of which machine."""

    action: str = ""
    instance: str = ""
    version: InstanceVersion = InstanceVersion()


class MigError(Resource, frozen=True, kw_only=True):
    """An entry of a MIG's history of errors."""

    error: Annotated[AttemptError, msgspec.Meta(extra={"fields": "code,message"})] = AttemptError()
    instance_action_details: InstanceActionDetails = InstanceActionDetails()
    timestamp: str = ""
