"""Auto Scaling groups and their instances, as ``DescribeAutoScalingGroups`` returns them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nodewright.api import InstanceState

#: By the first word of ``LifecycleState``; None for an instance that is not, or no longer, part of the group.
#:
#: ``DesiredCapacity`` counts exactly the instances that are on their way in or in service. One that is on its way out,
#: in standby or being detached is still listed, but not counted: AWS has lowered desired capacity or ordered a
#: replacement. For the core that is `InstanceState.DELETING` if it goes, and `InstanceState.STOPPED` if it may come
#: back: neither is counted or chosen for deletion.
_STATES: dict[str, InstanceState | None] = {
    # With a launch hook it may already be a node while it waits.
    "Pending": InstanceState.CREATING,
    "Quarantined": InstanceState.CREATING,
    "InService": InstanceState.RUNNING,
    "ReplacingRootVolume": InstanceState.RUNNING,
    "RootVolumeReplaced": InstanceState.RUNNING,
    "Terminating": InstanceState.DELETING,
    "Detaching": InstanceState.DELETING,
    "EnteringStandby": InstanceState.STOPPED,
    "Standby": InstanceState.STOPPED,
    "Terminated": None,
    "Detached": None,
    # In the warm pool, where desired capacity does not count it and no pod can run.
    "Warmed": InstanceState.STOPPED,
}


@dataclass(frozen=True, kw_only=True)
class AutoScalingInstance:
    """An instance of a group."""

    #: ``i-0123456789abcdef0``.
    id: str
    zone: str
    instance_type: str
    #: As AWS calls it: ``InService``, ``Pending:Wait``, ``Terminating``, ``Standby``, ``Warmed:Stopped``, ...
    lifecycle_state: str
    healthy: bool = True
    protected: bool = False

    @property
    def provider_id(self) -> str:
        """``spec.providerID`` of the node that it becomes."""
        return f"aws:///{self.zone}/{self.id}"

    @property
    def state(self) -> InstanceState | None:
        """The state in the core's terms; None if it is not part of the group."""
        word = self.lifecycle_state.partition(":")[0]
        # A state that AWS adds later more likely means an instance that works than one that does not.
        return _STATES.get(word, InstanceState.RUNNING)

    @property
    def is_counted(self) -> bool:
        """Whether desired capacity counts it."""
        return self.state is not None and self.state.counted


@dataclass(frozen=True, kw_only=True)
class AutoScalingGroup:
    """An Auto Scaling group."""

    name: str
    arn: str
    min_size: int
    max_size: int
    desired: int
    zones: tuple[str, ...]
    instances: tuple[AutoScalingInstance, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    #: The name of a launch configuration; empty if the group has none.
    launch_configuration: str = ""
    #: ``LaunchTemplateId`` or ``LaunchTemplateName``, and ``Version``, as in boto3.
    launch_template: Mapping[str, str] = field(default_factory=dict)
    #: As in boto3; empty if the group has none.
    mixed_instances_policy: Mapping[str, Any] = field(default_factory=dict)
    #: What sizes count: ``units`` (instances, if none has a weight), ``vcpu`` or ``memory-mib``; empty means units.
    desired_capacity_type: str = ""
    suspended_processes: frozenset[str] = frozenset()
    #: Instances in its warm pool; None if it has no warm pool.
    warm_pool_size: int | None = None
    #: Whether AWS launches a replacement when it expects to interrupt an instance.
    capacity_rebalance: bool = False
    #: Whether new instances are protected from scale-in by AWS.
    protects_new: bool = False

    @property
    def missing(self) -> int:
        """How many of the instances in desired capacity do not exist."""
        return max(0, self.desired - sum(each.is_counted for each in self.instances))


def parse_group(body: Mapping[str, Any]) -> AutoScalingGroup:
    """Return one of the ``AutoScalingGroups`` of boto3."""
    return AutoScalingGroup(
        name=body["AutoScalingGroupName"],
        arn=body.get("AutoScalingGroupARN", ""),
        min_size=body["MinSize"],
        max_size=body["MaxSize"],
        desired=body["DesiredCapacity"],
        zones=tuple(sorted(body.get("AvailabilityZones", ()))),
        instances=tuple(map(_instance, body.get("Instances", ()))),
        tags={tag["Key"]: tag.get("Value", "") for tag in body.get("Tags", ())},
        launch_configuration=body.get("LaunchConfigurationName", ""),
        launch_template=body.get("LaunchTemplate", {}),
        mixed_instances_policy=body.get("MixedInstancesPolicy", {}),
        desired_capacity_type=body.get("DesiredCapacityType", ""),
        suspended_processes=frozenset(process["ProcessName"] for process in body.get("SuspendedProcesses", ())),
        warm_pool_size=body.get("WarmPoolSize", 0) if "WarmPoolConfiguration" in body else None,
        capacity_rebalance=body.get("CapacityRebalance", False),
        protects_new=body.get("NewInstancesProtectedFromScaleIn", False),
    )


def _instance(body: Mapping[str, Any]) -> AutoScalingInstance:
    return AutoScalingInstance(
        id=body["InstanceId"],
        zone=body.get("AvailabilityZone", ""),
        instance_type=body.get("InstanceType", ""),
        lifecycle_state=body["LifecycleState"],
        healthy=body.get("HealthStatus", "Healthy") == "Healthy",
        protected=body.get("ProtectedFromScaleIn", False),
    )
