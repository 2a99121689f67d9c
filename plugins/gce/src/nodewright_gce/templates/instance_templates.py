"""Instance templates by URL."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.api import AccessDeniedError, Clock, NodewrightError, PermanentError, TemporaryError

from nodewright_gce.calls.at_once import at_once
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

    def __init__(self, compute: Compute, clock: Clock, workers: int) -> None:
        self._compute = compute
        self._clock = clock
        self._workers = workers
        self._read: Mapping[str, InstanceTemplate] = {}
        self._failures: Mapping[str, _Failure] = {}

    def refresh(self, urls: Iterable[str]) -> None:
        """Read those that are unknown, several at a time; forget all others. Raises nothing: `get` does."""
        wanted = dict.fromkeys(url for url in urls if url)
        now = self._clock.now()
        read = {url: self._read[url] for url in wanted if url in self._read}
        failures = {url: self._failures[url] for url in wanted if url in self._failures}
        due = [url for url in wanted if url not in read and (url not in failures or failures[url].until <= now)]
        hopeless: NodewrightError | None = None
        for begin in range(0, len(due), self._workers):
            part = due[begin : begin + self._workers]
            answers = at_once(self._ask, part, self._workers) if hopeless is None else [hopeless] * len(part)
            for url, answer in zip(part, answers, strict=True):
                if isinstance(answer, NodewrightError):
                    until = now if isinstance(answer, TemporaryError) else now + _PAUSE
                    failures[url] = _Failure(error=answer, until=until)
                    hopeless = answer if _is_hopeless(answer) else hopeless
                else:
                    read[url] = answer
                    failures.pop(url, None)
        self._read, self._failures = read, failures

    def get(self, url: str) -> InstanceTemplate:
        """Return a template; raises the `NodewrightError` of the last attempt to read it."""
        if url in self._read:
            return self._read[url]
        if url in self._failures:
            raise self._failures[url].error
        raise PermanentError("its group names no instance template" if not url else f"{url} was not read yet")

    def _ask(self, url: str) -> InstanceTemplate | NodewrightError:
        try:
            return self._compute.template(url)
        except NodewrightError as error:
            return error


def _is_hopeless(error: NodewrightError) -> bool:
    """Tell whether the next call will fail as well, whatever it asks for."""
    return not isinstance(error, PermanentError) or isinstance(error, AccessDeniedError)
