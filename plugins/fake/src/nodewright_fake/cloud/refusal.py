"""Requests that the cloud refuses."""

from typing import Any

from nodewright.api import ErrorClass, InstanceError


class RefusalError(Exception):
    """The cloud says no; becomes the body of an HTTP answer with `status`, or none at all if that is 0."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        cause: InstanceError | None = None,
        retry_after: float | None = None,
        done: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.cause = cause
        self.retry_after = retry_after
        #: Whether what was asked for is done all the same.
        self.done = done

    @property
    def body(self) -> dict[str, Any]:
        """The refusal as JSON."""
        body: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.cause is not None:
            body["cause"] = error_body(self.cause)
        if self.retry_after is not None:
            body["retryAfter"] = self.retry_after
        return body


def error_body(error: InstanceError) -> dict[str, str]:
    """Return what went wrong with a machine as JSON."""
    return {"class": error.error_class, "code": error.code, "message": error.message, "pool": error.pool}


def parse_error(body: dict[str, str]) -> InstanceError:
    """Return what `error_body` wrote."""
    return InstanceError(
        error_class=ErrorClass(body["class"]), code=body["code"], message=body["message"], pool=body["pool"]
    )


def bad_request(message: str) -> RefusalError:
    """Return the refusal of a request that makes no sense."""
    return RefusalError(400, "BAD_REQUEST", message)


def group_not_found(name: str) -> RefusalError:
    """Return the refusal for a group that is not there."""
    return RefusalError(404, "GROUP_NOT_FOUND", f"there is no node group {name!r}")


def size_limit(message: str) -> RefusalError:
    """Return the refusal of a size out of a group's bounds."""
    return RefusalError(422, "SIZE_LIMIT", message)


def foreign_instance(instance: str, group: str) -> RefusalError:
    """Return the refusal to delete a machine as one of a group that it does not belong to."""
    return RefusalError(422, "FOREIGN_INSTANCE", f"machine {instance} does not belong to group {group}")


def no_capacity(cause: InstanceError) -> RefusalError:
    """Return the refusal of machines that the cloud does not have, or may not give."""
    return RefusalError(409, cause.code, cause.message, cause=cause)
