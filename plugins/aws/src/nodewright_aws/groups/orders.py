"""What groups were asked for a moment ago, as AWS may go on for a while to tell of the time before."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock

from nodewright.api import Clock

from nodewright_aws.groups.reading import GroupReading

#: AWS' answers are not behind by more than this.
_LATE = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True)
class _Order:
    """The size that a group was last given here."""

    at: datetime
    desired: int
    #: The sizes that it had before, as far back as an answer may be late.
    before: frozenset[int] = frozenset()
    #: Whether AWS has told of it.
    shown: bool = False


class Orders:
    """Corrects readings by orders that they can't tell of yet. Safe to use from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._orders: dict[str, _Order] = {}
        #: When machines were told to go, by id.
        self._ended: dict[str, datetime] = {}

    def resized(self, name: str, before: int, desired: int) -> None:
        """Note that AWS has taken an order to change the size of a group."""
        with self._lock:
            known = self._recent(name)
            earlier = (known.before | {known.desired, before} if known else {before}) - {desired}
            self._orders[name] = _Order(at=self._clock.now(), desired=desired, before=frozenset(earlier))

    def ended(self, machine: str) -> None:
        """Note that AWS has taken an order to end a machine."""
        now = self._clock.now()
        with self._lock:
            self._ended = {each: at for each, at in self._ended.items() if now - at < _LATE} | {machine: now}

    def carried_out(self, group: GroupReading) -> GroupReading:
        """Return *group*, which was just read, as it is with our orders if the reading may be of before them.

        Who sets a group back to just the size that it had is believed once AWS has told of ours, or a minute later.
        """
        now = self._clock.now()
        with self._lock:
            ended = {machine for machine, at in self._ended.items() if now - at < _LATE}
            order = self._recent(group.name)
            desired = group.desired
            if order is not None and desired in order.before and not order.shown:
                desired = order.desired
            elif order is not None and desired == order.desired:
                self._orders[group.name] = replace(order, shown=True)
            elif order is not None and desired not in order.before:
                # Somebody else's, and newer.
                del self._orders[group.name]
        instances = tuple(
            replace(each, lifecycle_state="Terminating") if each.id in ended else each for each in group.instances
        )
        return replace(group, desired=desired, instances=instances)

    def undoes(self, group: GroupReading, target: int) -> bool:
        """Tell whether growth to *target* would be none, if *group* has in truth the size that was ordered last."""
        with self._lock:
            order = self._recent(group.name)
        return order is not None and group.desired in order.before and target < order.desired

    def untold(self, name: str) -> bool:
        """Tell whether AWS has told nothing yet of what the group was asked for last: of its machines neither, then."""
        with self._lock:
            order = self._recent(name)
        return order is not None and not order.shown

    def _recent(self, name: str) -> _Order | None:
        order = self._orders.get(name)
        return order if order is not None and self._clock.now() - order.at < _LATE else None
