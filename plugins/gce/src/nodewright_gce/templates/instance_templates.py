"""Instance templates by URL."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.api import AccessDeniedError, Clock, NodewrightError, PermanentError, TemporaryError

from nodewright_gce.calls.compute import Compute
from nodewright_gce.resources.instance_template import InstanceTemplate

#: How long a template that can't be read is left alone.
_PAUSE = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True)
class _Failure:
    error: NodewrightError
    until: datetime


class InstanceTemplates:
    """Instance templates by URL. They never change, so each is read once."""

    def __init__(self, compute: Compute, clock: Clock) -> None:
        self._compute = compute
        self._clock = clock
        self._read: Mapping[str, InstanceTemplate] = {}
        self._failures: Mapping[str, _Failure] = {}

    def refresh(self, urls: Iterable[str]) -> None:
        """Read those that are unknown; forget all others. Raises nothing: `get` does."""
        wanted = dict.fromkeys(url for url in urls if url)
        now = self._clock.now()
        read = {url: self._read[url] for url in wanted if url in self._read}
        failures = {url: self._failures[url] for url in wanted if url in self._failures}
        stopped: NodewrightError | None = None
        for url in wanted:
            if url in read or (url in failures and now < failures[url].until):
                continue
            try:
                if stopped is not None:
                    raise stopped
                read[url] = self._compute.template(url)
                failures.pop(url, None)
            except NodewrightError as error:
                # The next call will fail as well, whatever it asks for.
                stopped = (
                    error if not isinstance(error, PermanentError) or isinstance(error, AccessDeniedError) else None
                )
                until = now if isinstance(error, TemporaryError) else now + _PAUSE
                failures[url] = _Failure(error=error, until=until)
        self._read, self._failures = read, failures

    def get(self, url: str) -> InstanceTemplate:
        """Return a template; raises the `NodewrightError` of the last attempt to read it."""
        if url in self._read:
            return self._read[url]
        if url in self._failures:
            raise self._failures[url].error
        raise PermanentError("its group names no instance template" if not url else f"{url} was not read yet")
