"""Faults of calls, whatever they ask for."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from threading import Lock

from nodewright_aws.testing.messages import HangUpError, RefusalError, Reply, Request
from nodewright_aws.testing.wire import write_refusal

_ANSWERS_KEPT = 256


@dataclass(kw_only=True)
class Fault:
    """A fault of calls to an operation, until it is healed or for so many *times*."""

    #: ``service:operation`` as boto3 names them, with ``*`` and ``|``.
    calls: str
    #: Called with the request and what answers it.
    happen: Callable[[Request, Callable[[Request], Reply]], Reply]
    times: int | None = None
    #: How many calls succeed before.
    spared: int = 0

    def takes(self, request: Request) -> bool:
        """Count a call and tell whether it fails."""
        name = f"{request.service}:{request.operation}"
        if self.times == 0 or not any(fnmatchcase(name, pattern) for pattern in self.calls.split("|")):
            return False
        if self.spared > 0:
            self.spared -= 1
            return False
        if self.times is not None:
            self.times -= 1
        return True


class Faults:
    """The present faults; of several faults of a call, the newest counts.

    *calls* are named as ``autoscaling:set_desired_capacity``, ``ec2:*``, ``sqs:*|sts:*`` or ``*``. Each fault stays
    until `heal`, or for so many *times*.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._faults: list[Fault] = []
        self._last: OrderedDict[tuple[str, str, bytes], Reply] = OrderedDict()

    def heal(self, calls: str = "*") -> None:
        """Remove the faults with that name, or all."""
        self._faults = [fault for fault in self._faults if not fnmatchcase(fault.calls, calls)]

    def throttle(self, calls: str = "*", *, times: int | None = None) -> Fault:
        """Refuse calls as too many."""
        return self._add(calls, times, _refuse_as(throttling))

    def deny(self, calls: str, *, times: int | None = None) -> Fault:
        """Refuse calls for lack of a permission."""
        return self._add(calls, times, _refuse_as(denial))

    def expire(self, calls: str = "*", *, times: int | None = None) -> Fault:
        """Refuse the credentials as expired."""
        return self._add(calls, times, _refuse_as(expiry))

    def fail(self, calls: str = "*", *, times: int | None = None, status: int = 503) -> Fault:
        """Answer with an error of AWS itself."""
        refusal = RefusalError("ServiceUnavailable" if status == 503 else "InternalFailure", "Please try again.")
        refusal.status = status
        return self._add(calls, times, _refuse_as(lambda request: refusal))

    def refuse(self, calls: str, code: str, message: str, *, times: int | None = None, status: int = 400) -> Fault:
        """Refuse calls with any code and message."""
        refusal = RefusalError(code, message, status=status)
        return self._add(calls, times, _refuse_as(lambda request: refusal))

    def drop(self, calls: str = "*", *, times: int | None = None, after: bool = False) -> Fault:
        """Close the connection without an answer: before the call takes effect, or *after*."""

        def happen(request: Request, answer: Callable[[Request], Reply]) -> Reply:
            if after:
                answer(request)
            raise HangUpError

        return self._add(calls, times, happen)

    def slow(self, calls: str = "*", *, seconds: float, times: int | None = None) -> Fault:
        """Answer late, by so many *seconds* of real time."""

        def happen(request: Request, answer: Callable[[Request], Reply]) -> Reply:
            time.sleep(seconds)
            return answer(request)

        return self._add(calls, times, happen)

    def garble(self, calls: str = "*", *, times: int | None = None) -> Fault:
        """Answer with a page that no client can parse, as a proxy might."""
        page = Reply(status=502, body=b"<html><body>Bad Gateway</body></html>", headers={"Content-Type": "text/html"})
        return self._add(calls, times, lambda request, answer: page)

    def stale(self, calls: str = "autoscaling:describe_*", *, times: int | None = None) -> Fault:
        """Repeat the previous answer to the same call, as replicas of AWS do that lag behind."""

        def happen(request: Request, answer: Callable[[Request], Reply]) -> Reply:
            return self._last.get(_key(request)) or answer(request)

        return self._add(calls, times, happen)

    def around(self, request: Request, answer: Callable[[Request], Reply]) -> Reply:
        """Answer a call, or not."""
        with self._lock:
            fault = next((fault for fault in reversed(self._faults) if fault.takes(request)), None)
        if fault is not None:
            return fault.happen(request, answer)
        reply = answer(request)
        with self._lock:
            self._last[_key(request)] = reply
            if len(self._last) > _ANSWERS_KEPT:
                self._last.popitem(last=False)
        return reply

    def _add(
        self, calls: str, times: int | None, happen: Callable[[Request, Callable[[Request], Reply]], Reply]
    ) -> Fault:
        fault = Fault(calls=calls, times=times, happen=happen)
        self._faults.append(fault)
        return fault


def throttling(request: Request) -> RefusalError:
    """A service's refusal of too many calls."""
    if request.service == "ec2":
        return RefusalError("RequestLimitExceeded", "Request limit exceeded.", status=503)
    code = "Throttling" if request.service in ("autoscaling", "sts") else "ThrottlingException"
    return RefusalError(code, "Rate exceeded")


def denial(request: Request) -> RefusalError:
    """A service's refusal for lack of a permission."""
    action = f"{request.service}:{request.operation.title().replace('_', '')}"
    who = "User: arn:aws:sts::100000000000:assumed-role/nodewright/session"
    if request.service == "ec2":
        return RefusalError(
            "UnauthorizedOperation", f"You are not authorized to perform this operation. {who} {action}", status=403
        )
    code = "AccessDenied" if request.service in ("autoscaling", "sts", "sqs") else "AccessDeniedException"
    return RefusalError(
        code,
        f"{who} is not authorized to perform: {action} because no identity-based policy allows the {action} action",
        status=403,
    )


def expiry(request: Request) -> RefusalError:
    """A service's refusal of expired credentials."""
    message = "The security token included in the request is expired"
    if request.service == "ec2":
        return RefusalError("RequestExpired", "Request has expired.")
    code = "ExpiredToken" if request.service in ("autoscaling", "sts") else "ExpiredTokenException"
    return RefusalError(code, message, status=403)


def _refuse_as(
    refusal: Callable[[Request], RefusalError],
) -> Callable[[Request, Callable[[Request], Reply]], Reply]:
    return lambda request, answer: write_refusal(request, refusal(request))


def _key(request: Request) -> tuple[str, str, bytes]:
    return request.operation, request.path, request.body
