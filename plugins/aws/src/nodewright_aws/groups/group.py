"""An Auto Scaling group, as the core sees it."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nodewright.api import (
    ForeignNodeError,
    GroupNotFoundError,
    GroupOptions,
    Instance,
    InstanceError,
    InstanceState,
    Node,
    NodeGroup,
    NodeTemplate,
    NodewrightError,
    SizeLimitError,
    TemporaryError,
)

from nodewright_aws.calls import Calls
from nodewright_aws.groups.discovery import read_groups
from nodewright_aws.groups.lifecycle import missing, state_of
from nodewright_aws.groups.machines import Machines
from nodewright_aws.groups.orders import Orders
from nodewright_aws.groups.processes import can_grow
from nodewright_aws.groups.reading import GroupReading
from nodewright_aws.groups.removal import going, one_by_one, summary, terminate, wanted, without
from nodewright_aws.pools import Pool

if TYPE_CHECKING:
    from nodewright_aws.groups.activities import Activities
    from nodewright_aws.templates.templates import Templates


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What all groups of an account and region share."""

    aws: Calls
    templates: "Templates"
    activities: "Activities"
    machines: Machines
    orders: Orders
    #: Why machines will be gone soon, by id.
    doomed: Mapping[str, str]
    #: Stands before the names of groups.
    prefix: str = ""


