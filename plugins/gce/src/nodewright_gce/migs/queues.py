"""Queues of groups: resize requests, each for so many machines together, now or when they can be had."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.api import Clock, ErrorClass, InstanceError

from nodewright_gce.calls.compute import Compute
from nodewright_gce.causes import cause_of
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.pools import Pool
from nodewright_gce.resources.resize_request import ResizeRequest

_OPEN = frozenset({"CREATING", "ACCEPTED"})
#: So long it is told that a request has failed.
_TOLD = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True)
class _Failure:
    """A request that came to nothing."""

    at: datetime
    cause: InstanceError


class Queues:
    """The resize requests of groups. Read in `refresh` only."""

    def __init__(self, compute: Compute, clock: Clock) -> None:
        self._compute = compute
        self._clock = clock
        #: Names of open requests, by the id of the group.
        self._open: Mapping[str, frozenset[str]] = {}
        self._failures: Mapping[str, _Failure] = {}

    def refresh(self, groups: Iterable[ManagedGroup]) -> None:
        """Read the requests of *groups*, which have some or had some when they were read last."""
        now = self._clock.now()
        self._failures = {name: each for name, each in self._failures.items() if now - each.at < _TOLD}
        for group in groups:
            name = group.address.id
            requests = self._compute.resize_requests(group.address)
            known = self._open.get(name, frozenset())
            for request in requests:
                # What failed before this process saw it open belongs to an order that nobody waits for.
                if request.state == "FAILED" and request.name in known:
                    failure = _Failure(at=now, cause=_cause(request, group))
                    self._failures = {**self._failures, name: failure}
            self._open = {**self._open, name: frozenset(each.name for each in open_of(requests))}

    def is_waiting(self, group: str) -> bool:
        """Whether a group, by its id, had an open request when its requests were read last."""
        return bool(self._open.get(group))

    def causes(self, group: str) -> Sequence[InstanceError]:
        """Return why the last request of a group, by its id, came to nothing."""
        failure = self._failures.get(group)
        return (failure.cause,) if failure else ()


def open_of(requests: Iterable[ResizeRequest]) -> tuple[ResizeRequest, ...]:
    """Return those of *requests* of which something may still come."""
    return tuple(each for each in requests if each.state in _OPEN)


def _cause(request: ResizeRequest, group: ManagedGroup) -> InstanceError:
    status, place = request.status, group.address.place
    errors = status.error.errors or status.last_attempt.error.errors
    cause = cause_of(errors, Pool(zone="" if place.regional else place.name))
    return cause or InstanceError(
        error_class=ErrorClass.OTHER,
        code="RESIZE_REQUEST_FAILED",
        message=f"resize request {request.name} for {request.resize_by} machines failed",
    )
