"""The cloud under test, as the author of a provider describes it to the suite."""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import ClassVar

from nodewright.api import (
    ErrorClass,
    GpuConfig,
    Instance,
    InstanceState,
    Node,
    Provider,
    Resources,
    Taint,
)
from nodewright.testing.builders import a_node

_LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


class Ability(StrEnum):
    """What a cloud under test can do for the suite, in words that follow "the cloud under test can't"."""

    #: Tests may grow and shrink `Cloud.group`. Without this ability, only tests run that read.
    CHANGE = "have its groups resized by tests"
    #: `Cloud.target`, `Cloud.machines` and `Cloud.nodes` do not ask the provider.
    TRUTH = "tell by itself which machines it has"
    #: `Cloud.resize`
    RESIZE = "resize a group behind the provider's back"
    #: `Cloud.vanish`
    VANISH = "let a machine vanish"
    #: `Cloud.hold`
    HOLD = "keep new machines in creation"
    #: `Cloud.starve`
    STARVE = "accept orders that no machine comes of"
    #: `Cloud.fail_unseen`
    FAIL_UNSEEN = "let orders fail without a machine that shows it"
    #: `Cloud.pause`
    PAUSE = "pause a group"
    #: `Cloud.stop`
    STOP = "stop a machine"
    #: `Cloud.remake`
    REMAKE = "make a machine anew under its id"
    #: `Cloud.other_group`
    OTHER_GROUP = "have a second group resized by tests"
    #: `Cloud.add_group`
    ADD_GROUP = "add a group"
    #: `Cloud.remove_group`
    REMOVE_GROUP = "remove a group"
    #: `Cloud.throttle`
    THROTTLE = "throttle calls"
    #: `Cloud.deny`
    DENY = "take rights away"
    #: `Cloud.cut`
    CUT = "be cut off from the network"
    #: `Cloud.break_after`
    BREAK_AFTER = "break down between two calls"
    #: `Cloud.limit`
    LIMIT = "have a certain number of machines left"
    #: `Cloud.lose_answer`
    LOSE_ANSWER = "lose the answer to an order"
    #: `Cloud.delay`
    DELAY = "answer late"
    #: `Cloud.delete_only`
    DELETE_ONLY = "carry a deletion out in part"
    #: `Cloud.calls`
    COUNT = "count calls"
    #: `Cloud.populate`
    POPULATE = "be filled with many machines"


@dataclass(frozen=True, kw_only=True)
class ExpectedTemplate:
    """What the template of a group must show; what is left out is not compared."""

    #: Among the labels.
    labels: Mapping[str, str] = field(default_factory=dict)
    #: Exactly these, in any order.
    taints: tuple[Taint, ...] | None = None
    #: Among the resources; cpu in milli-cores, everything else in whole units.
    capacity: Resources = field(default_factory=dict)
    #: Among what pods may use.
    allocatable: Resources = field(default_factory=dict)
    #: What `Provider.gpu_config` says of the template's labels.
    gpu: GpuConfig | None = None


