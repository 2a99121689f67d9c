"""Instance types by name."""

import logging
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.api import Clock, NodewrightError

from nodewright_aws.calls import Calls
from nodewright_aws.instance_types.info import InstanceTypeInfo, parse_instance_type_info
from nodewright_aws.instance_types.table import bundled

_log = logging.getLogger(__name__)

_NAMES_PER_CALL = 100
#: Other names are not asked for: AWS would take an asterisk for a pattern.
_NAME = re.compile(r"[a-z0-9-]+\.[a-z0-9-]+")
#: A type never changes, but a region may offer new types.
_KNOWN_FOR = timedelta(days=1)
_UNKNOWN_FOR = timedelta(hours=1)
_SILENT_FOR = timedelta(minutes=5)
#: Expiry is earlier by up to this share, so that names do not all expire at the same time.
_JITTER = 0.2


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """What AWS said about a name, and until when that counts."""

    info: InstanceTypeInfo | None
    until: datetime


class Catalogue:
    """Instance types by name: those that `refresh` was called with. Safe to read from any thread.

    Types that AWS does not describe are taken from the bundled table; with *static*, all are.
    """

    def __init__(self, aws: Calls, clock: Clock, *, static: bool) -> None:
        self._aws = aws
        self._clock = clock
        #: Whether AWS is never asked.
        self.static = static
        self._answers: dict[str, _Answer] = {}
        self._silent_until: datetime | None = None
        #: Why the last call failed; None if it succeeded.
        self.trouble: NodewrightError | None = None

    def refresh(self, names: Iterable[str]) -> None:
        """Read those of *names* that are unknown or a day old; forget all others.

        Makes a call for every hundred of them. Raises nothing if a call fails: the table then serves for some minutes,
        and `trouble` says why.
        """
        wanted = {name for name in names if _NAME.fullmatch(name)}
        # Replaced as a whole, for readers on other threads.
        kept = {name: answer for name, answer in self._answers.items() if name in wanted}
        self._answers = kept
        now = self._clock.now()
        if self.static or (self._silent_until is not None and now < self._silent_until):
            return
        due = sorted(name for name in wanted if name not in kept or kept[name].until <= now)
        if not due:
            return
        try:
            for batch in _batches(due):
                kept = kept | self._ask(batch, now)
                self._answers = kept
        except NodewrightError as error:
            self._failed(error, now)
        else:
            self._succeeded()

    def get(self, name: str) -> InstanceTypeInfo | None:
        """Return the type of that *name*; None if neither AWS nor the table knows it. Makes no call."""
        answer = self._answers.get(name)
        return (answer and answer.info) or bundled().get(name)

    def _failed(self, error: NodewrightError, now: datetime) -> None:
        if self.trouble is None:
            _log.warning(
                "AWS does not describe instance types, so the bundled table is used (%s): %s",
                bundled().origin,
                error,
            )
        self._silent_until = now + _earlier(_SILENT_FOR)
        self.trouble = error

    def _succeeded(self) -> None:
        if self.trouble is not None:
            _log.info("AWS describes instance types again")
        self._silent_until = self.trouble = None

    def _ask(self, names: Sequence[str], now: datetime) -> dict[str, _Answer]:
        # A filter skips a name that does not exist; a list of names would fail as a whole.
        pages = self._aws.pages(
            "ec2", "describe_instance_types", Filters=[{"Name": "instance-type", "Values": list(names)}]
        )
        found = {info.name: info for page in pages for info in map(parse_instance_type_info, page["InstanceTypes"])}
        return {
            name: _Answer(info=found.get(name), until=now + _earlier(_KNOWN_FOR if name in found else _UNKNOWN_FOR))
            for name in names
        }


def _batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), _NAMES_PER_CALL):
        yield names[start : start + _NAMES_PER_CALL]


def _earlier(span: timedelta) -> timedelta:
    return span * (1 - random.uniform(0, _JITTER))
