"""Faults of calls, whatever they ask for."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from threading import Lock

from nodewright_gce.calls.rights import right_of
from nodewright_gce.testing.messages import HangUpError, RefusalError, Reply, Request
from nodewright_gce.testing.wire import write_refusal

_ANSWERS_KEPT = 256
_LOCAL = ("metadata:", "oauth:")


@dataclass(kw_only=True)
class Fault:
    """A fault of calls to an operation, until it is healed or for so many *times*."""

    #: ``resource:verb`` as `GceDouble.calls` has them, or ``resource:verb@place``, with ``*`` and ``|``.
    calls: str
    #: Called with the request and what answers it.
    happen: Callable[[Request, Callable[[Request], Reply]], Reply]
    times: int | None = None
    #: How many calls succeed before.
    spared: int = 0

    def concerns(self, name: str) -> bool:
        """Whether calls of that name and place may fail, such as ``instance_group_managers:list@europe-west1-b``."""
        # A machine has its metadata server to itself: what is wrong with the cloud does not concern it.
        patterns = [each for each in self.calls.split("|") if each[0] != "*" or not name.startswith(_LOCAL)]
        return any(fnmatchcase(name, each if "@" in each else f"{each}@*") for each in patterns)

    def takes(self, request: Request) -> bool:
        """Count a call and tell whether it fails."""
        call = request.call
        if self.times == 0 or not self.concerns(f"{call}@{call.place.name if call.place else ''}"):
            return False
        if self.spared > 0:
            self.spared -= 1
            return False
        if self.times is not None:
            self.times -= 1
        return True


class Faults:
    """The present faults; of several faults of a call, the newest counts.

    *calls* are named as ``instance_group_managers:list``, ``zone_operations:*|regions:get``, ``*@europe-west1-b`` for
    those about one zone or region, or ``*`` for all APIs. Those of the metadata server and for tokens, ``metadata:get``
    and ``oauth:token``, fail if they are named. Each fault stays until `heal`, or for so many *times*.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._faults: list[Fault] = []
        self._last: OrderedDict[tuple[str, str, bytes], Reply] = OrderedDict()

    def expected(self, name: str) -> bool:
        """Whether calls of that name and place, ``resource:verb@place``, fail at present."""
        return any(fault.times != 0 and fault.concerns(name) for fault in self._faults)

    def heal(self, calls: str = "*") -> None:
        """Remove the faults with that name, or all."""
        self._faults = [fault for fault in self._faults if not fnmatchcase(fault.calls, calls)]

    def throttle(self, calls: str = "*", *, times: int | None = None, retry_after: int | None = None) -> Fault:
        """Refuse calls as too many: in this minute, or for *retry_after* seconds."""
        if retry_after is None:
            return self._add(calls, times, _refuse_as(_throttling))
        refusal = RefusalError(
            429, "rateLimitExceeded", "Too many requests.", headers={"Retry-After": str(retry_after)}
        )
        return self._add(calls, times, _refuse_as(lambda request: refusal))

    def deny(self, calls: str, *, times: int | None = None) -> Fault:
        """Refuse calls for lack of a permission."""
        return self._add(calls, times, _refuse_as(_denial))

    def expire(self, calls: str = "*", *, times: int | None = None) -> Fault:
        """Refuse the credentials as expired."""
        return self._add(calls, times, _refuse_as(_expiry))

    def fail(self, calls: str = "*", *, times: int | None = None, status: int = 503) -> Fault:
        """Answer with an error of Google itself."""
        refusal = RefusalError(status, "backendError", "Backend Error")
        return self._add(calls, times, _refuse_as(lambda request: refusal))

    def refuse(self, calls: str, reason: str, message: str, *, times: int | None = None, status: int = 400) -> Fault:
        """Refuse calls with any reason and message."""
        refusal = RefusalError(status, reason, message)
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

    def stale(self, calls: str = "*:get|*:list*", *, times: int | None = None) -> Fault:
        """Repeat the previous answer to the same call, as replicas of Google do that lag behind."""

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


def _throttling(request: Request) -> RefusalError:
    """The refusal of too many calls within a minute."""
    return RefusalError(
        403, "rateLimitExceeded", f"Quota exceeded for quota metric 'Queries' of '{request.call}' per minute."
    )


def _denial(request: Request) -> RefusalError:
    """The refusal for lack of a permission."""
    permission = right_of(request.call.resource, request.call.verb).permission
    where = f"for 'projects/{request.call.project}'"
    message = f"Required '{permission}' permission {where}" if permission else f"The caller has no permission {where}"
    return RefusalError(403, "forbidden", message)


def _expiry(request: Request) -> RefusalError:
    """The refusal of credentials that hold no more."""
    return RefusalError(
        401, "authError", "Request had invalid authentication credentials. Expected OAuth 2 access token."
    )


def _refuse_as(
    refusal: Callable[[Request], RefusalError],
) -> Callable[[Request, Callable[[Request], Reply]], Reply]:
    return lambda request, answer: write_refusal(refusal(request))


def _key(request: Request) -> tuple[str, str, bytes]:
    return str(request.call), request.path, request.body
