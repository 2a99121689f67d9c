"""Machines that are to go: which of them are ours and still there, and what became of each."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace

from nodewright.api import (
    AccessDeniedError,
    CloudUnavailableError,
    ForeignNodeError,
    Node,
    NodewrightError,
    PermanentError,
    TemporaryError,
    ThrottledError,
)

from nodewright_aws.calls import Calls
from nodewright_aws.groups.lifecycle import is_counted
from nodewright_aws.groups.machines import Machines, instance_id
from nodewright_aws.groups.reading import GroupReading

#: After these the next call would end in the same way, and late.
HOPELESS = (AccessDeniedError, CloudUnavailableError, ThrottledError)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a deletion is asked for."""

    #: Ids of machines, each once.
    machines: tuple[str, ...]
    #: How many of those that are still to come.
    to_come: int


def wanted(nodes: Sequence[Node], group: GroupReading, placeholder: str, machines: Machines) -> Wanted:
    """Return what to delete for *nodes*; raises `ForeignNodeError` if one is none of *group*.

    Ids of machines that are still to come begin with *placeholder*.
    """
    here = {each.id for each in group.instances}
    ids: dict[str, None] = {}
    to_come: set[str] = set()
    for node in nodes:
        _, slash, last = node.spec.provider_id.partition(f"/{placeholder}")
        machine = instance_id(node.spec.provider_id)
        if slash and last.isdecimal():
            to_come.add(last)
        elif machine is not None and (machine in here or machines.former_group(machine) == group.name):
            ids[machine] = None
        else:
            raise ForeignNodeError(
                f"node {node.name} ({node.spec.provider_id or 'without a provider ID'}) is no machine of group "
                f"{group.name}: nothing is deleted"
            )
    return Wanted(machines=tuple(ids), to_come=len(to_come))


def going(group: GroupReading, ids: Sequence[str]) -> tuple[str, ...]:
    """Return those of *ids* that are there and not on their way out already."""
    counted = {each.id for each in group.instances if is_counted(each)}
    return tuple(each for each in ids if each in counted)


def without(group: GroupReading, gone: Sequence[str], desired: int) -> GroupReading:
    """Return *group* as it is once machines that are *gone* were told to go."""
    return replace(
        group,
        desired=desired,
        instances=tuple(
            replace(each, lifecycle_state="Terminating") if each.id in gone else each for each in group.instances
        ),
    )


def terminate(aws: Calls, machine: str, *, decrement: bool) -> None:
    """End *machine*, and with *decrement* its place in desired capacity; `ForeignNodeError` if it is gone."""
    aws.call(
        "autoscaling",
        "terminate_instance_in_auto_scaling_group",
        InstanceId=machine,
        ShouldDecrementDesiredCapacity=decrement,
    )


def one_by_one(ids: Sequence[str], remove: Callable[[str], None]) -> tuple[tuple[str, ...], dict[str, NodewrightError]]:
    """Call *remove* with each of *ids*; return those that went, and why the others did not.

    Once AWS does not answer, or answers to nobody like us, the rest is not tried.
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
    """Return one error that names the machines of *group* that did not go, and why."""
    why: dict[str, list[str]] = {}
    for machine, error in failed.items():
        why.setdefault(str(error), []).append(machine)
    reasons = "; ".join(f"{', '.join(machines)}: {reason}" for reason, machines in why.items())
    message = f"{len(failed)} of {of} machines of group {group} could not be deleted: {reasons}"
    kinds = {type(error) for error in failed.values()}
    if len(kinds) == 1:
        # With what the first says besides, such as when to try again.
        error = copy(next(iter(failed.values())))
        error.args = (message,)
        return error
    return (TemporaryError if any(issubclass(kind, TemporaryError) for kind in kinds) else PermanentError)(message)
