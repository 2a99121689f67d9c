"""Resize requests: so many machines together or none, now or when they can be had."""

from nodewright_gce.resources.managed_instance import AttemptErrors
from nodewright_gce.resources.resource import Resource


class RequestAttempt(Resource, frozen=True, kw_only=True):
    """The last attempt to make the machines of a request."""

    error: AttemptErrors = AttemptErrors()


class ResizeRequestStatus(Resource, frozen=True, kw_only=True):
    """What became of a request."""

    error: AttemptErrors = AttemptErrors()
    last_attempt: RequestAttempt = RequestAttempt()


class ResizeRequest(Resource, frozen=True, kw_only=True):
    """A resize request of a MIG."""

    name: str = ""
    #: ``CREATING``, ``ACCEPTED``, ``SUCCEEDED``, ``FAILED`` or ``CANCELLED``.
    state: str = ""
    resize_by: int = 0
    status: ResizeRequestStatus = ResizeRequestStatus()
    creation_timestamp: str = ""
