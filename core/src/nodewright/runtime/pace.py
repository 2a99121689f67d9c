"""The pace of clouds: when one that asked for fewer calls may be asked again."""

from datetime import datetime, timedelta
from math import inf
from numbers import Real
from threading import Lock

from nodewright.api.clock import Clock
from nodewright.api.errors import PluginError, ThrottledError
from nodewright.decision.memory import LONGEST_RESPITE
from nodewright.plugins.faults import Faults

#: Nobody asks a cloud again sooner after it has refused a call.
BREATHER = timedelta(seconds=1)


class Pace:
    """Knows until when which clouds are left alone. Any thread may call its methods.

    After a refusal, the cloud is left alone for a moment, whoever wants to ask. If the cloud said for how long, what
    it refused is not asked for before that: an action of a group, or the provider as a whole if it was a refresh.
    """

    def __init__(self, clock: Clock, faults: Faults) -> None:
        self._clock = clock
        self._faults = faults
        self._lock = Lock()
        #: When each provider refused a call last.
        self._refused_at: dict[str, datetime] = {}
        #: By provider, group and action; these two are empty for the provider as a whole.
        self._until: dict[tuple[str, str, str], datetime] = {}

    def refused(self, provider: str, error: ThrottledError, group: str = "", action: str = "") -> datetime | None:
        """Note that *provider* refused an *action* of a *group*, or to be read, with *error*.

        Return until when the cloud asked not to be asked for that; None if it did not say.
        """
        asked: timedelta | None = self._faults.call(provider, "retry_after", _asked, provider, error, default=None)
        now = self._clock.now()
        with self._lock:
            self._refused_at[provider] = now
            if asked is None:
                return None
            self._until[provider, group, action] = until = now + asked
            return until

    def until(self, provider: str, group: str = "", action: str = "") -> datetime | None:
        """Return until when *provider* is not asked for an *action* of a *group*, or to be read; None if it may be.

        A time further ahead than any may be is void: the clock was set back.
        """
        now = self._clock.now()
        with self._lock:
            ends = [self._until[key] for key in ((provider, "", ""), (provider, group, action)) if key in self._until]
            if provider in self._refused_at:
                ends.append(self._refused_at[provider] + BREATHER)
        return max((end for end in ends if now < end <= now + LONGEST_RESPITE), default=None)

    @property
    def breather(self) -> timedelta:
        """How long it takes until no cloud has refused a call a moment ago."""
        now = self._clock.now()
        with self._lock:
            left = [at + BREATHER - now for at in self._refused_at.values()]
        return max((each for each in left if timedelta(0) < each <= BREATHER), default=timedelta(0))


def _asked(provider: str, error: ThrottledError) -> timedelta | None:
    """Return how long the cloud asked to wait, within bounds. Raises `PluginError` if that is no number of seconds."""
    seconds: object = error.retry_after
    if seconds is None:
        return None
    # "Not a number" is not less than anything.
    if isinstance(seconds, bool) or not isinstance(seconds, Real) or seconds < 0 or not seconds < inf:
        raise PluginError(provider, f"it is {seconds!r:.50}, not a number of seconds: the cloud is left alone for one")
    # An integer may be larger than any float.
    longest = LONGEST_RESPITE.total_seconds()
    return max(BREATHER, timedelta(seconds=float(seconds)) if seconds < longest else LONGEST_RESPITE)
