"""Managed instance groups at work: machines come, fail, are made anew and go; and answers that lag behind."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from nodewright.api import Clock

from nodewright_gce.resources.address import Address
from nodewright_gce.testing.capacity import Capacity, Plan
from nodewright_gce.testing.group import Group, Machine, ResizeRequest
from nodewright_gce.testing.messages import RefusalError, invalid
from nodewright_gce.testing.operations import ChangeError
from nodewright_gce.testing.troubles import error_of
from nodewright_gce.testing.urls import time_of, url

#: Seconds from a failed attempt to the next, and how long that takes to fail: it shows no errors meanwhile.
RETRY_SECONDS = 60.0
ATTEMPT_SECONDS = 5.0
#: Seconds from the notice to a preempted machine until it is made anew.
_NOTICE_SECONDS = 30.0
_COMING = ("CREATING", "RECREATING", "CREATING_WITHOUT_RETRIES")
#: In the codes of errors that keep a resize request waiting; others let it fail.
_WORTH_WAITING = ("EXHAUSTED", "STOCKOUT", "CAPACITY")
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


class Fleet:
    """The groups and machines of a project, by the *clock*. Changes that are due are made at the next look.

    *plan* tells what the next machine of a group would be; it raises `RefusalError` if the template is gone.

    Machines exist *start_seconds* after they were ordered, run *boot_seconds* after that, and are gone *stop_seconds*
    after they were deleted; None leaves each to `settle`. Failures show *news_seconds* after they happened.
    """

    def __init__(self, plan: Callable[[Group], Plan], clock: Clock, *, seed: int = 0) -> None:
        self.clock = clock
        self.capacity = Capacity(lambda: [*self.machines(), *self.abandoned.values()])
        self.groups: dict[str, Group] = {}
        #: Machines of no group any more, which still run.
        self.abandoned: dict[str, Machine] = {}
        self.start_seconds: float | None = None
        self.boot_seconds: float | None = None
        self.stop_seconds: float | None = None
        self.news_seconds = 0.0
        self._plan = plan
        #: When the change was due that is being made, if that was before now.
        self._due: datetime | None = None
        self._random = random.Random(seed)

    def group(self, address: Address) -> Group:
        """The group at *address*; raises `RefusalError`."""
        if address.id not in self.groups:
            raise RefusalError(404, "notFound", f"The resource '{address.path}' was not found")
        return self.groups[address.id]

    def machines(self) -> Iterator[Machine]:
        """All machines, group by group."""
        for group in self.groups.values():
            yield from group.machines.values()

    def owner(self, machine: Machine) -> Group:
        """The group of a machine."""
        return next(group for group in self.groups.values() if group.machines.get(machine.name) is machine)

    def add(self, group: Group) -> None:
        """Add a group."""
        self.groups[group.id] = group
        self.work(group)

    def remove(self, group: Group) -> None:
        """Forget a group and its machines."""
        del self.groups[group.id]

    # What others order

    def create(self, group: Group, names: Sequence[str]) -> None:
        """Make machines of these names, all or none; raises `ChangeError`."""
        self._check_supply(group)
        taken = {machine.name for machine in self.machines()} | self.abandoned.keys()
        for name in names:
            if name in taken:
                raise ChangeError(
                    "RESOURCE_ALREADY_EXISTS",
                    f"The resource '{group.address.place.path}/instances/{name}' already exists",
                )
        group.configured = True
        group.target += len(names)
        made = [self._make(group, name) for name in names]
        for machine in made:
            self._attempt(group, machine)

    def resize(self, group: Group, size: int, *, retries: bool = True) -> None:
        """Change the target size; raises `ChangeError`.

        Without *retries*, a machine whose first attempt fails is given up, and lowers it.
        """
        if size > group.target:
            self._check_supply(group)
            if group.bulk:
                self._check_quotas(group, size - group.target)
        group.target = size
        self.work(group, "CREATING" if retries else "CREATING_WITHOUT_RETRIES")

    def delete(self, group: Group, machines: Iterable[Machine], action: str = "DELETING") -> None:
        """Delete machines, or abandon them, and lower the target by those that it counts."""
        for machine in machines:
            if machine.going:
                continue
            group.count(machine.target_status, -1)
            self._end(machine, action)

    def rest(self, group: Group, machines: Iterable[Machine], status: str) -> None:
        """Let machines stand by, ``STOPPED`` or ``SUSPENDED``: the target size counts them no more."""
        for machine in machines:
            self._aim(group, machine, status, "STOPPING" if status == "STOPPED" else "SUSPENDING")

    def wake(self, group: Group, machines: Iterable[Machine]) -> None:
        """Let machines that stand by run, and count."""
        for machine in machines:
            self._aim(group, machine, "RUNNING", "RESUMING" if machine.status == "SUSPENDED" else "STARTING")

    def recreate(self, group: Group, machine: Machine) -> None:
        """Make a machine anew under its name."""
        machine.action, machine.status, machine.id = "RECREATING", "", 0
        machine.granted, machine.attempting, machine.errors = False, False, ()
        self._attempt(group, machine)

    def preempt(self, machine: Machine) -> None:
        """Stop a spot machine; its group makes it anew under its name when the notice has passed."""
        machine.status = "STOPPING"
        machine.next_at = self.clock.now() + timedelta(seconds=_NOTICE_SECONDS)

    def insert(self, group: Group, request: ResizeRequest) -> None:
        """Accept a resize request: the target grows at once, the machines come together."""
        if request.name in group.requests:
            raise RefusalError(409, "alreadyExists", f"The resource '{request.name}' already exists")
        self._check_supply(group)
        group.requests[request.name] = request
        group.target += request.count
        for _ in range(request.count):
            self._make(group, self._new_name(group)).request = request.name
        self._attempt(group, self._machines_of(group, request)[0])

    def cancel(self, group: Group, request: ResizeRequest, state: str = "CANCELLED") -> None:
        """Give a resize request up: its machines are gone, and the target is lower by them."""
        if not request.open:
            raise invalid(f"Resize request {request.name} is {request.state}: only accepted ones can be cancelled.")
        request.state = state
        for machine in self._machines_of(group, request):
            group.target -= 1
            del group.machines[machine.name]

    def _check_supply(self, group: Group) -> None:
        refusal = self.capacity.supply.refusal(group.name, self._plan(group).pools)
        if refusal is not None:
            shortage, pool = refusal
            error = error_of(shortage.trouble, pool, group.address.path, shortage.message)
            raise ChangeError(error["code"], error["message"], error.get("errorDetails", ()))

    def _check_quotas(self, group: Group, count: int) -> None:
        """Raise `ChangeError` unless there is room for so many machines, which come together or not at all."""
        plan = self._plan(group)
        error = self.capacity.over_quota(plan.pools[0], plan.takes[plan.pools[0].machine_type], count)
        if error is not None:
            raise ChangeError(error["code"], error["message"], error.get("errorDetails", ()))

    # The work of the groups

    def settle(self, groups: Iterable[Group] | None = None) -> None:
        """Finish what is under way."""
        for group in list(self.groups.values() if groups is None else groups):
            self.work(group)
            for machine in list(group.machines.values()):
                if not machine.granted and machine.action in _COMING:
                    self._attempt(group, machine)
                while machine.name in group.machines and self._proceed(group, machine):
                    pass

    def catch_up(self) -> None:
        """Make the changes that are due."""
        now = self.clock.now()
        for group in list(self.groups.values()):
            for machine in [each for each in group.machines.values() if each.next_at and each.next_at <= now]:
                while machine.next_at is not None and machine.next_at <= now:
                    self._due = machine.next_at
                    self._go_on(group, machine)
            self._due = None
            for machine in [each for each in group.machines.values() if each.ends_at and each.ends_at <= now]:
                self.delete(group, [machine])

    def work(self, group: Group, action: str = "CREATING") -> None:
        """Make missing machines, and delete surplus ones."""
        missing = group.target - len(group.living)
        if missing < 0:
            spare = [each for each in group.living if not each.queued]
            for machine in self._random.sample(spare, min(-missing, len(spare))):
                self._end(machine, "DELETING")
            return
        if group.settings.get("standbyPolicy", {}).get("mode") == "SCALE_OUT_POOL":
            missing -= self._wake(group, missing)
        for machine in [self._make(group, self._new_name(group), action) for _ in range(missing)]:
            self._attempt(group, machine)
        self._stand_by(group)

    def _aim(self, group: Group, machine: Machine, status: str, action: str) -> None:
        if machine.target_status == status or machine.going:
            return
        group.count(machine.target_status, -1)
        group.count(status, 1)
        machine.target_status, machine.action = status, action
        machine.next_at = self._in(self.boot_seconds)

    def _wake(self, group: Group, count: int) -> int:
        """Start up to so many machines that stand by; return how many."""
        idle = [each for each in group.machines.values() if each.target_status != "RUNNING" and each.action == "NONE"]
        stopped, suspended = group.stopped, group.suspended
        self.wake(group, idle[:count])
        # Others will stand by in their place, and the target has grown already.
        group.target -= len(idle[:count])
        group.stopped, group.suspended = stopped, suspended
        return len(idle[:count])

    def _stand_by(self, group: Group) -> None:
        """Make the machines that are to stand by and do not yet."""
        for status, wanted in (("STOPPED", group.stopped), ("SUSPENDED", group.suspended)):
            there = sum(each.target_status == status and not each.going for each in group.machines.values())
            for _ in range(wanted - there):
                machine = self._make(group, self._new_name(group))
                machine.target_status = status
                self._attempt(group, machine)

    def _go_on(self, group: Group, machine: Machine) -> None:
        """Make the change to a machine that is due now."""
        if machine.granted or machine.action not in _COMING:
            self._proceed(group, machine)
        elif machine.errors and not machine.attempting:
            machine.attempting = True
            machine.next_at = self._in(ATTEMPT_SECONDS)
        else:
            self._attempt(group, machine)

    def _make(self, group: Group, name: str, action: str = "CREATING") -> Machine:
        plan = self._plan(group)
        zone = self._next_zone(group)
        pools = [pool for pool in plan.pools if pool.zone == zone]
        machine = Machine(
            name=name,
            project=group.address.place.project,
            group=group.name,
            owner=group.address.place.path.split("/", 2)[2],
            pool=pools[0],
            flexible=plan.flexible,
            template=plan.template,
            version=plan.version,
            action=action,
        )
        group.machines[name] = machine
        return machine

    def _next_zone(self, group: Group) -> str:
        count = Counter(machine.zone for machine in group.machines.values())
        return min(group.zones, key=lambda zone: (count[zone], zone))

    def _new_name(self, group: Group) -> str:
        while True:
            name = f"{group.base}-{''.join(self._random.choices(_LETTERS, k=4))}"
            if name not in group.machines:
                return name

    def _attempt(self, group: Group, machine: Machine) -> None:
        """Try to get capacity for a machine, with all that must come together with it."""
        machines = [machine]
        request = group.requests.get(machine.request)
        if machine.action == "CREATING" and (request is not None or group.bulk):
            machines = [
                each
                for each in group.machines.values()
                if each.request == machine.request and each.action == "CREATING" and not each.granted
            ]
        if all(each.granted for each in machines):
            return
        error: Mapping[str, Any] | None = None
        for each in machines:
            each.errors, each.attempting, each.next_at = (), False, None
            error = self.capacity.grant(group.name, each, self._plan(group))
            if not each.granted:
                break
        if all(each.granted for each in machines):
            for each in machines:
                each.next_at = self._in(self.start_seconds)
                each.ends_at = self._in(request.seconds) if request else None
            return
        for each in machines:
            if each.granted:
                self.capacity.give_back(group.name, each)
            each.next_at = self._in(RETRY_SECONDS)
            if error is not None:
                self._fail(group, each, error)
        if request is not None and error is not None:
            request.errors = [error]
            if not any(word in error["code"] for word in _WORTH_WAITING):
                self.cancel(group, request, "FAILED")

    def _fail(self, group: Group, machine: Machine, error: Mapping[str, Any]) -> None:
        now = self._now()
        machine.errors = [error]
        machine.shown_at = now + timedelta(seconds=self.news_seconds)
        group.history.append(
            {
                "error": {"code": error["code"], "message": error["message"]},
                "instanceActionDetails": {
                    "action": machine.action,
                    "instance": url(machine.path),
                    "version": {"instanceTemplate": machine.template, "name": machine.version},
                },
                "timestamp": time_of(now),
            }
        )
        if machine.action == "CREATING_WITHOUT_RETRIES":
            group.target -= 1
            del group.machines[machine.name]

    def _proceed(self, group: Group, machine: Machine) -> bool:
        """Move a machine to its next state; tell whether there was one."""
        machine.next_at = None
        if machine.action == "DELETING":
            del group.machines[machine.name]
        elif machine.action == "ABANDONING":
            del group.machines[machine.name]
            machine.group, machine.action = "", "NONE"
            self.abandoned[machine.name] = machine
        elif machine.action in _COMING and machine.granted:
            if not machine.id:
                self._come_to_be(machine)
            else:
                self._run(group, machine)
        elif machine.action in ("STARTING", "RESUMING", "STOPPING", "SUSPENDING"):
            self._run(group, machine)
        elif machine.action == "NONE" and machine.status == "STOPPING":
            self.recreate(group, machine)
        else:
            return False
        return True

    def _come_to_be(self, machine: Machine) -> None:
        machine.id = self._random.getrandbits(60) + (1 << 60)
        machine.status = "PROVISIONING"
        machine.created_at = self._now()
        machine.next_at = self._in(self.boot_seconds)

    def _run(self, group: Group, machine: Machine) -> None:
        machine.action = "NONE"
        machine.status = {"RUNNING": "RUNNING", "STOPPED": "TERMINATED", "SUSPENDED": "SUSPENDED"}[
            machine.target_status
        ]
        request = group.requests.get(machine.request)
        if (
            request is not None
            and request.open
            and all(each.status == "RUNNING" for each in self._machines_of(group, request))
        ):
            request.state = "SUCCEEDED"

    def _end(self, machine: Machine, action: str) -> None:
        machine.action, machine.errors = action, ()
        machine.next_at = self._in(self.stop_seconds)
        if machine.status:
            machine.status = "STOPPING" if action == "DELETING" else machine.status

    def _machines_of(self, group: Group, request: ResizeRequest) -> list[Machine]:
        return [machine for machine in group.machines.values() if machine.request == request.name]

    def _in(self, seconds: float | None) -> datetime | None:
        return None if seconds is None else self._now() + timedelta(seconds=seconds)

    def _now(self) -> datetime:
        return self._due or self.clock.now()
