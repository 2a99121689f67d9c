"""Machines that boot badly, hang or are taken back."""

from fnmatch import fnmatchcase
from random import Random

from nodewright.api import ErrorClass, InstanceError
from pydantic import Field

from nodewright_fake.cloud.action import Action
from nodewright_fake.cloud.boot_fault import BootFault, BootFaultKind
from nodewright_fake.cloud.cloud import Cloud
from nodewright_fake.cloud.instance import CloudInstance
from nodewright_fake.cloud.refusal import bad_request
from nodewright_fake.duration import Duration
from nodewright_fake.names import GroupPattern


class BreakBoots(Action):
    """Machines ordered from now on do not boot as they should."""

    summary = "let new machines never register, stay unready or fail"

    groups: GroupPattern
    kind: BootFaultKind
    share: float = Field(default=1.0, gt=0, le=1)
    times: int | None = Field(default=None, ge=1)
    error_class: ErrorClass = ErrorClass.OTHER
    code: str = "BOOT_FAILED"
    message: str = "the machine did not boot"

    def apply(self, cloud: Cloud) -> None:
        """Set the fault."""
        error = InstanceError(error_class=self.error_class, code=self.code, message=self.message)
        with cloud.lock:
            cloud.boot_faults.add(
                BootFault(groups=self.groups, kind=self.kind, share=self.share, times=self.times, error=error)
            )


class HealBoots(Action):
    """Machines ordered from now on boot well."""

    summary = "end boot faults"

    groups: str = "*"

    def apply(self, cloud: Cloud) -> None:
        """Forget the faults."""
        with cloud.lock:
            cloud.boot_faults.heal(self.groups)


class Reclaim(Action):
    """The cloud takes machines back: the one named, or spot machines that match a pattern."""

    summary = "take machines back, as clouds do with spot machines"

    machine: str
    notice: Duration = 0.0
    count: int | None = Field(default=None, ge=1)

    def apply(self, cloud: Cloud) -> None:
        """Take them, the oldest first."""
        with cloud.lock:
            wild = any(wildcard in self.machine for wildcard in "*?[")
            machines = _machines(cloud, self.machine, spot=wild)
            for machine in machines[: self.count]:
                cloud.fleet.reclaim(machine, self.notice)


class ReclaimEvery(Action):
    """The cloud takes a spot machine back every now and then, chosen by chance."""

    summary = "take a spot machine back again and again"

    groups: GroupPattern = "*"
    every: Duration = Field(gt=0)
    notice: Duration = 0.0
    #: How often; None for always.
    times: int | None = Field(default=None, ge=1)

    def apply(self, cloud: Cloud) -> None:
        """Put the first time down."""
        self._put_down(cloud, 1)

    def _put_down(self, cloud: Cloud, number: int) -> None:
        if self.times is None or number <= self.times:
            cloud.agenda.after(self.every, lambda: self._take_one(cloud, number))

    def _take_one(self, cloud: Cloud, number: int) -> None:
        with cloud.lock:
            takeable = [
                machine
                for machine in cloud.fleet.all()
                if machine.group.spot
                and not machine.going
                and machine.error is None
                and machine.reclaim_at is None
                and fnmatchcase(machine.group.name, self.groups)
            ]
            if takeable:
                chance = Random(f"{cloud.seed}/{self.groups}/{number}")
                cloud.fleet.reclaim(chance.choice(takeable), self.notice)
        self._put_down(cloud, number + 1)


class Stop(Action):
    """Machines stop, and their groups are asked for fewer; the next orders start them again."""

    summary = "stop machines, which the next orders start again"

    machine: str

    def apply(self, cloud: Cloud) -> None:
        """Stop them."""
        with cloud.lock:
            for machine in _machines(cloud, self.machine):
                if machine.state.counted:
                    cloud.stop(machine)


class Remake(Action):
    """Machines are made anew under their names."""

    summary = "make machines anew under their names"

    machine: str

    def apply(self, cloud: Cloud) -> None:
        """Make them anew."""
        with cloud.lock:
            for machine in _machines(cloud, self.machine):
                cloud.fleet.remake(machine)


class Hang(Action):
    """Machines go on running, but their kubelets stop reporting."""

    summary = "stop the kubelets of machines from reporting"

    machine: str

    def apply(self, cloud: Cloud) -> None:
        """Let them hang."""
        with cloud.lock:
            for machine in _machines(cloud, self.machine):
                cloud.fleet.hang(machine)


class Recover(Action):
    """Kubelets that stopped reporting report again."""

    summary = "end what hang did"

    machine: str

    def apply(self, cloud: Cloud) -> None:
        """Let them recover."""
        with cloud.lock:
            for machine in _machines(cloud, self.machine):
                cloud.fleet.recover(machine)


def _machines(cloud: Cloud, pattern: str, *, spot: bool = False) -> list[CloudInstance]:
    """The machines that a pattern names, at least one; of those, if *spot*, only those that can be taken back."""
    machines = [
        machine
        for machine in cloud.fleet.all()
        if not machine.going and machine.error is None and fnmatchcase(machine.name, pattern)
    ]
    if spot:
        machines = [machine for machine in machines if machine.group.spot]
    if not machines:
        raise bad_request(f"no {'spot ' if spot else ''}machine matches {pattern!r}")
    return machines
