"""The life of a machine in an Auto Scaling group: what AWS' states mean to us.

``DesiredCapacity`` counts exactly those machines that are on their way in or in service. One that is on its way out, in
standby or being detached is in the group's list and not in its desired capacity: AWS has lowered that, or has ordered
another machine in its place. For the core that is `InstanceState.DELETING`: neither counted nor chosen for deletion.
"""

from nodewright.api import InstanceState

from nodewright_aws.groups.reading import GroupReading, InstanceReading

#: By the first word of ``LifecycleState``; None for a machine that is no part of the group (any more, or yet).
_STATES: dict[str, InstanceState | None] = {
    # With a launch hook it may be a node already while it waits.
    "Pending": InstanceState.CREATING,
    "Quarantined": InstanceState.CREATING,
    "InService": InstanceState.RUNNING,
    "ReplacingRootVolume": InstanceState.RUNNING,
    "RootVolumeReplaced": InstanceState.RUNNING,
    "Terminating": InstanceState.DELETING,
    "Detaching": InstanceState.DELETING,
    "EnteringStandby": InstanceState.DELETING,
    "Standby": InstanceState.DELETING,
    "Terminated": None,
    "Detached": None,
    # Waits in the warm pool, where desired capacity does not count it and no pod can run.
    "Warmed": None,
}


def state_of(instance: InstanceReading) -> InstanceState | None:
    """Return the state of a machine in our words; None if it is no part of the group."""
    word = instance.lifecycle_state.partition(":")[0]
    # A state that AWS invents later is more likely one of a machine that works than of one that doesn't.
    return _STATES.get(word, InstanceState.RUNNING)


def is_counted(instance: InstanceReading) -> bool:
    """Tell whether desired capacity counts the machine."""
    return state_of(instance) in (InstanceState.CREATING, InstanceState.RUNNING)


def missing(group: GroupReading) -> int:
    """Return how many machines the group is asked for that do not exist."""
    return max(0, group.desired - sum(map(is_counted, group.instances)))
