"""Recent orders to groups: AWS' answers are eventually consistent and may not show them yet."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock

from nodewright.api import Clock

from nodewright_aws.autoscaling.group import AutoScalingGroup

#: AWS' answers lag behind by no more than this.
_LAG = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True)
class _Resize:
    """The size that this process last gave a group."""

    at: datetime
    desired: int
    #: Earlier sizes that an answer of AWS may still show.
    before: frozenset[int] = frozenset()
    #: Whether an answer of AWS has shown the new size.
    confirmed: bool = False


class RecentOrders:
    """Applies orders to groups whose answers may not show them yet. Safe to use from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._resizes: dict[str, _Resize] = {}
        #: When instances were terminated, by id.
        self._terminated: dict[str, datetime] = {}

    def resized(self, name: str, before: int, desired: int) -> None:
        """Note that AWS accepted an order to change the size of a group."""
        with self._lock:
            known = self._recent(name)
            earlier = (known.before | {known.desired, before} if known else {before}) - {desired}
            self._resizes[name] = _Resize(at=self._clock.now(), desired=desired, before=frozenset(earlier))

    def terminated(self, instance: str) -> None:
        """Note that AWS accepted an order to terminate an instance."""
        now = self._clock.now()
        with self._lock:
            recent = {each: at for each, at in self._terminated.items() if now - at < _LAG}
            self._terminated = recent | {instance: now}

    def applied_to(self, group: AutoScalingGroup) -> AutoScalingGroup:
        """Return *group*, which was just read, with the orders that the answer may not show yet.

        If another client sets the group back to exactly its earlier size, that counts once AWS has shown our size, or a
        minute later.
        """
        now = self._clock.now()
        with self._lock:
            terminated = {each for each, at in self._terminated.items() if now - at < _LAG}
            order = self._recent(group.name)
            desired = group.desired
            if order is not None and desired in order.before and not order.confirmed:
                desired = order.desired
            elif order is not None and desired == order.desired:
                self._resizes[group.name] = replace(order, confirmed=True)
            elif order is not None and desired not in order.before:
                # A newer order, of another client.
                del self._resizes[group.name]
        instances = tuple(
            replace(each, lifecycle_state="Terminating") if each.id in terminated else each for each in group.instances
        )
        return replace(group, desired=desired, instances=instances)

    def is_undone_by(self, group: AutoScalingGroup, target: int) -> bool:
        """Tell whether growth to *target* would shrink *group* if its last order is in effect but not shown."""
        with self._lock:
            order = self._recent(group.name)
        return order is not None and group.desired in order.before and target < order.desired

    def is_unconfirmed(self, name: str) -> bool:
        """Tell whether AWS has not shown the group's last order yet; then it may not list its instances either."""
        with self._lock:
            order = self._recent(name)
        return order is not None and not order.confirmed

    def _recent(self, name: str) -> _Resize | None:
        order = self._resizes.get(name)
        return order if order is not None and self._clock.now() - order.at < _LAG else None
