"""Operations that follow a change: Google may refuse it some time after it was accepted."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Event, Lock

import msgspec
from nodewright.api import (
    AccessDeniedError,
    CapacityError,
    Clock,
    CloudUnavailableError,
    ErrorClass,
    InstanceError,
    NodewrightError,
    ThrottledError,
)

from nodewright_gce.calls.compute import Compute
from nodewright_gce.resources.operation import Operation

#: How often an operation is read; waiting at Google for it is charged dearer.
_PACE = timedelta(seconds=1)
#: An operation that is not done by then is not followed any more.
_FOLLOWED = timedelta(minutes=10)
#: A failure is told for so long: the order that it was about is over.
_TOLD = timedelta(minutes=1)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class _Late:
    """An operation that takes longer than patience lasts."""

    group: str
    operation: Operation
    since: datetime


class Operations:
    """Follows operations as long as *patience* lasts, and those that take longer from refresh to refresh.

    An operation that is not done in time is no failure: the size of the group shows what came of it. Safe to use from
    any thread.
    """

    def __init__(self, compute: Compute, clock: Clock, patience: timedelta) -> None:
        self._compute = compute
        self._clock = clock
        self._patience = patience
        self._lock = Lock()
        #: Whether the right to read operations is lacking.
        self._is_blind = False
        #: By the name of the operation.
        self._late: dict[str, _Late] = {}
        #: Why orders failed after they were accepted, by the id of the group, and since when that is known.
        self._failures: dict[str, tuple[InstanceError, datetime]] = {}

    def follow(self, group: str, operations: Iterable[Operation]) -> None:
        """Wait until *operations* on a group are done, or patience ends; raises what came of one that failed."""
        with self._lock:
            # What became of the last order is of no interest any more.
            self._failures.pop(group, None)
        until = self._clock.now() + self._patience
        for operation in operations:
            self._follow(group, operation, until)

    def refresh(self) -> frozenset[str]:
        """Read the operations that took longer; return the ids of the groups with one that has failed by now."""
        now = self._clock.now()
        with self._lock:
            late = tuple(self._late.items())
            self._failures = {group: told for group, told in self._failures.items() if now - told[1] < _TOLD}
        failed = set()
        for name, each in late:
            try:
                read = self._read(each.operation)
                over = now - each.since >= _FOLLOWED if read is None else read.done
            except NodewrightError as error:
                self._fail(each.group, error, now)
                failed.add(each.group)
                over = True
            if over:
                with self._lock:
                    del self._late[name]
        return frozenset(failed)

    def failure(self, group: str) -> InstanceError | None:
        """Return why the last order of a group failed, after it was accepted; None if it did not."""
        with self._lock:
            told = self._failures.get(group)
        return told[0] if told else None

    def _follow(self, group: str, operation: Operation, until: datetime) -> None:
        while not operation.done:
            read = self._read(operation)
            now = self._clock.now()
            if read is None or (not read.done and now + _PACE > until):
                with self._lock:
                    self._late[operation.name] = _Late(group=group, operation=operation, since=now)
                return
            operation = read
            if not operation.done:
                self._clock.wait(Event(), _PACE.total_seconds())

    def _read(self, operation: Operation) -> Operation | None:
        """Return how far *operation* is, or None if nobody can tell now; raises what came of it if it failed."""
        try:
            return self._compute.operation(operation)
        except (CloudUnavailableError, ThrottledError) as error:
            _log.debug("operation %s can't be followed now: %s", operation.name, error)
        except AccessDeniedError as error:
            # Without a status it is the operation that lacked a right.
            if not error.status:
                raise
            if not self._is_blind:
                _log.warning("orders that fail after they were accepted will not be told: %s", error)
            self._is_blind = True
            return msgspec.structs.replace(operation, status="DONE")
        return None

    def _fail(self, group: str, error: NodewrightError, now: datetime) -> None:
        _log.warning("an order of group %s was accepted at first, and then failed: %s", group, error)
        cause = (
            error.cause
            if isinstance(error, CapacityError)
            else InstanceError(error_class=_class_of(error), code="OPERATION_FAILED", message=str(error))
        )
        with self._lock:
            self._failures[group] = (cause, now)


def _class_of(error: NodewrightError) -> ErrorClass:
    return ErrorClass.PERMISSION if isinstance(error, AccessDeniedError) else ErrorClass.OTHER