class AwsNodeGroup(NodeGroup):
    """Facts from one reading; actions read the group once more before they change it, and correct the facts after."""

    def __init__(self, reading: GroupReading, bounds: tuple[int, int], surroundings: Surroundings) -> None:
        self._reading = reading
        self._min, self._max = bounds
        self._around = surroundings

    @property
    def id(self) -> str:
        """The group's name, after the prefix of its account and region."""
        return self._around.prefix + self._reading.name

    @property
    def reading(self) -> GroupReading:
        """What AWS told of it last, corrected by what was done since."""
        return self._reading

    @property
    def min_size(self) -> int:
        """Fewest machines."""
        return self._min

    @property
    def max_size(self) -> int:
        """Most machines: no more than now while AWS launches none."""
        return self._max if can_grow(self._reading) else max(self._min, min(self._max, self.target_size))

    @property
    def target_size(self) -> int:
        """Desired capacity, as of the last refresh or action."""
        return self._reading.desired

    def instances(self) -> Sequence[Instance]:
        """Every machine of the group, and one that stands for each that is still to come."""
        reading, doomed = self._reading, self._around.doomed
        there = (
            Instance(
                id=each.provider_id,
                state=InstanceState.DELETING if each.id in doomed else state,
                zone=each.zone,
                instance_type=each.instance_type,
            )
            for each in reading.instances
            if (state := state_of(each)) is not None
        )
        return (*there, *self._to_come())

    def template(self) -> NodeTemplate | None:
        """A new node."""
        return self._around.templates.template(self._reading)

    def pools(self) -> Sequence[str]:
        """The types and zones that its launch template allows, on demand or spot."""
        return tuple(map(str, self._around.templates.pools(self._reading)))

    def options(self, defaults: GroupOptions) -> GroupOptions:
        """What its tags say, over the defaults."""
        return self._around.templates.options(self._reading, defaults)

    def increase(self, count: int) -> None:
        """Set desired capacity. As that is a number and no difference, to do it twice is as good as once.

        Raises `TemporaryError` if somebody else has changed it since it was read: their change would be lost.
        """
        known, target = self._reading, self._reading.desired + count
        if count < 1:
            raise SizeLimitError(f"group {self.id} can't grow by {count} machines")
        self._check_room(target, self.max_size)
        now = self._read()
        if now.desired != known.desired:
            raise TemporaryError(
                f"group {self.id} was resized by somebody else, from {known.desired} to {now.desired}: "
                "how much more it needs is decided anew in the next loop"
            )
        if self._around.orders.undoes(now, target):
            raise TemporaryError(
                f"AWS may not tell yet what group {self.id} was asked for last: how much more it needs is decided anew "
                "in the next loop"
            )
        self._check_room(target, now.max_size)
        # What fails from now on is the answer to this order.
        self._around.activities.asked(now.name)
        self._set_desired(now, target)
        self._confirm()

    def delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Terminate machines one by one, each with its place in desired capacity.

        Where some fail, the others go all the same, and the error names those that did not.
        """
        self._remove(nodes, force=False)

    def force_delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Terminate machines whatever `min_size`. Those below the minimum of the group in AWS are replaced by it."""
        self._remove(nodes, force=True)

    def decrease_target(self, count: int) -> None:
        """Lower desired capacity by machines that are still to come."""
        now = self._read()
        self._check_told()
        if not 0 < count <= missing(now):
            raise SizeLimitError(
                f"group {self.id} waits for {missing(now)} machines, so that its desired capacity of {now.desired} "
                f"can't be lowered by {count} alone"
            )
        if now.desired - count < max(self._min, now.min_size):
            raise SizeLimitError(
                f"group {self.id} can't be lowered to {now.desired - count}: {self._min} is its minimum"
            )
        self._set_desired(now, now.desired - count)
        self._confirm()

    def _remove(self, nodes: Sequence[Node], *, force: bool) -> None:
        # All that can be refused is refused before anything is deleted.
        asked = wanted(nodes, self._reading, self._placeholder, self._around.machines)
        now = self._read()
        if asked.to_come:
            self._check_told()
        leaving, to_come = going(now, asked.machines), min(asked.to_come, missing(now))
        room = max(0, now.desired - (now.min_size if force else max(self._min, now.min_size)))
        if len(leaving) + to_come > room and not force:
            raise SizeLimitError(
                f"group {self.id} can't lose {len(leaving) + to_come} of {now.desired} machines: "
                f"{max(self._min, now.min_size)} is its minimum"
            )
        self._reading = now
        if given_up := min(to_come, room):
            self._set_desired(now, now.desired - given_up)
        self._terminate(leaving, room - given_up)
        self._confirm()
        if given_up < to_come:
            raise SizeLimitError(
                f"group {self.id} goes on to wait for {to_come - given_up} machines: AWS keeps its minimum of "
                f"{now.min_size}"
            )

    def _terminate(self, machines: Sequence[str], room: int) -> None:
        """End *machines*; those beyond *room* keep their place in desired capacity, and are replaced."""
        decrement = set(machines[:room])
        gone, failed = one_by_one(machines, lambda each: terminate(self._around.aws, each, decrement=each in decrement))
        self._note(gone, decrement)
        if failed:
            # What AWS has carried out without an answer, and what others did, only AWS knows.
            with suppress(NodewrightError):
                now = self._read()
                self._reading = without(now, gone, now.desired)
        # Those that are gone already are no loss.
        failed = {each: error for each, error in failed.items() if not isinstance(error, ForeignNodeError)}
        if failed:
            raise summary(self.id, failed, len(machines))

    def _note(self, gone: Sequence[str], decrement: Collection[str]) -> None:
        for machine in gone:
            size = self._reading.desired
            self._around.orders.ended(machine)
            if machine in decrement:
                self._around.orders.resized(self._reading.name, size, size - 1)
                size -= 1
            self._reading = without(self._reading, [machine], size)

    def _to_come(self) -> Sequence[Instance]:
        reading = self._reading
        count = missing(reading)
        if not count:
            return ()
        zone = reading.zones[0] if reading.zones else ""
        failures = self._failures()
        return tuple(
            Instance(
                id=f"aws:///{zone}/{self._placeholder}{number}",
                state=InstanceState.CREATING,
                # Each pool that was found dry is told by one of them, if there are as many.
                error=failures[number % len(failures)] if failures else None,
                zone=zone if len(reading.zones) == 1 else "",
            )
            for number in range(reading.desired - count, reading.desired)
        )

    def _failures(self) -> Sequence[InstanceError]:
        pools: Sequence[Pool] = ()
        with suppress(NodewrightError):
            pools = self._around.templates.pools(self._reading)
        return self._around.activities.failures(self._reading, pools)

    @property
    def _placeholder(self) -> str:
        return f"i-placeholder-{self.id}-"

    def _read(self) -> GroupReading:
        name = self._reading.name
        for group in read_groups(self._around.aws, AutoScalingGroupNames=[name], MaxRecords=1):
            return self._around.orders.carried_out(group)
        raise GroupNotFoundError(f"AWS has no Auto Scaling group {name!r} any more, or is deleting it")

    def _confirm(self) -> None:
        """Read the group once more: if AWS tells of the order at once, whoever takes it back later is believed."""
        with suppress(NodewrightError):
            self._read()

    def _check_room(self, target: int, most: int) -> None:
        if target > most:
            why = "" if can_grow(self._reading) else ", as its process Launch is suspended: resume it"
            raise SizeLimitError(f"group {self.id} can't grow to {target}: its maximum is {most}{why}")

    def _check_told(self) -> None:
        # Machines that a late answer does not list would be ended for some that are still to come.
        if self._around.orders.untold(self._reading.name):
            raise TemporaryError(
                f"AWS does not tell yet what group {self.id} was asked for last: how many of its machines are still to "
                "come is looked at anew in the next loop"
            )

    def _set_desired(self, now: GroupReading, desired: int) -> None:
        self._around.aws.call(
            "autoscaling",
            "set_desired_capacity",
            AutoScalingGroupName=now.name,
            DesiredCapacity=desired,
            HonorCooldown=False,
        )
        self._around.orders.resized(now.name, now.desired, desired)
        self._reading = replace(now, desired=desired)
