"""What goes wrong with the cloud's API: throttling, errors, slowness."""

from datetime import datetime
from enum import StrEnum
from fnmatch import fnmatchcase

from nodewright_fake.cloud.refusal import RefusalError


class ApiFaultKind(StrEnum):
    """What a caller gets."""

    THROTTLED = "throttled"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"
    DENIED = "denied"
    #: The connection ends before anything is done, without an answer.
    RESET = "reset"
    #: The call is carried out, but its answer gets lost.
    LOST = "lost"
    SLOW = "slow"


class ApiFault:
    """A fault that befalls some calls: every n-th, or those above a rate."""

    def __init__(
        self,
        kind: ApiFaultKind,
        *,
        operations: str = "*",
        every: int = 1,
        per_second: float | None = None,
        times: int | None = None,
        retry_after: float | None = None,
        latency: float = 0.0,
    ) -> None:
        self.kind = kind
        #: Pattern of operations.
        self.operations = operations
        self.every = every
        #: Calls in a second of the world's time that pass; for more than that in a burst, one has to wait.
        self.per_second = per_second
        #: How often it will still happen; None for always.
        self.times = times
        self.retry_after = retry_after
        #: Seconds of real time: callers' deadlines are real, too.
        self.latency = latency
        self._calls = 0
        self._tokens = max(1.0, per_second or 1.0)
        self._filled: datetime | None = None

    def befalls(self, operation: str, now: datetime) -> bool:
        """Count a call and return whether the fault befalls it."""
        if not fnmatchcase(operation, self.operations) or self.times == 0:
            return False
        self._calls += 1
        hit = self._over_rate(now) if self.per_second is not None else self._calls % self.every == 0
        if hit and self.times is not None:
            self.times -= 1
        return hit

    def _over_rate(self, now: datetime) -> bool:
        assert self.per_second is not None
        if self._filled is not None:
            gained = (now - self._filled).total_seconds() * self.per_second
            self._tokens = min(max(1.0, self.per_second), self._tokens + gained)
        self._filled = now
        if self._tokens < 1.0:
            return True
        self._tokens -= 1.0
        return False

    def refusal(self, operation: str) -> RefusalError | None:
        """The error that the caller gets; None if the call is only slow."""
        match self.kind:
            case ApiFaultKind.THROTTLED:
                message = f"too many requests: {operation} was throttled"
                return RefusalError(429, "THROTTLED", message, retry_after=self.retry_after)
            case ApiFaultKind.UNAVAILABLE:
                message = f"the service is unavailable: {operation} was not tried"
                return RefusalError(503, "UNAVAILABLE", message, retry_after=self.retry_after)
            case ApiFaultKind.INTERNAL:
                return RefusalError(500, "INTERNAL", f"an internal error happened in {operation}")
            case ApiFaultKind.DENIED:
                return RefusalError(
                    403, "ACCESS_DENIED", f"access denied: the caller lacks the right to call {operation}"
                )
            case ApiFaultKind.RESET:
                return RefusalError(0, "RESET", f"the connection ended before {operation} was answered")
            case ApiFaultKind.LOST:
                message = f"no answer in time: {operation} may have been done or not"
                return RefusalError(504, "TIMEOUT", message, done=True)
            case ApiFaultKind.SLOW:
                return None
