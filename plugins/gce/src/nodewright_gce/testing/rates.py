"""Rate quotas: how many calls of a kind a project may make in a minute."""

from collections import Counter
from collections.abc import Mapping

from nodewright.api import Clock

from nodewright_gce.testing.messages import Call, RefusalError

_DEFAULT = "default_per_region"
#: Where calls are not charged as their verb tells.
_ODD: Mapping[str, str] = {
    # Google counts these lists among changes.
    "list_managed_instances": _DEFAULT,
    "list_errors": _DEFAULT,
    "wait": "heavy_weight_read_requests_per_region",
    "aggregated_list": "heavy_weight_read_requests",
}


class Rates:
    """Counts calls by the quota that they are charged to, and refuses those above a limit until the minute ends."""

    def __init__(self, clock: Clock) -> None:
        #: Calls by quota since the start.
        self.charged: Counter[str] = Counter()
        #: Calls per minute by quota; no limit for others.
        self.limits: dict[str, int] = {}
        self._clock = clock
        self._minute = 0
        self._used: Counter[tuple[str, str]] = Counter()

    def charge(self, call: Call) -> None:
        """Count a call; raises `RefusalError` if that is one too many."""
        quota = quota_of(call)
        self.charged[quota] += 1
        minute = int(self._clock.now().timestamp() // 60)
        if minute != self._minute:
            self._minute = minute
            self._used.clear()
        account = (quota, call.place.region if call.place else "")
        self._used[account] += 1
        if self._used[account] > self.limits.get(quota, self._used[account]):
            raise RefusalError(
                403,
                "rateLimitExceeded",
                f"Quota exceeded for quota metric '{quota}' and limit 'per minute per region' of service "
                "'compute.googleapis.com'.",
            )


def quota_of(call: Call) -> str:
    """Return the quota that a call is charged to."""
    if call.verb in _ODD:
        return _ODD[call.verb]
    if call.resource.endswith("operations"):
        return "operation_read_requests_per_region"
    scope = "_per_region" if call.place else ""
    if call.verb.startswith("get"):
        return f"read_requests{scope}"
    if call.verb.startswith("list"):
        return f"list_requests{scope}"
    return _DEFAULT
