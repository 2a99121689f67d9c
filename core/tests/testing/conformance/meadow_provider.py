"""A provider for the meadow: it keeps the target that the cloud does not have."""

from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count
from threading import Lock
from uuid import uuid4

from nodewright.api import (
    AccessDeniedError,
    Capability,
    CapacityError,
    CloudUnavailableError,
    ErrorClass,
    ForeignNodeError,
    Instance,
    InstanceError,
    InstanceState,
    NodeGroup,
    NodeTemplate,
    Provider,
    SizeLimitError,
    TemporaryError,
    ThrottledError,
)

from .meadow import Machine, MeadowError

_CLASSES = {
    "SoldOut": ErrorClass.STOCK_OUT,
    "Rationed": ErrorClass.QUOTA,
    "Locked": ErrorClass.PERMISSION,
    "Misshapen": ErrorClass.CONFIGURATION,
    "Odd": ErrorClass.OTHER,
}
_STATES = {"coming": InstanceState.CREATING, "up": InstanceState.RUNNING, "broken": InstanceState.CREATING}
_ERRORS = {
    "Hurry": ThrottledError,
    "WrongKey": AccessDeniedError,
    "Silence": CloudUnavailableError,
    "NoAnswer": CloudUnavailableError,
}
_CAPACITY = {"cpu": 4000, "memory": 16 << 30, "pods": 110}
#: Answers after which the meadow is asked for nothing more.
_SILENCED = {"Hurry", "WrongKey"}
#: How long the meadow's list may be behind, with a margin.
_LATENESS = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True)
class Field:
    """What the settings say of a group: the cloud does not know of groups."""

    name: str
    least: int = 0
    most: int = 5


class MeadowGroup(NodeGroup):
    """The machines on which the name of the group is written, as they were read."""

    def __init__(self, provider, field, machines):
        self.provider = provider
        self.meadow = provider.meadow
        self.field = field
        self.machines = machines

    id = property(lambda self: self.field.name)
    min_size = property(lambda self: self.field.least)
    max_size = property(lambda self: self.field.most)

    @property
    def target_size(self):
        return len(staying(self.machines))

    def instances(self):
        return tuple(self._instance(machine) for machine in self.machines)

    def template(self):
        return NodeTemplate(
            labels={
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/os": "linux",
                "node.kubernetes.io/instance-type": "hut",
                "topology.kubernetes.io/zone": "hill",
            },
            capacity=_CAPACITY,
            allocatable=_CAPACITY,
        )

    def increase(self, count):
        with translated():
            there = staying(self.provider.machines_of(self.id))
            if count < 1 or len(there) + count > self.max_size:
                raise SizeLimitError(f"{self.id} has {len(there)} machines and may have {self.max_size}")
            tried = []
            try:
                for _ in range(count):
                    tried.append(f"{self.id}-{uuid4().hex[:8]}")
                    self.provider.make(tried[-1], self.id)
            except MeadowError as error:
                if error.code not in _SILENCED:
                    self.provider.undo(tried)
                raise

    def increase_atomically(self, count):
        self.increase(count)

    def delete_nodes(self, nodes):
        self._delete(nodes, self.min_size)

    def force_delete_nodes(self, nodes):
        self._delete(nodes, 0)

    def decrease_target(self, count):
        raise SizeLimitError(f"{self.id} waits for no machine that is not there: delete those that do not come up")

    def _delete(self, nodes, least):
        names = {self._name(node) for node in nodes}
        with translated():
            there = staying(self.provider.machines_of(self.id))
            doomed = [machine for machine in there if machine.name in names]
            if doomed and len(there) - len(doomed) < least:
                raise SizeLimitError(f"{self.id} has {len(there)} machines and keeps {least}")
            for machine in doomed:
                self.provider.delete(machine.name)

    def _name(self, node):
        scheme, _, name = node.spec.provider_id.partition("://hill/")
        if scheme != "meadow" or name.rpartition("-")[0] != self.id:
            raise ForeignNodeError(f"node {node.name} is none of {self.id}: {node.spec.provider_id}")
        return name

    def _instance(self, machine):
        return Instance(
            id=id_of(machine),
            state=_STATES.get(machine.state, InstanceState.DELETING),
            error=cause(machine.why) if machine.state == "broken" else None,
        )


class MeadowProvider(Provider):
    """Machines with names of groups on them."""

    capabilities = frozenset({Capability.SCALE_FROM_ZERO, Capability.ATOMIC_INCREASE, Capability.FORCE_DELETE})
    group_class = MeadowGroup

    def __init__(self, config, context, meadow, fields):
        super().__init__(config, context)
        self.meadow = meadow
        self.fields = fields
        self._groups = {}
        self._owners = {}
        # What was made and deleted, by name, and may not be listed like that yet; each with the time when it must be.
        # Actions of several groups run at once, and beside `refresh`.
        self._lock = Lock()
        self._made = {}
        self._deleted = {}

    def refresh(self):
        with translated():
            machines = self._read()
        self._groups = {
            field.name: self.group_class(self, field, [each for each in machines if each.group == field.name])
            for field in self.fields
        }
        self._owners = {id_of(each): each.group for each in machines}

    def groups(self):
        return tuple(self._groups.values())

    def group_of(self, node):
        return self._owners.get(node.spec.provider_id)

    def machines_of(self, group):
        """The machines of *group* as they are now, with what this provider has done to them."""
        return [each for each in self._read() if each.group == group]

    def make(self, name, group):
        self.meadow.make(name, group)
        with self._lock:
            self._made[name] = Machine(name=name, group=group, state="coming"), self._until()

    def delete(self, name):
        self.meadow.delete(name)
        with self._lock:
            self._made.pop(name, None)
            self._deleted[name] = self._until()

    def undo(self, names):
        """Delete what an order has made so far, also what may have come of a call without an answer.

        Ends with the first deletion that fails: each further one might wait as long for nothing.
        """
        with suppress(MeadowError):
            for name in names:
                self.delete(name)

    def _read(self):
        """All machines as they are listed, with what this provider did that the list may not show yet."""
        listed, pages = {}, count()
        while page := self.meadow.read(next(pages)):
            listed |= page
        now = self.context.clock.now()
        with self._lock:
            self._made = {
                name: (machine, until)
                for name, (machine, until) in self._made.items()
                if name not in listed and now < until
            }
            # No list ends a deletion, only time: one that lacks the machine may be too old to have it.
            self._deleted = {name: until for name, until in self._deleted.items() if now < until}
            machines = [*listed.values(), *(machine for machine, _ in self._made.values())]
            return [replace(each, state="going") if each.name in self._deleted else each for each in machines]

    def _until(self):
        return self.context.clock.now() + _LATENESS


def staying(machines):
    """What counts: machines that are there, come or have failed, but not those that go."""
    return [machine for machine in machines if machine.state != "going"]


def id_of(machine):
    """The provider ID of a machine's node."""
    return f"meadow://hill/{machine.name}"


def cause(code, message=""):
    """What the meadow's word for a lack of machines means."""
    return InstanceError(error_class=_CLASSES[code], code=code, message=message)


@contextmanager
def translated():
    """Say in the words of the contract what the meadow says in its own."""
    try:
        yield
    except MeadowError as error:
        if error.code in _CLASSES:
            raise CapacityError(cause(error.code, str(error))) from error
        raise _ERRORS.get(error.code, TemporaryError)(str(error)) from error
