"""Auto Scaling at work: machines come, go, fail, and are replaced; and answers that lag behind."""

import random
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol

from nodewright.api import Clock

from nodewright_aws.pools import Pool
from nodewright_aws.testing.allocation import Allocation
from nodewright_aws.testing.group import Activity, Group, Machine
from nodewright_aws.testing.messages import validation_error
from nodewright_aws.testing.supply import Shortage, Supply, status_message

#: Seconds until a group tries again to launch what failed to.
_RETRY_SECONDS = 60.0


class Settings(Protocol):
    """The settings of groups that a `Fleet` needs."""

    def launch(self, group: str) -> Allocation:
        """What the group launches."""
        ...

    def suspended(self, group: str) -> frozenset[str]:
        """Its suspended processes."""
        ...

    def hooks(self, group: str) -> frozenset[str]:
        """The transitions at which its machines wait: ``autoscaling:EC2_INSTANCE_LAUNCHING`` and ``_TERMINATING``."""
        ...

    def protects(self, group: str) -> bool:
        """Whether its new machines are protected from scale-in."""
        ...

    def source(self, group: str) -> Mapping[str, object]:
        """``LaunchTemplate`` or ``LaunchConfigurationName`` of new machines, as boto3 has it."""
        ...


class Fleet:
    """The groups and machines of a region, by the *clock*. Changes that are due are made at the next look.

    Machines come into service *boot_seconds* after they were ordered, and are gone *stop_seconds* after they were
    terminated; None leaves both to `settle`. Failures show *news_seconds* after they happened.
    """

    def __init__(self, settings: Settings, clock: Clock, *, seed: int = 0) -> None:
        self.clock = clock
        self.supply = Supply()
        self.groups: dict[str, Group] = {}
        self.boot_seconds: float | None = None
        self.stop_seconds: float | None = None
        self.news_seconds = 0.0
        self._settings = settings
        self._random = random.Random(seed)
        self._owners: dict[str, str] = {}

    def group(self, name: str) -> Group:
        """The group of that name; raises `RefusalError`."""
        if name not in self.groups:
            raise validation_error("AutoScalingGroup name not found - null")
        return self.groups[name]

    def machine(self, number: str) -> Machine | None:
        """The machine of that id, if there is one."""
        group = self.groups.get(self._owners.get(number, ""))
        return group.machines.get(number) if group else None

    def machines(self) -> Iterator[Machine]:
        """All machines, group by group."""
        for group in self.groups.values():
            yield from group.machines.values()

    def add(self, group: Group) -> None:
        """Add a group."""
        self.groups[group.name] = group
        self.work(group)

    def remove(self, name: str) -> None:
        """Forget a group and its machines."""
        for number in self.groups.pop(name).machines:
            self._owners.pop(number, None)

    def resize(
        self, group: Group, desired: int, cause: str = "a user request explicitly set group desired capacity"
    ) -> None:
        """Change the desired capacity, and launch at once, even after a failure."""
        group.desired = desired
        group.retry_at = None
        self.work(group, cause)

    def terminate(self, machine: Machine, cause: str) -> Activity:
        """Start to terminate a machine."""
        group = self.groups[machine.group]
        if not machine.going:
            waits = "autoscaling:EC2_INSTANCE_TERMINATING" in self._settings.hooks(group.name)
            machine.state = "Terminating:Wait" if waits else "Terminating"
            machine.next_at = None if waits else self._in(self.stop_seconds)
        return self._tell(group, f"Terminating EC2 instance: {machine.id}", cause, "InProgress")

    def vanish(
        self, number: str, cause: str = "an instance was taken out of service in response to an EC2 health check"
    ) -> None:
        """Remove a machine at once, without its group, which then replaces it."""
        group = self.groups[self._owners.pop(number)]
        del group.machines[number]
        self._tell(group, f"Terminating EC2 instance: {number}", cause, "Successful")
        self.work(group, cause)

    def warm(self, group: Group, count: int, state: str) -> list[Machine]:
        """Put machines into the warm pool of a group."""
        (first, *_), *_ = self._settings.launch(group.name).choices(group.living)
        return [self._make(group, first, state) for _ in range(count)]

    def proceed(self, machine: Machine) -> None:
        """Move a machine to its next state."""
        group = self.groups[machine.group]
        machine.next_at = None
        if machine.going:
            del group.machines[machine.id]
            self._owners.pop(machine.id)
        elif machine.state == "Pending" and "autoscaling:EC2_INSTANCE_LAUNCHING" in self._settings.hooks(group.name):
            machine.state = "Pending:Wait"
        elif machine.state.startswith("Pending"):
            machine.state = "InService"
            self._tell(group, f"Launching a new EC2 instance: {machine.id}", "", "Successful")

    def settle(self, groups: Iterable[str] | None = None) -> None:
        """Finish what is under way: launches, starts and terminations, except for lifecycle hooks."""
        for name in list(self.groups if groups is None else groups):
            group = self.groups[name]
            group.retry_at = None
            self.work(group)
            for machine in list(group.machines.values()):
                if machine.state in ("Pending", "Terminating"):
                    self.proceed(machine)

    def catch_up(self) -> None:
        """Make the changes that are due."""
        now = self.clock.now()
        for group in self.groups.values():
            for machine in [each for each in group.machines.values() if each.next_at and each.next_at <= now]:
                self.proceed(machine)
            if group.retry_at is not None and group.retry_at <= now:
                group.retry_at = None
                self.work(group)

    def work(self, group: Group, cause: str = "a difference between desired and actual capacity") -> None:
        """Launch missing machines, and terminate surplus ones."""
        missing = group.desired - len(group.living)
        suspended = self._settings.suspended(group.name) if missing else frozenset()
        if missing > 0 and "Launch" not in suspended and group.retry_at is None:
            self._launch(group, missing, cause)
        elif missing < 0 and "Terminate" not in suspended:
            spare = [machine for machine in group.living if not machine.protected]
            for machine in sorted(spare, key=lambda machine: machine.launched_at)[:-missing]:
                self.terminate(machine, cause)

    def _launch(self, group: Group, count: int, cause: str) -> None:
        launch = self._settings.launch(group.name)
        living = group.living
        warm = [machine for machine in group.machines.values() if machine.state.startswith("Warmed:")]
        for machine in warm[:count]:
            machine.state, machine.next_at = "Pending", self._in(self.boot_seconds)
            living.append(machine)
        for _ in range(count - len(warm)):
            pool = self._find(group, launch, living, cause)
            if pool is None:
                group.retry_at = self._in(_RETRY_SECONDS)
                return
            self.supply.take(group.name, pool)
            living.append(self._make(group, pool, "Pending"))
            living[-1].next_at = self._in(self.boot_seconds)

    def _make(self, group: Group, pool: Pool, state: str) -> Machine:
        machine = Machine(
            id=f"i-{self._random.getrandbits(68):017x}",
            group=group.name,
            pool=pool,
            launched_at=self.clock.now(),
            state=state,
            protected=self._settings.protects(group.name),
            source=self._settings.source(group.name),
        )
        group.machines[machine.id] = machine
        self._owners[machine.id] = group.name
        return machine

    def _find(self, group: Group, launch: Allocation, living: list[Machine], cause: str) -> Pool | None:
        """The pool of the next machine; each zone without one gets a failed activity."""
        for pools in launch.choices(living):
            shortages: list[tuple[Shortage, Pool]] = []
            for pool in pools:
                shortage = self.supply.shortage(group.name, pool)
                if shortage is None:
                    return pool
                shortages.append((shortage, pool))
            for shortage, pool in shortages[:1]:
                if shortage.silent:
                    continue
                message = status_message(shortage, pool, launch.zones, mixed=launch.distribution is not None)
                self._tell(
                    group,
                    f"Launching a new EC2 instance.  Status Reason: {message}",
                    cause,
                    "Failed",
                    message=message,
                    details=f'{{"Availability Zone":"{pool.zone}"}}',
                )
        return None

    def _tell(
        self, group: Group, description: str, cause: str, status: str, *, message: str = "", details: str = "{}"
    ) -> Activity:
        now = self.clock.now()
        activity = Activity(
            id=f"{self._random.getrandbits(128):032x}",
            group=group.name,
            description=description,
            cause=f"At {now:%Y-%m-%dT%H:%M:%SZ} {cause}." if cause else "",
            started_at=now,
            ended_at=None if status == "InProgress" else now,
            status=status,
            message=message,
            shown_at=now + timedelta(seconds=self.news_seconds if status == "Failed" else 0),
            details=details,
        )
        group.activities.append(activity)
        return activity

    def _in(self, seconds: float | None) -> datetime | None:
        return None if seconds is None else self.clock.now() + timedelta(seconds=seconds)


class Replica:
    """A copy of the fleet that is *seconds* behind it; the fleet itself if that is 0."""

    def __init__(self, fleet: Fleet) -> None:
        self.seconds = 0.0
        self._fleet = fleet
        #: Copies, and until when they were current, the oldest first.
        self._past: deque[tuple[datetime, Mapping[str, Group]]] = deque()

    def look(self) -> None:
        """Copy the groups; call it before each change and each answer."""
        if not self.seconds:
            self._past.clear()
            return
        now = self._fleet.clock.now()
        self._past.append((now, {name: _copy(group) for name, group in self._fleet.groups.items()}))
        while self._past[0][0] <= now - timedelta(seconds=self.seconds):
            self._past.popleft()

    def group(self, name: str) -> Group:
        """The group as it was; the present group if it did not exist then."""
        known = self._past[0][1] if self._past else {}
        return known.get(name) or self._fleet.group(name)


def _copy(group: Group) -> Group:
    return replace(group, machines={number: replace(machine) for number, machine in group.machines.items()})
