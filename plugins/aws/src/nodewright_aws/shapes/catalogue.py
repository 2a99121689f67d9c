"""Instance types by name."""

import logging
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.api import Clock, NodewrightError

from nodewright_aws.calls import Calls
from nodewright_aws.shapes.shape import Shape, parse_shape
from nodewright_aws.shapes.table import bundled

_log = logging.getLogger(__name__)

_AT_ONCE = 100
#: Nothing else is asked for: AWS would take a star for a pattern.
_NAME = re.compile(r"[a-z0-9-]+\.[a-z0-9-]+")
#: A type never changes, but regions come to offer types that they did not.
_KNOWN_FOR = timedelta(days=1)
_UNKNOWN_FOR = timedelta(hours=1)
_SILENT_FOR = timedelta(minutes=5)
#: Up to this much earlier, so that not everything is asked for again at once.
_JITTER = 0.2


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """What AWS said about a name, and until when that is good enough."""

    shape: Shape | None
    until: datetime


class Catalogue:
    """Knows the instance types that it was told to learn about. Safe to read from any thread.

    What AWS does not know or does not say is taken from the table that comes along; with *static*, all is.
    """

    def __init__(self, aws: Calls, clock: Clock, *, static: bool) -> None:
        self._aws = aws
        self._clock = clock
        #: Whether AWS is never asked.
        self.static = static
        self._answers: dict[str, _Answer] = {}
        self._silent_until: datetime | None = None
        #: Why AWS told nothing when it was asked last, None if it did.
        self.trouble: NodewrightError | None = None

    def refresh(self, names: Iterable[str]) -> None:
        """Learn about those of *names* that are unknown or were last asked for a day ago; the rest is forgotten.

        Calls AWS once for every hundred of them, and does not raise if it gives no answer: then the table serves for
        some minutes, and `trouble` tells why.
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
            self._told_nothing(error, now)
        else:
            self._told()

    def get(self, name: str) -> Shape | None:
        """The type of that *name*, or None if neither AWS nor the table knows it. Never calls AWS."""
        answer = self._answers.get(name)
        return (answer and answer.shape) or bundled().get(name)

    def _told_nothing(self, error: NodewrightError, now: datetime) -> None:
        if self.trouble is None:
            _log.warning(
                "AWS tells nothing about instance types, so the table that comes along is used (%s): %s",
                bundled().origin,
                error,
            )
        self._silent_until = now + _earlier(_SILENT_FOR)
        self.trouble = error

    def _told(self) -> None:
        if self.trouble is not None:
            _log.info("AWS tells about instance types again")
        self._silent_until = self.trouble = None

    def _ask(self, names: Sequence[str], now: datetime) -> dict[str, _Answer]:
        # A filter leaves out a name that does not exist; a list of names would fail as a whole for it.
        pages = self._aws.pages(
            "ec2", "describe_instance_types", Filters=[{"Name": "instance-type", "Values": list(names)}]
        )
        found = {shape.name: shape for page in pages for shape in map(parse_shape, page["InstanceTypes"])}
        return {
            name: _Answer(shape=found.get(name), until=now + _earlier(_KNOWN_FOR if name in found else _UNKNOWN_FOR))
            for name in names
        }


def _batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), _AT_ONCE):
        yield names[start : start + _AT_ONCE]


def _earlier(span: timedelta) -> timedelta:
    return span * (1 - random.uniform(0, _JITTER))
