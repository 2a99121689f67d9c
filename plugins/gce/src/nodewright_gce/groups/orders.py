"""Recent orders to groups: Google's answers are eventually consistent and may not show them yet."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock

import msgspec
from nodewright.api import Clock

from nodewright_gce.groups.machines import provider_id
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.resources.managed_instance import ManagedInstance

#: Google's answers lag behind by no more than this.
_LAG = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True)
class _Resize:
    """The size that this process last gave a group."""

    at: datetime
    target: int
    #: Earlier sizes that an answer may still show.
    before: frozenset[int] = frozenset()
    #: Whether an answer has shown the new size.
    confirmed: bool = False


@dataclass(frozen=True, kw_only=True)
class _Deletion:
    """A machine that this process deleted."""

    at: datetime
    group: str
    #: The id of the machine; a machine with another one was made anew under the name. Empty if it did not exist.
    incarnation: str

    def is_of_another(self, machine: ManagedInstance) -> bool:
        """Tell whether *machine*, of the same name, is certainly not the one that was deleted."""
        return bool(self.incarnation and machine.id) and self.incarnation != str(machine.id)


class RecentOrders:
    """Applies orders to groups whose answers may not show them yet. Safe to use from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        #: By the group's id.
        self._resizes: dict[str, _Resize] = {}
        #: By provider ID.
        self._deletions: dict[str, _Deletion] = {}

    def resized(self, group: str, before: int, target: int) -> None:
        """Note that Google accepted an order that changes the size of a group, by its id."""
        with self._lock:
            known = self._recent(group)
            earlier = (known.before | {known.target, before} if known else {before}) - {target}
            self._resizes[group] = _Resize(at=self._clock.now(), target=target, before=frozenset(earlier))

    def deleted(self, group: str, machine: str, incarnation: str) -> None:
        """Note that Google accepted an order to delete a machine of a group, by its provider ID."""
        now = self._clock.now()
        with self._lock:
            recent = {id_: each for id_, each in self._deletions.items() if now - each.at < _LAG}
            self._deletions = recent | {machine: _Deletion(at=now, group=group, incarnation=incarnation)}

    def forget(self, group: str) -> None:
        """Note that nothing came of the last orders of a group: what Google tells is true."""
        with self._lock:
            self._resizes.pop(group, None)
            self._deletions = {id_: each for id_, each in self._deletions.items() if each.group != group}

    def applied_to(self, group: ManagedGroup) -> ManagedGroup:
        """Return *group*, which was just read, with the orders that the answer may not show yet.

        If another client sets the group back to exactly its earlier size, that counts once Google has shown our size,
        or a minute later.
        """
        now, name, target = self._clock.now(), group.address.id, group.mig.target_size
        with self._lock:
            deletions = {id_: each for id_, each in self._deletions.items() if now - each.at < _LAG}
            order = self._recent(name)
            if order is not None and target in order.before and not order.confirmed:
                target = order.target
            elif order is not None and target == order.target:
                self._resizes[name] = replace(order, confirmed=True)
            elif order is not None and target not in order.before:
                # A newer order, of another client.
                del self._resizes[name]
        if target != group.mig.target_size:
            group = replace(group, mig=msgspec.structs.replace(group.mig, target_size=target))
        return self._without_deleted(group, deletions) if deletions else group

    def is_undone_by(self, group: ManagedGroup, target: int) -> bool:
        """Tell whether a resize to *target* would shrink *group* if its last order is in effect but not shown."""
        with self._lock:
            order = self._recent(group.address.id)
        return order is not None and group.mig.target_size in order.before and target < order.target

    def is_recent(self, group: str) -> bool:
        """Tell whether Google may not list yet what came of the last order of a group, by its id."""
        with self._lock:
            return self._recent(group) is not None

    def _recent(self, group: str) -> _Resize | None:
        order = self._resizes.get(group)
        return order if order is not None and self._clock.now() - order.at < _LAG else None

    @staticmethod
    def _without_deleted(group: ManagedGroup, deletions: dict[str, _Deletion]) -> ManagedGroup:
        def applied(machine: ManagedInstance) -> ManagedInstance:
            order = deletions.get(provider_id(machine, group.address.place))
            if order is None or order.is_of_another(machine):
                return machine
            return going(machine)

        members = tuple(map(applied, group.members))
        # Whoever keeps what it made of the members goes by their identity.
        changed = any(new is not old for new, old in zip(members, group.members, strict=True))
        return replace(group, members=members) if changed else group


def going(machine: ManagedInstance) -> ManagedInstance:
    """Return *machine* on its way out."""
    if machine.current_action == "DELETING":
        return machine
    return msgspec.structs.replace(machine, current_action="DELETING")
