"""Machines that AWS is about to take away."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.api import Clock

from nodewright_aws.calls import Calls
from nodewright_aws.groups.lifecycle import is_counted
from nodewright_aws.groups.reading import GroupReading
from nodewright_aws.interruptions.events import Event, Kind, parse_event
from nodewright_aws.interruptions.queue import Queue
from nodewright_aws.interruptions.settings import InterruptionSettings, Rebalance

#: A machine that is still there so long after the news is here to stay.
_BELIEVED = {
    Kind.INTERRUPTION: timedelta(minutes=10),
    Kind.STOPPING: timedelta(minutes=30),
    Kind.REBALANCE: timedelta(minutes=30),
}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class _Doom:
    why: str
    until: datetime


class Interruptions:
    """What the queue told of the machines of our groups. For the provider's thread."""

    def __init__(self, aws: Calls, settings: InterruptionSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._queue = Queue(aws, settings) if settings.queue else None
        self._dooms: dict[str, _Doom] = {}
        #: News that is known: a queue may tell it again.
        self._known: set[tuple[str, Kind]] = set()
        self._strange = False

    @property
    def doomed(self) -> Mapping[str, str]:
        """Why a machine will be gone soon, by its id."""
        return {machine: doom.why for machine, doom in self._dooms.items()}

    def refresh(self, groups: Sequence[GroupReading]) -> None:
        """Read the queue, if there is one, and forget machines that are gone from their *groups*."""
        if self._queue is None:
            return
        # A machine that was told to go, by us or somebody else, is no news.
        group_of = {each.id: group for group in groups for each in group.instances if is_counted(each)}
        now = self._clock.now()
        self._dooms = {
            machine: doom for machine, doom in self._dooms.items() if machine in group_of and now < doom.until
        }
        self._known = {(machine, kind) for machine, kind in self._known if machine in group_of}
        strange = 0
        for body in self._queue.bodies():
            try:
                event = parse_event(body)
            except ValueError:
                strange += 1
            else:
                if event is not None:
                    self._note(event, group_of, now)
        if strange and not self._strange:
            _log.warning(
                "%d messages in the queue %s are no events of EventBridge: see who sends them, and whether it is the "
                "right queue",
                strange,
                self._settings.queue,
            )
        self._strange = strange > 0

    def _note(self, event: Event, group_of: Mapping[str, GroupReading], now: datetime) -> None:
        for machine in event.instances:
            # The queue tells of all machines of the account.
            if machine not in group_of or (machine, event.kind) in self._known:
                continue
            self._known.add((machine, event.kind))
            group = group_of[machine]
            level = logging.WARNING if event.kind is Kind.MAINTENANCE else logging.INFO
            _log.log(level, "machine %s of group %s: %s", machine, group.name, event)
            if self._is_doom(event, group):
                self._dooms[machine] = _Doom(why=str(event), until=now + _BELIEVED[event.kind])

    def _is_doom(self, event: Event, group: GroupReading) -> bool:
        if event.kind is Kind.REBALANCE:
            # Only such a group gets another machine in time; others keep this one, maybe for days.
            return self._settings.rebalance is Rebalance.AVOID and group.capacity_rebalance
        return event.kind in _BELIEVED
