"""Removal of instances: which of them belong to the group and still exist, and what became of each."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace

from nodewright.api import ForeignNodeError, Node, NodewrightError, PermanentError, TemporaryError, ThrottledError

from nodewright_aws.autoscaling.group import AutoScalingGroup
from nodewright_aws.calls import Calls
from nodewright_aws.calls.errors import HOPELESS
from nodewright_aws.groups.instances import KnownInstances, instance_id


@dataclass(frozen=True, kw_only=True)
class Removal:
    """What a deletion asks for."""

    #: Ids of instances, each once.
    instances: tuple[str, ...]
    #: How many placeholders of instances that do not exist yet.
    placeholders: int


def removal_of(nodes: Sequence[Node], group: AutoScalingGroup, placeholder: str, known: KnownInstances) -> Removal:
    """Return what to delete for *nodes*; raises `ForeignNodeError` if one does not belong to *group*.

    Ids of instances that do not exist yet begin with *placeholder*.
    """
    here = {each.id for each in group.instances}
    ids: dict[str, None] = {}
    placeholders: set[str] = set()
    for node in nodes:
        _, slash, last = node.spec.provider_id.partition(f"/{placeholder}")
        instance = instance_id(node.spec.provider_id)
        if slash and last.isdecimal():
            placeholders.add(last)
        elif instance is not None and (instance in here or known.former_group(instance) == group.name):
            ids[instance] = None
        else:
            raise ForeignNodeError(
                f"node {node.name} ({node.spec.provider_id or 'without a provider ID'}) is not a machine of group "
                f"{group.name}: nothing is deleted"
            )
    return Removal(instances=tuple(ids), placeholders=len(placeholders))


def removable(group: AutoScalingGroup, ids: Sequence[str]) -> tuple[str, ...]:
    """Return those of *ids* that exist and are not on their way out already."""
    counted = {each.id for each in group.instances if each.is_counted}
    return tuple(each for each in ids if each in counted)


def without(group: AutoScalingGroup, gone: Sequence[str], desired: int) -> AutoScalingGroup:
    """Return *group* with the instances that are *gone* on their way out."""
    return replace(
        group,
        desired=desired,
        instances=tuple(
            replace(each, lifecycle_state="Terminating") if each.id in gone else each for each in group.instances
        ),
    )


def terminate(aws: Calls, instance: str, *, decrement: bool) -> None:
    """Terminate *instance* and, with *decrement*, lower desired capacity; `ForeignNodeError` if it is gone."""
    aws.call(
        "autoscaling",
        "terminate_instance_in_auto_scaling_group",
        InstanceId=instance,
        ShouldDecrementDesiredCapacity=decrement,
    )


def one_by_one(ids: Sequence[str], remove: Callable[[str], None]) -> tuple[tuple[str, ...], dict[str, NodewrightError]]:
    """Call *remove* with each of *ids*; return those that are gone, and the errors of the others.

    Once AWS does not answer, or refuses every call, the rest is not tried.
    """
    gone: list[str] = []
    failed: dict[str, NodewrightError] = {}
    hopeless: NodewrightError | None = None
    for each in ids:
        if hopeless is not None:
            failed[each] = hopeless
            continue
        try:
            remove(each)
        except NodewrightError as error:
            failed[each] = error
            hopeless = error if isinstance(error, HOPELESS) else None
        else:
            gone.append(each)
    return tuple(gone), failed


def summary(group: str, failed: dict[str, NodewrightError], of: int) -> NodewrightError:
    """Return one error that names the instances of *group* that could not be deleted, and why."""
    why: dict[str, list[str]] = {}
    for instance, error in failed.items():
        why.setdefault(str(error), []).append(instance)
    reasons = "; ".join(f"{', '.join(instances)}: {reason}" for reason, instances in why.items())
    message = f"{len(failed)} of {of} machines of group {group} could not be deleted: {reasons}"
    kinds = {type(error) for error in failed.values()}
    if len(kinds) == 1:
        # A copy keeps the other fields, such as when to try again.
        error = copy(next(iter(failed.values())))
        error.args = (message,)
        return error
    throttled = next((error for error in failed.values() if isinstance(error, ThrottledError)), None)
    if throttled is not None:
        return ThrottledError(message, retry_after=throttled.retry_after)
    return (TemporaryError if any(issubclass(kind, TemporaryError) for kind in kinds) else PermanentError)(message)