class Cloud(ABC):
    """A cloud under test; one is made for each test by the fixture ``cloud``.

    Only `provider` and `group` are required. Everything else is an ability: a method to override, and its name in
    `abilities`. A test that needs a missing ability is skipped and says which one. All methods control the cloud
    directly, never through a provider that was handed out before. They are called on the test's thread.

    When a test gets the cloud, the group must be at rest: as many machines run as it is asked for. It should have a
    minimum of 1 or more, and room for three more machines; tests that need more room are skipped.
    The fixture cleans up after the test, whatever has happened.
    """

    #: What this cloud can do for the suite.
    abilities: ClassVar[frozenset[Ability]] = frozenset()
    #: Reasons for which `fail` can let machines fail after they were ordered.
    failures: ClassVar[frozenset[ErrorClass]] = frozenset()
    #: Reasons for which `refuse` can refuse orders at once.
    refusals: ClassVar[frozenset[ErrorClass]] = frozenset()

    #: Whether the cloud itself keeps how many machines a group is to have. False if it only makes and deletes single
    #: machines: the provider works the target out then, and other rules hold for what is given up
    #: (``docs/clouds-without-target-size.md``).
    keeps_target: ClassVar[bool] = True

    #: Seconds after which an action that has not returned counts as one that waits for machines.
    patience: ClassVar[float] = 60.0
    #: Seconds after which a test is given up because its provider waits for something that does not come; 0 for never.
    longest: ClassVar[float] = 120.0

    @abstractmethod
    def provider(self) -> Provider:
        """A new provider of this cloud, as after a restart: configured, not refreshed. Closed by the suite."""

    @abstractmethod
    def group(self) -> str:
        """Id of the group that tests look at, and resize if they may. The same for the whole test."""

    def settle(self) -> None:  # noqa: B027  some clouds need no time
        """Let the cloud finish its work: machines that were ordered run, and those that are deleted are gone.

        Poll a live cloud here; move on the clock of a double that has one.
        """

    def node(self, instance: str) -> Node:
        """The node as which the machine with this id registers. It must be old."""
        return a_node(instance.rpartition("/")[2], provider_id=instance, created=_LONG_AGO)

    def foreign_node(self) -> Node:
        """A node of another cloud, with a provider ID of another form."""
        return a_node("elsewhere", provider_id="elsewhere:///zone-1/machine-1", created=_LONG_AGO)

    def unknown_node(self) -> Node:
        """A node that looks like one of this cloud, but whose machine has never existed.

        By default, a machine of the group whose id ends in nines, six or more, instead of what follows the last dash.
        """
        known = self.machines(self.group())
        if not known:
            return self.foreign_node()
        stem, slash, name = next(iter(known)).rpartition("/")
        prefix, dash, number = name.rpartition("-")
        return self.node(f"{stem}{slash}{prefix}{dash}{'9' * max(6, len(number))}")

    def secrets(self) -> Sequence[str]:
        """Keys, tokens and other secrets in the provider's configuration: they must show nowhere."""
        return ()

    def expected_bounds(self) -> Mapping[str, tuple[int, int]]:
        """Fewest and most machines that groups are set up with, by group."""
        return {}

    def expected_templates(self) -> Mapping[str, ExpectedTemplate]:
        """What the templates of groups must show, by group. Include GPUs, taints and extended resources."""
        return {}

    def expected_options(self) -> Mapping[str, Mapping[str, object]]:
        """Fields of `GroupOptions` that groups set by the cloud's own means (tags, annotations), by group."""
        return {}

    def references(self) -> Mapping[tuple[str, str], str]:
        """Groups by the kind and the id of objects that name them in the cloud's own words; see `Provider.resolve`."""
        return {}

    def target(self, group: str) -> int:
        """The number of machines that the cloud is asked for. By default, what a new provider reads.

        Without `keeps_target`, the number of machines that are there: those that come, run or have failed, but not
        those that are being deleted.
        """
        target, _ = self._read(group)
        return target

    def machines(self, group: str) -> Mapping[str, InstanceState]:
        """State by id of all machines that are there, oldest first; ids are those that nodes carry as provider ID.

        Without orders that no machine has come of yet, and without machines that failed. By default, what a new
        provider reads.
        """
        _, instances = self._read(group)
        return {instance.id: instance.state for instance in instances if instance.error is None}

    def nodes(self, group: str) -> Sequence[Node]:
        """The nodes of the group's running machines, oldest first. By default, `node` of each."""
        return [self.node(id_) for id_, state in self.machines(group).items() if state is InstanceState.RUNNING]

    def resize(self, group: str, size: int) -> None:
        """Have the group run *size* machines, within its bounds and at rest, as if someone else had done it."""
        raise NotImplementedError

    def vanish(self, group: str) -> Node:
        """Let the group's oldest machine be gone, as if it had failed or been reclaimed; return its node.

        The cloud may replace it or not.
        """
        raise NotImplementedError

    def hold(self) -> None:
        """From now on new machines stay in creation, until `heal`. May do nothing if they stay so until `settle`."""
        raise NotImplementedError

    def starve(self, group: str) -> None:
        """From now on orders of the group are accepted, but they lead to no machine and no failure."""
        raise NotImplementedError

    def fail(self, group: str, why: ErrorClass) -> None:
        """From now on orders of the group are accepted, but after `settle` their machines have failed for *why*.

        Needs *why* in `failures`.
        """
        raise NotImplementedError

    def fail_unseen(self, group: str) -> ErrorClass:
        """From now on orders of the group are accepted, but fail, and no machine shows it, until `heal`; return why."""
        raise NotImplementedError

    def pause(self, group: str) -> None:
        """Have somebody else steer the group, or pause it, until `heal`."""
        raise NotImplementedError

    def stop(self, group: str) -> Node:
        """Stop the group's oldest machine, so that the target counts it no more; return its node."""
        raise NotImplementedError

    def remake(self, group: str) -> Node:
        """Make the group's oldest machine anew, under the same id if the cloud does so; return its node."""
        raise NotImplementedError

    def refuse(self, group: str, why: ErrorClass) -> None:
        """From now on orders of the group are refused at once, for *why*. Needs *why* in `refusals`."""
        raise NotImplementedError

    def other_group(self) -> str:
        """Id of a second group that tests may resize, at rest, with at least one machine and room for three more."""
        raise NotImplementedError

    def add_group(self) -> str:
        """Add a group that the provider should find, as if someone else had done it; return its id."""
        raise NotImplementedError

    def remove_group(self, group: str) -> None:
        """Remove the group with all its machines, as if someone else had done it."""
        raise NotImplementedError

    def throttle(self) -> None:
        """From now on every call of a provider is throttled, until `heal`."""
        raise NotImplementedError

    def deny(self) -> None:
        """From now on the credentials are expired, or lack all rights, until `heal`."""
        raise NotImplementedError

    def cut(self) -> None:
        """From now on the cloud does not answer, until `heal`."""
        raise NotImplementedError

    def break_after(self, calls: int) -> None:
        """From now on only *calls* more calls are answered, until `heal`; after these, it is as with `cut`."""
        raise NotImplementedError

    def limit(self, group: str, machines: int) -> None:
        """From now on the cloud has only *machines* more machines for the group, until `heal`."""
        raise NotImplementedError

    def lose_answer(self) -> None:
        """The next change that a provider asks for is made, but its answer is lost."""
        raise NotImplementedError

    def delay(self) -> None:
        """From now on reads show the present state, whatever is ordered, until `heal`. Orders are carried out.

        Clouds with eventual consistency do so: a provider must remember what it has ordered.
        """
        raise NotImplementedError

    def delete_only(self, count: int) -> None:
        """From now on only *count* more machines are deleted; the cloud refuses the others for a while, until `heal`.

        It may refuse whole calls or single machines.
        """
        raise NotImplementedError

    def heal(self) -> None:
        """End all that was broken: every call is answered and orders are filled again.

        Required with any fault. What faults have done so far stays.
        """
        raise NotImplementedError

    def calls(self) -> int:
        """How many requests providers have sent so far, pages and refused ones included."""
        raise NotImplementedError

    def populate(self, machines: int) -> None:
        """Have at least *machines* more machines run, spread over groups that a provider finds."""
        raise NotImplementedError

    def _read(self, group: str) -> tuple[int, tuple[Instance, ...]]:
        """What a new provider says of the group: target and machines."""
        provider = self.provider()
        try:
            provider.refresh()
            for found in provider.groups():
                if found.id == group:
                    return found.target_size, tuple(found.instances())
        finally:
            with contextlib.suppress(Exception):
                provider.close()
        raise LookupError(f"a new provider finds no group {group!r}")
