"""Instances that AWS is about to interrupt."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.api import Clock

from nodewright_aws.autoscaling.group import AutoScalingGroup
from nodewright_aws.calls import Calls
from nodewright_aws.config import InterruptionSettings, Rebalance
from nodewright_aws.interruptions.events import Event, EventType, parse_event
from nodewright_aws.interruptions.queue import Queue

#: For how long an event counts. An instance that still exists after that stays.
_COUNTS_FOR = {
    EventType.INTERRUPTION: timedelta(minutes=10),
    EventType.STOPPING: timedelta(minutes=30),
    EventType.REBALANCE: timedelta(minutes=30),
}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class _Interruption:
    why: str
    until: datetime


class Interruptions:
    """Interruptions of instances of our groups, as announced in the queue. For the provider's thread."""

    def __init__(self, aws: Calls, settings: InterruptionSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._queue = Queue(aws, settings) if settings.queue else None
        self._announced: dict[str, _Interruption] = {}
        #: Events that are known: a queue may deliver a message more than once.
        self._known: set[tuple[str, EventType]] = set()
        self._had_foreign = False

    @property
    def interrupted(self) -> Mapping[str, str]:
        """Why instances will be gone soon, by id."""
        return {machine: announced.why for machine, announced in self._announced.items()}

    def refresh(self, groups: Sequence[AutoScalingGroup]) -> None:
        """Read the queue, if there is one, and forget instances that are gone from their *groups*."""
        if self._queue is None:
            return
        # An instance that is already on its way out needs no event.
        group_of = {each.id: group for group in groups for each in group.instances if each.is_counted}
        now = self._clock.now()
        self._announced = {
            machine: announced
            for machine, announced in self._announced.items()
            if machine in group_of and now < announced.until
        }
        self._known = {(machine, type_) for machine, type_ in self._known if machine in group_of}
        foreign = 0
        for body in self._queue.bodies():
            try:
                event = parse_event(body)
            except ValueError:
                foreign += 1
            else:
                if event is not None:
                    self._note(event, group_of, now)
        if foreign and not self._had_foreign:
            _log.warning(
                "%d messages in the queue %s are no events of EventBridge: see who sends them, and whether it is the "
                "right queue",
                foreign,
                self._settings.queue,
            )
        self._had_foreign = foreign > 0

    def _note(self, event: Event, group_of: Mapping[str, AutoScalingGroup], now: datetime) -> None:
        for machine in event.instances:
            # The queue has events about all instances of the account.
            if machine not in group_of or (machine, event.type) in self._known:
                continue
            self._known.add((machine, event.type))
            group = group_of[machine]
            level = logging.WARNING if event.type is EventType.MAINTENANCE else logging.INFO
            _log.log(level, "machine %s of group %s: %s", machine, group.name, event)
            if self._is_interruption(event, group):
                self._announced[machine] = _Interruption(why=str(event), until=now + _COUNTS_FOR[event.type])

    def _is_interruption(self, event: Event, group: AutoScalingGroup) -> bool:
        if event.type is EventType.REBALANCE:
            # Only such a group gets a replacement in time; in others the instance may stay for days.
            return self._settings.rebalance is Rebalance.AVOID and group.capacity_rebalance
        return event.type in _COUNTS_FOR
