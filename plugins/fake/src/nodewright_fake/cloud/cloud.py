"""The cloud: node groups, their sizes and what its customers may ask for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import RLock

from nodewright.api import InstanceError, Pause

from nodewright_fake.agenda import Agenda
from nodewright_fake.cloud.boot_fault import BootFaults
from nodewright_fake.cloud.fleet import Fleet, Hosts
from nodewright_fake.cloud.gate import Gate
from nodewright_fake.cloud.group import GroupSettings
from nodewright_fake.cloud.instance import CloudInstance
from nodewright_fake.cloud.instance_type import InstanceType
from nodewright_fake.cloud.journal import Entry, Journal, Spending
from nodewright_fake.cloud.limits import Bounds
from nodewright_fake.cloud.refusal import (
    RefusalError,
    bad_request,
    foreign_instance,
    group_not_found,
    no_capacity,
    size_limit,
)
from nodewright_fake.cloud.shortage import ShortageMode, Supply
from nodewright_fake.names import Known


@dataclass(kw_only=True)
class Group:
    """A node group and the number of machines that it is asked to have."""

    settings: GroupSettings
    desired: int
    #: The shortage that was last written into the journal, so that it is written once.
    short: str = ""
    #: Why nothing comes of its last order, if it says so.
    error: InstanceError | None = None
    #: Why it is not the autoscaler's to change; None if it is.
    pause: Pause | None = None


class Cloud:
    """The whole fake cloud. Safe to use from any thread; what happens to machines happens on the world's thread.

    Requests that the cloud refuses raise `RefusalError` and change nothing.
    """

    def __init__(
        self,
        *,
        agenda: Agenda,
        hosts: Hosts,
        zones: Sequence[str],
        instance_types: Mapping[str, InstanceType],
        groups: Iterable[GroupSettings] = (),
        limits: Mapping[str, Bounds] | None = None,
        seed: int = 0,
    ) -> None:
        self.agenda = agenda
        self.lock = RLock()
        self.zones = tuple(zones)
        self.instance_types = dict(instance_types)
        self.limits = dict(limits or {})
        self.seed = seed
        self.gate = Gate(agenda.clock)
        self.supply = Supply(self.instance_types)
        self.boot_faults = BootFaults()
        self._journal = Journal(agenda.clock)
        self.fleet = Fleet(
            agenda=agenda,
            lock=self.lock,
            hosts=hosts,
            journal=self._journal,
            supply=self.supply,
            boot_faults=self.boot_faults,
            seed=seed,
        )
        self.fleet.on_gone = self.fill
        self._groups: dict[str, Group] = {}
        for settings in groups:
            group = Group(settings=settings, desired=settings.initial_size)
            self._groups[settings.name] = group
            for _ in range(group.desired):
                self.fleet.place(settings, self.instance_types[settings.instance_type])

    @property
    def groups(self) -> tuple[Group, ...]:
        """All groups, in the order in which they were made."""
        with self.lock:
            return tuple(self._groups.values())

    @property
    def history(self) -> tuple[Entry, ...]:
        """What happened, oldest first."""
        with self.lock:
            return self._journal.entries

    def history_since(self, written: int) -> tuple[int, tuple[Entry, ...]]:
        """Return what happened after the first *written* entries, and how many there are by now."""
        with self.lock:
            return self._journal.written, self._journal.since(written)

    @property
    def spending(self) -> dict[str, Spending]:
        """What each group used until now, and what it cost."""
        with self.lock:
            return self._journal.spending

    @property
    def known(self) -> Known:
        """The names that actions may refer to."""
        groups = self.groups
        return Known(
            zones=self.zones,
            instance_types=self.instance_types,
            groups=[group.settings.name for group in groups],
            pools=sorted({group.settings.pool for group in groups}),
        )

    def group(self, name: str) -> Group:
        """A group by its name."""
        with self.lock:
            found = self._groups.get(name)
        if found is None:
            raise group_not_found(name)
        return found

    def instances(self, group: str) -> list[CloudInstance]:
        """The machines of a group, in the order in which they were ordered."""
        with self.lock:
            return self.fleet.of(self.group(group).settings.name)

    def increase(self, name: str, count: int, *, up_to: int | None = None, atomic: bool = False) -> int:
        """Ask for *count* more machines, but not beyond *up_to*; return the desired size.

        If *atomic*, all of them can be had or the request is refused.
        """
        with self.lock:
            group = self.group(name)
            maximum = group.settings.max if up_to is None else min(group.settings.max, up_to)
            if group.desired + count > maximum:
                raise size_limit(
                    f"group {name} can't grow from {group.desired} to {group.desired + count} machines: "
                    f"its maximum is {maximum}"
                )
            shortage = self.supply.shortage(group.settings, count)
            if shortage is not None and (atomic or shortage.mode is ShortageMode.REFUSE):
                self._journal.note("refused", name, detail=shortage.error.code)
                raise no_capacity(shortage.error)
            group.desired += count
            self._fill(group)
            return group.desired

    def delete_instances(self, name: str, ids: Sequence[str], *, keep: int = 0, force: bool = False) -> int:
        """Delete machines and lower the desired size by as many, but not below *keep*; return it.

        Machines that are gone or on their way out are passed over. If *force*, no minimum is kept.
        """
        with self.lock:
            group = self.group(name)
            doomed = self._doomed(name, ids)
            minimum = 0 if force else max(group.settings.min, keep)
            if doomed and group.desired - len(doomed) < minimum:
                raise size_limit(
                    f"group {name} can't lose {len(doomed)} of {group.desired} machines: its minimum is {minimum}"
                )
            group.desired -= len(doomed)
            for instance in doomed:
                self.fleet.delete(instance)
            return group.desired

    def decrease_target(self, name: str, count: int) -> int:
        """Take back demand for *count* machines that were not made yet; return the desired size."""
        with self.lock:
            group = self.group(name)
            there = self.fleet.size(name)
            if group.desired - count < there:
                raise size_limit(
                    f"group {name} can't be asked for {group.desired - count} machines without deleting any: "
                    f"it has {there}"
                )
            if group.desired - count < group.settings.min:
                raise size_limit(
                    f"group {name} can't be asked for {group.desired - count} machines: "
                    f"its minimum is {group.settings.min}"
                )
            group.desired -= count
            return group.desired

    def stop(self, instance: CloudInstance) -> None:
        """Stop a machine, and ask for one less. The group's next order starts it again."""
        with self.lock:
            self._groups[instance.group.name].desired -= 1
            self.fleet.stop(instance)

    def create_group(self, settings: GroupSettings) -> None:
        """Add a group; its machines are ordered like any others."""
        with self.lock:
            if settings.name in self._groups:
                raise RefusalError(409, "GROUP_EXISTS", f"there is a node group {settings.name!r} already")
            group = Group(settings=settings, desired=settings.initial_size)
            self._groups[settings.name] = group
            self._fill(group)

    def delete_group(self, name: str) -> None:
        """Remove a group that has no machines."""
        with self.lock:
            group = self.group(name)
            left = len(self.fleet.of(name))
            if left or group.desired:
                raise RefusalError(
                    409, "GROUP_NOT_EMPTY", f"group {name} is asked for {group.desired} and has {left} machines"
                )
            del self._groups[name]

    def resize(self, name: str, *, minimum: int | None, maximum: int | None, desired: int | None) -> None:
        """Change a group's bounds and size, as a person does in a console; surplus machines are deleted, newest first.

        The size is kept within the bounds.
        """
        with self.lock:
            group = self.group(name)
            low = group.settings.min if minimum is None else minimum
            high = group.settings.max if maximum is None else maximum
            if low > high:
                raise bad_request(f"min {low} is above max {high}")
            group.settings = group.settings.model_copy(update={"min": low, "max": high})
            group.desired = min(max(group.desired if desired is None else desired, low), high)
            self._journal.note("resized", name, detail=f"{low} to {high}, desired {group.desired}")
            staying = [instance for instance in self.fleet.of(name) if not instance.going]
            for surplus in staying[group.desired :]:
                self.fleet.delete(surplus)
            self._fill(group)

    def fill(self) -> None:
        """Order the machines that are desired and could not be had before."""
        with self.lock:
            for group in self._groups.values():
                self._fill(group)

    def _doomed(self, name: str, ids: Sequence[str]) -> list[CloudInstance]:
        doomed = []
        for instance_id in dict.fromkeys(ids):
            instance = self.fleet.find(instance_id)
            group = instance.group.name if instance else self.fleet.former_group(instance_id)
            if group != name:
                raise foreign_instance(instance_id, name)
            if instance is not None and not instance.going:
                doomed.append(instance)
        return doomed

    def _fill(self, group: Group) -> None:
        instance_type = self.instance_types[group.settings.instance_type]
        group.error = None
        for _ in range(group.desired - self.fleet.size(group.settings.name)):
            if self.fleet.start(group.settings):
                continue
            shortage = self.supply.shortage(group.settings)
            if shortage is None:
                group.short = ""
                self.fleet.order(group.settings, instance_type)
            elif shortage.mode is ShortageMode.FAIL:
                self.fleet.order_in_vain(group.settings, instance_type, shortage.error)
            else:
                group.error = shortage.error if shortage.mode is ShortageMode.SAY else None
                if group.short != shortage.error.code:
                    group.short = shortage.error.code
                    self._journal.note("short", group.settings.name, detail=shortage.error.code)
                return
