"""An Auto Scaling group as a node group of the core."""

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
    Pause,
    PermanentError,
    SizeLimitError,
    TemporaryError,
)

from nodewright_aws.autoscaling.discovery import read_groups
from nodewright_aws.autoscaling.group import AutoScalingGroup
from nodewright_aws.autoscaling.processes import pause
from nodewright_aws.calls import Calls
from nodewright_aws.groups.instances import KnownInstances
from nodewright_aws.groups.orders import RecentOrders
from nodewright_aws.groups.removal import one_by_one, removable, removal_of, summary, terminate, without
from nodewright_aws.pools import Pool

if TYPE_CHECKING:
    from nodewright_aws.autoscaling.activities import Activities
    from nodewright_aws.templates.templates import Templates


@dataclass(frozen=True, kw_only=True)
class GroupServices:
    """What the groups of an account and region share."""

    aws: Calls
    templates: "Templates"
    activities: "Activities"
    instances: KnownInstances
    orders: RecentOrders
    #: Why instances will be gone soon, by id.
    interrupted: Mapping[str, str]
    #: Stands before the names of groups.
    prefix: str = ""


class AwsNodeGroup(NodeGroup):
    """Facts from one refresh. Actions read the group again before they change it, and correct the facts afterwards."""

    def __init__(self, group: AutoScalingGroup, limits: tuple[int, int], services: GroupServices) -> None:
        self._group = group
        self._min, self._max = limits
        self._services = services

    @property
    def id(self) -> str:
        """The group's name, after the prefix of its account and region."""
        return self._services.prefix + self._group.name

    @property
    def auto_scaling_group(self) -> AutoScalingGroup:
        """The group as AWS last described it, with the changes made since."""
        return self._group

    @property
    def min_size(self) -> int:
        """The smallest number of instances."""
        return self._min

    @property
    def max_size(self) -> int:
        """The largest number of instances."""
        return self._max

    @property
    def target_size(self) -> int:
        """Desired capacity, as of the last refresh or action."""
        return self._group.desired

    def instances(self) -> Sequence[Instance]:
        """All instances of the group, and a placeholder for each that does not exist yet."""
        interrupted = self._services.interrupted
        there = (
            Instance(
                id=each.provider_id,
                state=InstanceState.DELETING if each.id in interrupted else each.state,
                zone=each.zone,
                instance_type=each.instance_type,
            )
            for each in self._group.instances
            if each.state is not None
        )
        return (*there, *self._placeholders())

    def template(self) -> NodeTemplate | None:
        """What a new node looks like."""
        return self._services.templates.template(self._group)

    def pools(self) -> Sequence[str]:
        """The capacity pools that its launch template allows: types and zones, on demand or spot."""
        return tuple(map(str, self._services.templates.pools(self._group)))

    def pause(self) -> Pause | None:
        """Why it does not grow, while AWS launches no instances for it."""
        return pause(self._group)

    def options(self, defaults: GroupOptions) -> GroupOptions:
        """The defaults, overridden by its tags."""
        return self._services.templates.options(self._group, defaults)

    def increase(self, count: int) -> None:
        """Raise desired capacity. That sets a number rather than a difference, so doing it twice is harmless.

        Raises `TemporaryError` if another client changed it since it was read: that change would be lost.
        """
        known, target = self._group, self._group.desired + count
        if count < 1:
            raise SizeLimitError(f"group {self.id} can't grow by {count} machines")
        if (paused := self.pause()) is not None:
            raise PermanentError(f"group {self.id} can't grow: {paused.why}")
        self._check_room(target, self.max_size)
        now = self._read()
        if now.desired != known.desired:
            raise TemporaryError(
                f"group {self.id} was resized by another client, from {known.desired} to {now.desired}: "
                "the next loop decides anew how much more it needs"
            )
        if self._services.orders.is_undone_by(now, target):
            raise TemporaryError(
                f"AWS may not show the last order of group {self.id} yet: the next loop decides anew how much more it "
                "needs"
            )
        self._check_room(target, now.max_size)
        # Launches that fail from now on belong to this order.
        self._services.activities.asked(now.name)
        self._set_desired(now, target)
        self._confirm()

    def delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Terminate instances one by one, and lower desired capacity by one for each.

        If some fail, the others are still terminated, and the error names those that failed.
        """
        self._remove(nodes, force=False)

    def force_delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Terminate instances even below `min_size`. AWS replaces those below the minimum of the group in AWS."""
        self._remove(nodes, force=True)

    def decrease_target(self, count: int) -> None:
        """Lower desired capacity by instances that do not exist yet."""
        now = self._read()
        self._check_confirmed()
        if not 0 < count <= now.missing:
            raise SizeLimitError(
                f"group {self.id} waits for {now.missing} machines, so its desired capacity of {now.desired} can't be "
                f"lowered by {count} without a termination"
            )
        if now.desired - count < max(self._min, now.min_size):
            raise SizeLimitError(
                f"group {self.id} can't be lowered to {now.desired - count}: {self._min} is its minimum"
            )
        self._set_desired(now, now.desired - count)
        self._confirm()

    def _remove(self, nodes: Sequence[Node], *, force: bool) -> None:
        # All checks come before the first deletion.
        asked = removal_of(nodes, self._group, self._placeholder, self._services.instances)
        now = self._read()
        if asked.placeholders:
            self._check_confirmed()
        leaving, to_come = removable(now, asked.instances), min(asked.placeholders, now.missing)
        room = max(0, now.desired - (now.min_size if force else max(self._min, now.min_size)))
        if len(leaving) + to_come > room and not force:
            raise SizeLimitError(
                f"group {self.id} can't lose {len(leaving) + to_come} of {now.desired} machines: "
                f"{max(self._min, now.min_size)} is its minimum"
            )
        self._group = now
        if given_up := min(to_come, room):
            self._set_desired(now, now.desired - given_up)
        self._terminate(leaving, room - given_up)
        self._confirm()
        if given_up < to_come:
            raise SizeLimitError(
                f"group {self.id} still waits for {to_come - given_up} machines: AWS keeps its minimum of "
                f"{now.min_size}"
            )

    def _terminate(self, instances: Sequence[str], room: int) -> None:
        """Terminate *instances*; those beyond *room* do not lower desired capacity, and are replaced."""
        decrement = set(instances[:room])
        gone, failed = one_by_one(
            instances, lambda each: terminate(self._services.aws, each, decrement=each in decrement)
        )
        self._note(gone, decrement)
        if failed:
            # Only AWS knows which calls without an answer took effect, and what other clients did.
            with suppress(NodewrightError):
                now = self._read()
                self._group = without(now, gone, now.desired)
        # It is fine that an instance is already gone.
        failed = {each: error for each, error in failed.items() if not isinstance(error, ForeignNodeError)}
        if failed:
            raise summary(self.id, failed, len(instances))

    def _note(self, gone: Sequence[str], decrement: Collection[str]) -> None:
        for instance in gone:
            size = self._group.desired
            self._services.orders.terminated(instance)
            if instance in decrement:
                self._services.orders.resized(self._group.name, size, size - 1)
                size -= 1
            self._group = without(self._group, [instance], size)

    def _placeholders(self) -> Sequence[Instance]:
        group = self._group
        if not group.missing:
            return ()
        zone = group.zones[0] if group.zones else ""
        failures = self._failures()
        return tuple(
            Instance(
                id=f"aws:///{zone}/{self._placeholder}{number}",
                state=InstanceState.CREATING,
                # Each pool that ran dry is reported by a placeholder, if there are enough.
                error=failures[number % len(failures)] if failures else None,
                zone=zone if len(group.zones) == 1 else "",
            )
            for number in range(group.desired - group.missing, group.desired)
        )

    def _failures(self) -> Sequence[InstanceError]:
        pools: Sequence[Pool] = ()
        with suppress(NodewrightError):
            pools = self._services.templates.pools(self._group)
        return self._services.activities.failures(self._group, pools)

    @property
    def _placeholder(self) -> str:
        return f"i-placeholder-{self.id}-"

    def _read(self) -> AutoScalingGroup:
        name = self._group.name
        for group in read_groups(self._services.aws, AutoScalingGroupNames=[name], MaxRecords=1):
            return self._services.orders.applied_to(group)
        raise GroupNotFoundError(f"AWS has no Auto Scaling group {name!r} any more, or is deleting it")

    def _confirm(self) -> None:
        """Read the group again: once AWS has shown the order, a later change back by another client counts."""
        with suppress(NodewrightError):
            self._read()

    def _check_room(self, target: int, most: int) -> None:
        if target > most:
            raise SizeLimitError(f"group {self.id} can't grow to {target}: its maximum is {most}")

    def _check_confirmed(self) -> None:
        # Otherwise instances that a late answer does not list yet would be terminated as missing ones.
        if self._services.orders.is_unconfirmed(self._group.name):
            raise TemporaryError(
                f"AWS does not show the last order of group {self.id} yet: the next loop looks again how many of its "
                "machines are still to come"
            )

    def _set_desired(self, now: AutoScalingGroup, desired: int) -> None:
        self._services.aws.call(
            "autoscaling",
            "set_desired_capacity",
            AutoScalingGroupName=now.name,
            DesiredCapacity=desired,
            HonorCooldown=False,
        )
        self._services.orders.resized(now.name, now.desired, desired)
        self._group = replace(now, desired=desired)
