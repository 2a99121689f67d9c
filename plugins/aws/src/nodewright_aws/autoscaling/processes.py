"""Suspended processes and other settings that keep a group from following orders."""

from collections.abc import Iterator

from nodewright.api import ErrorClass, InstanceError, Pause

from nodewright_aws.autoscaling.group import AutoScalingGroup


def can_grow(group: AutoScalingGroup) -> bool:
    """Tell whether AWS launches instances for the group at all."""
    return "Launch" not in group.suspended_processes


def pause(group: AutoScalingGroup) -> Pause | None:
    """Return why the group must not be asked for more; None if it may be. AWS still terminates its instances."""
    if can_grow(group):
        return None
    return Pause(why="its process Launch is suspended: resume it, or leave the group out", shrinks=True)


def refusal(group: AutoScalingGroup) -> InstanceError | None:
    """Return why AWS launches no instance for the group; None if it does."""
    if can_grow(group):
        return None
    return InstanceError(
        error_class=ErrorClass.CONFIGURATION,
        code="LaunchSuspended",
        message=f"the process Launch of group {group.name} is suspended: resume it, or leave the group out",
    )


def notes(group: AutoScalingGroup) -> tuple[str, ...]:
    """Return what people should know about the group's settings, in sentences."""
    return tuple(_notes(group))


def _notes(group: AutoScalingGroup) -> Iterator[str]:
    suspended = group.suspended_processes
    if not can_grow(group):
        yield "its process Launch is suspended, so that it can't grow: resume it, or leave the group out"
    if "Terminate" in suspended:
        yield "its process Terminate is suspended: AWS replaces no broken machine and may exceed the maximum"
    if _may_be_rebalanced(group):
        yield (
            "it has several zones and AWS may terminate nodes, without draining them, to balance these: suspend its"
            " process AZRebalance, or make a group for each zone"
        )
    if not group.min_size <= group.desired <= group.max_size:
        yield f"AWS is asked for {group.desired} machines, outside its limits {group.min_size} to {group.max_size}"


def _may_be_rebalanced(group: AutoScalingGroup) -> bool:
    """Tell whether AWS may terminate an instance without a drain in order to balance zones."""
    drained_by_eks = "eks:nodegroup-name" in group.tags
    rebalances = not {"AZRebalance", "Launch", "Terminate"} & group.suspended_processes
    return len(group.zones) > 1 and rebalances and not group.protects_new and not drained_by_eks
