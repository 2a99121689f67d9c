"""What can go wrong between a client and the API server, on purpose."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Literal

from nodewright_fake.apiserver.request import Request
from nodewright_fake.apiserver.status import StatusError
from nodewright_fake.apiserver.wire import ConnectionEndedError

_REASONS = {
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


class AnswerLostError(Exception):
    """The request is to be done, but its answer never arrives."""


class AnswerCutError(Exception):
    """The request is to be done, but only the first half of its answer arrives; of a watch, half of its first event."""


#: Called with each request before anything else is done, on the thread of its connection. It may sleep, raise
#: `StatusError` to refuse, `ConnectionEndedError` to hang up, `AnswerLostError` to hang up once the work is done, or
#: `AnswerCutError` to hang up in the middle of the answer.
Hook = Callable[[Request], None]


def everything(request: Request) -> bool:
    """Pick every request."""
    return True


@dataclass(kw_only=True)
class Fault:
    """Something that goes wrong with some requests. Put it into `ApiServer.faults`; take it out again to end it."""

    #: Which requests.
    when: Callable[[Request], bool] = everything
    #: How many of them, from the first; None for all.
    times: int | None = None
    #: Seconds of wall time that each is held up.
    latency: float = 0.0
    #: The HTTP status they are refused with; 0 for none.
    status: int = 0
    message: str = "injected fault"
    #: Seconds after which the client should try again, with 429 and 503.
    retry_after: int = 0
    #: Hang up, before or after the work is done, or in the middle of the answer.
    hang_up: Literal["", "before", "after", "midway"] = ""
    #: How many requests it has hit.
    hits: int = field(default=0, init=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    def __call__(self, request: Request) -> None:
        """Do the harm, if *request* is one of those."""
        if not self.when(request):
            return
        with self._lock:
            if self.times is not None and self.hits >= self.times:
                return
            self.hits += 1
        if self.latency:
            time.sleep(self.latency)
        if self.status:
            reason = _REASONS.get(self.status, "InternalError")
            raise StatusError(self.status, reason, self.message, retry_after=self.retry_after)
        if self.hang_up == "before":
            raise ConnectionEndedError
        if self.hang_up == "after":
            raise AnswerLostError
        if self.hang_up == "midway":
            raise AnswerCutError
