"""Machine types by name."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zlib import crc32

from nodewright.api import AccessDeniedError, Clock, NodewrightError, PermanentError

from nodewright_gce.calls.compute import Compute
from nodewright_gce.machine_types.custom import is_custom
from nodewright_gce.machine_types.info import MachineTypeInfo, read_machine_type
from nodewright_gce.machine_types.table import bundled
from nodewright_gce.resources.address import Place

_log = logging.getLogger(__name__)

#: A type never changes, but a zone may get new types.
_KNOWN_FOR = timedelta(days=1)
_UNKNOWN_FOR = timedelta(hours=1)
_SILENT_FOR = timedelta(minutes=5)
#: Expiry is earlier by up to this share, so that names do not all expire at the same time.
_SPREAD = 0.2


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """What Google said about a name, and until when that counts."""

    info: MachineTypeInfo | None
    until: datetime


class Catalogue:
    """Machine types by name: those that `refresh` was called with. Safe to read from any thread.

    Custom types are read from their names. Types that Google does not describe are taken from the bundled table; with
    *static*, all are.
    """

    def __init__(self, compute: Compute, clock: Clock, *, static: bool) -> None:
        self._compute = compute
        self._clock = clock
        #: Whether Google is never asked.
        self.static = static
        self._answers: Mapping[str, _Answer] = {}
        self._silent_until: datetime | None = None
        #: Why the last call failed; None if it succeeded.
        self.trouble: NodewrightError | None = None

    def refresh(self, zones: Mapping[str, Place]) -> None:
        """Read those types that are unknown or a day old, each in a zone that has it; forget all others.

        *zones* are these by the type's name. Raises nothing if a call fails: the table then serves for some minutes,
        and `trouble` says why.
        """
        wanted = {name: zone for name, zone in zones.items() if name and not is_custom(name)}
        # Replaced as a whole, for readers on other threads.
        kept = {name: answer for name, answer in self._answers.items() if name in wanted}
        self._answers = kept
        now = self._clock.now()
        if self.static or (self._silent_until is not None and now < self._silent_until):
            return
        due = sorted(name for name in wanted if name not in kept or kept[name].until <= now)
        try:
            for name in due:
                kept = {**kept, name: self._ask(name, wanted[name], now)}
                self._answers = kept
        except NodewrightError as error:
            self._failed(error, now)
        else:
            self._succeeded(bool(due))

    def get(self, name: str) -> MachineTypeInfo | None:
        """Return the type of that *name*; None if neither Google nor the table knows it. Makes no call."""
        answer = self._answers.get(name)
        return (answer and answer.info) or bundled().get(name)

    def _ask(self, name: str, zone: Place, now: datetime) -> _Answer:
        try:
            info = read_machine_type(self._compute.machine_type(zone, name))
        except AccessDeniedError:
            raise
        except PermanentError:
            return _Answer(info=None, until=now + _earlier(_UNKNOWN_FOR, name))
        return _Answer(info=_with_gpus(info), until=now + _earlier(_KNOWN_FOR, name))

    def _failed(self, error: NodewrightError, now: datetime) -> None:
        if self.trouble is None:
            _log.warning(
                "Google does not describe machine types, so the bundled table is used (%s): %s",
                bundled().origin,
                error,
            )
        self._silent_until = now + _SILENT_FOR
        self.trouble = error

    def _succeeded(self, asked: bool) -> None:
        if self.trouble is not None and asked:
            _log.info("Google describes machine types again")
            self._silent_until = self.trouble = None


def _with_gpus(info: MachineTypeInfo) -> MachineTypeInfo:
    """Return *info* with the GPUs of the bundled table, if the answer has none."""
    known = bundled().get(info.name)
    if info.gpus or known is None:
        return info
    return replace(info, gpus=known.gpus, gpu_type=known.gpu_type)


def _earlier(span: timedelta, name: str) -> timedelta:
    return span * (1 - _SPREAD * crc32(name.encode()) / 2**32)
