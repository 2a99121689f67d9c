"""What AWS says about Auto Scaling groups."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class InstanceReading:
    """A machine of a group."""

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


@dataclass(frozen=True, kw_only=True)
class GroupReading:
    """An Auto Scaling group, as ``DescribeAutoScalingGroups`` tells of it."""

    name: str
    arn: str
    min_size: int
    max_size: int
    desired: int
    zones: tuple[str, ...]
    instances: tuple[InstanceReading, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    #: The name of a launch configuration; empty if the group launches otherwise.
    launch_configuration: str = ""
    #: ``LaunchTemplateId`` or ``LaunchTemplateName``, and ``Version``, as boto3 has it.
    launch_template: Mapping[str, str] = field(default_factory=dict)
    #: As boto3 has it; empty if the group has none.
    mixed_instances_policy: Mapping[str, Any] = field(default_factory=dict)
    #: What the sizes count: ``units`` (machines, if none has a weight), ``vcpu`` or ``memory-mib``; empty as units.
    desired_capacity_type: str = ""
    suspended_processes: frozenset[str] = frozenset()
    #: Machines that wait in its warm pool; None if it has no such pool.
    warm_pool_size: int | None = None
    #: Whether AWS orders another machine when it expects to take one back.
    capacity_rebalance: bool = False
    #: Whether new machines are protected from AWS' own choices of what to terminate.
    protects_new: bool = False


def parse_group(body: Mapping[str, Any]) -> GroupReading:
    """Return a group of an answer of boto3 as a value."""
    return GroupReading(
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


def _instance(body: Mapping[str, Any]) -> InstanceReading:
    return InstanceReading(
        id=body["InstanceId"],
        zone=body.get("AvailabilityZone", ""),
        instance_type=body.get("InstanceType", ""),
        lifecycle_state=body["LifecycleState"],
        healthy=body.get("HealthStatus", "Healthy") == "Healthy",
        protected=body.get("ProtectedFromScaleIn", False),
    )
