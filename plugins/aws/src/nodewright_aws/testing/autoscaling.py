"""The service ``autoscaling``: moto keeps the settings of groups, our `Fleet` their sizes and machines."""

from collections.abc import Callable, Mapping
from typing import Any

from nodewright.api import Clock

from nodewright_aws.testing import answers
from nodewright_aws.testing.allocation import Allocation, allocation_of
from nodewright_aws.testing.backend import Moto
from nodewright_aws.testing.fleet import Fleet, Replica
from nodewright_aws.testing.group import Group, Machine
from nodewright_aws.testing.messages import RefusalError, validation_error
from nodewright_aws.testing.requirements import matching

#: Answers a call; arguments and answers are boto3's.
Handler = Callable[[Mapping[str, Any]], Mapping[str, Any]]

_SERVICE = "autoscaling"
_PAGE = 100
_SIZES = ("MinSize", "MaxSize", "DesiredCapacity")


class AutoScaling:
    """The groups of an account and region."""

    def __init__(self, moto: Moto, clock: Clock, *, seed: int) -> None:
        self._moto = moto
        self._settings: dict[str, Mapping[str, Any]] = {}
        self._hooks: dict[str, frozenset[str]] = {}
        #: The most groups in one answer.
        self.page = _PAGE
        self.fleet = Fleet(self, clock, seed=seed)
        self.replica = Replica(self.fleet)
        #: By `messages.Request.operation`; moto answers the others.
        self.handlers: Mapping[str, Handler] = {
            "create_auto_scaling_group": self._create,
            "update_auto_scaling_group": self._update,
            "delete_auto_scaling_group": self._delete,
            "describe_auto_scaling_groups": self._describe,
            "describe_auto_scaling_instances": self._describe_instances,
            "describe_scaling_activities": self._describe_activities,
            "describe_warm_pool": self._describe_warm_pool,
            "set_desired_capacity": self._set_desired,
            "terminate_instance_in_auto_scaling_group": self._terminate,
            "detach_instances": self._detach,
            "enter_standby": self._enter_standby,
            "exit_standby": self._exit_standby,
            "set_instance_protection": self._protect,
            "set_instance_health": self._set_health,
            "complete_lifecycle_action": self._complete,
        }
        #: Replace those for clients whose answers may lag behind.
        self.late: Mapping[str, Handler] = {
            "describe_auto_scaling_groups": lambda arguments: self._describe(arguments, self.replica.group)
        }

    def changed(self) -> None:
        """Forget cached settings, which may have changed."""
        self._settings.clear()
        self._hooks.clear()

    def launch(self, group: str) -> Allocation:
        """What a group launches."""
        return allocation_of(
            self._of(group),
            template=self._template,
            configuration=self._configuration,
            matching=lambda requirements: matching(requirements, self._moto),
        )

    def suspended(self, group: str) -> frozenset[str]:
        """The suspended processes of a group."""
        return frozenset(process["ProcessName"] for process in self._of(group).get("SuspendedProcesses", ()))

    def hooks(self, group: str) -> frozenset[str]:
        """The transitions with a lifecycle hook, at which machines of a group wait."""
        if group not in self._hooks:
            found = self._moto.call(_SERVICE, "describe_lifecycle_hooks", AutoScalingGroupName=group)
            self._hooks[group] = frozenset(hook["LifecycleTransition"] for hook in found["LifecycleHooks"])
        return self._hooks[group]

    def protects(self, group: str) -> bool:
        """Whether new machines of a group are protected from scale-in."""
        return bool(self._of(group).get("NewInstancesProtectedFromScaleIn"))

    def source(self, group: str) -> Mapping[str, object]:
        """``LaunchTemplate`` or ``LaunchConfigurationName`` of new machines."""
        settings = self._of(group)
        policy = settings.get("MixedInstancesPolicy")
        template = policy["LaunchTemplate"]["LaunchTemplateSpecification"] if policy else settings.get("LaunchTemplate")
        if template:
            return {"LaunchTemplate": template}
        return {"LaunchConfigurationName": settings.get("LaunchConfigurationName", "")}

    def _of(self, group: str) -> Mapping[str, Any]:
        if group not in self._settings:
            found = self._moto.call(_SERVICE, "describe_auto_scaling_groups", AutoScalingGroupNames=[group])
            self._settings[group] = found["AutoScalingGroups"][0]
        return self._settings[group]

    def _template(self, specification: Mapping[str, Any]) -> Mapping[str, Any]:
        which = {key: specification[key] for key in ("LaunchTemplateId",) if key in specification} or {
            "LaunchTemplateName": specification["LaunchTemplateName"]
        }
        version = specification.get("Version", "$Default")
        found = self._moto.call("ec2", "describe_launch_template_versions", **which, Versions=[version])
        data: Mapping[str, Any] = found["LaunchTemplateVersions"][0]["LaunchTemplateData"]
        return data

    def _configuration(self, name: str) -> Mapping[str, Any]:
        found = self._moto.call(_SERVICE, "describe_launch_configurations", LaunchConfigurationNames=[name])
        configuration: Mapping[str, Any] = found["LaunchConfigurations"][0]
        return configuration

    def _create(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        low, high = arguments["MinSize"], arguments["MaxSize"]
        desired = arguments.get("DesiredCapacity", low)
        answers.check_sizes(low, high, desired)
        self._moto.call(
            _SERVICE, "create_auto_scaling_group", **{**arguments, "MinSize": 0, "MaxSize": 0, "DesiredCapacity": 0}
        )
        self.changed()
        name = arguments["AutoScalingGroupName"]
        self.fleet.add(Group(name=name, min_size=low, max_size=high, desired=desired))
        return {}

    def _update(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        group = self._group(arguments)
        low, high = arguments.get("MinSize", group.min_size), arguments.get("MaxSize", group.max_size)
        desired = arguments.get("DesiredCapacity")
        if desired is None:
            desired = min(max(group.desired, low), high)
        answers.check_sizes(low, high, desired)
        rest = {key: value for key, value in arguments.items() if key not in _SIZES}
        if len(rest) > 1:
            self._moto.call(_SERVICE, "update_auto_scaling_group", **rest)
        self.changed()
        group.min_size, group.max_size = low, high
        self.fleet.resize(group, desired)
        return {}

    def _delete(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        group = self._group(arguments)
        if group.machines and not arguments.get("ForceDelete"):
            raise RefusalError(
                "ResourceInUse",
                "You cannot delete an AutoScalingGroup while there are instances or pending Spot instance request(s) "
                "still in the group.",
            )
        self._moto.call(_SERVICE, "delete_auto_scaling_group", AutoScalingGroupName=group.name, ForceDelete=True)
        self.changed()
        self.fleet.remove(group.name)
        return {}

    def _describe(self, arguments: Mapping[str, Any], find: Callable[[str], Group] | None = None) -> Mapping[str, Any]:
        if (most := arguments.get("MaxRecords", 50)) > _PAGE:
            raise validation_error(
                f"1 validation error detected: Value '{most}' at 'maxRecords' failed to satisfy "
                f"constraint: Member must have value less than or equal to {_PAGE}"
            )
        if arguments.get("AutoScalingGroupNames") and arguments.get("Filters"):
            raise validation_error("Either AutoScalingGroupNames or Filters may be specified, but not both.")
        arguments = {**arguments, "MaxRecords": min(most, self.page)}
        answer = self._moto.call(_SERVICE, "describe_auto_scaling_groups", **arguments)
        find = find or self.fleet.group
        told = [_told(body, find(body["AutoScalingGroupName"])) for body in answer["AutoScalingGroups"]]
        return {**answer, "AutoScalingGroups": told}

    def _describe_instances(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        wanted = arguments.get("InstanceIds")
        machines = [each for each in self.fleet.machines() if not wanted or each.id in wanted]
        page, token = answers.page(machines, arguments, most=50)
        told = [{**answers.instance(machine), "AutoScalingGroupName": machine.group} for machine in page]
        return {"AutoScalingInstances": told, "NextToken": token}

    def _describe_activities(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        name, now = arguments.get("AutoScalingGroupName"), self.fleet.clock.now()
        groups = [self._group(arguments)] if name else list(self.fleet.groups.values())
        wanted = arguments.get("ActivityIds")
        shown = [
            activity
            for group in groups
            for activity in group.activities
            if activity.shown_at <= now and (not wanted or activity.id in wanted)
        ]
        shown.sort(key=answers.age)
        page, token = answers.page(shown[::-1], arguments, most=100)
        return {"Activities": [answers.activity(activity) for activity in page], "NextToken": token}

    def _describe_warm_pool(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        group = self._group(arguments)
        answer = self._moto.call(_SERVICE, "describe_warm_pool", AutoScalingGroupName=group.name)
        warm = [machine for machine in group.machines.values() if machine.state.startswith("Warmed:")]
        page, token = answers.page(warm, arguments, most=50)
        return {**answer, "Instances": list(map(answers.instance, page)), "NextToken": token}

    def _set_desired(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        group, desired = self._group(arguments), arguments["DesiredCapacity"]
        for beyond, word, limit in (
            (desired > group.max_size, "above max", group.max_size),
            (desired < group.min_size, "below min", group.min_size),
        ):
            if beyond:
                raise validation_error(
                    f"New SetDesiredCapacity value {desired} is {word} value {limit} for the AutoScalingGroup."
                )
        self.fleet.resize(group, desired)
        return {}

    def _terminate(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        number, lower = arguments["InstanceId"], arguments.get("ShouldDecrementDesiredCapacity", False)
        machine = self.fleet.machine(number)
        if machine is None:
            raise validation_error(f"Instance Id not found - No managed instance found for instance ID: {number}")
        group = self.fleet.groups[machine.group]
        if lower and machine.counts:
            if group.desired <= group.min_size:
                raise validation_error(
                    f"Currently, desiredSize equals minSize ({group.min_size}). Terminating instance without "
                    "replacement will violate group's min size constraint. Either set shouldDecrementDesiredCapacity "
                    "flag to false or lower group's min size."
                )
            group.desired -= 1
        activity = self.fleet.terminate(machine, "instance was taken out of service in response to a user request")
        self.fleet.work(group)
        return {"Activity": answers.activity(activity)}

    def _detach(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        group = self._group(arguments)
        for machine in self._machines(group, arguments):
            if arguments.get("ShouldDecrementDesiredCapacity"):
                group.desired -= 1
            self.fleet.vanish(machine.id, "instance was detached in response to a user request")
        return {"Activities": []}

    def _enter_standby(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        group = self._group(arguments)
        for machine in self._machines(group, arguments):
            machine.state = "Standby"
            if arguments.get("ShouldDecrementDesiredCapacity"):
                group.desired -= 1
        self.fleet.work(group)
        return {"Activities": []}

    def _exit_standby(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        group = self._group(arguments)
        for machine in self._machines(group, arguments):
            machine.state = "InService"
            group.desired += 1
        return {"Activities": []}

    def _protect(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        for machine in self._machines(self._group(arguments), arguments):
            machine.protected = arguments["ProtectedFromScaleIn"]
        return {}

    def _set_health(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        machine = self.fleet.machine(arguments["InstanceId"])
        if machine is None:
            raise validation_error(f"Instance {arguments['InstanceId']} is not part of Auto Scaling group")
        machine.healthy = arguments["HealthStatus"] == "Healthy"
        return {}

    def _complete(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        machine = self.fleet.machine(arguments.get("InstanceId", ""))
        if machine is None or not machine.state.endswith(":Wait"):
            raise validation_error("No active Lifecycle Action found with instance ID " + arguments["InstanceId"])
        self.fleet.proceed(machine)
        return {}

    def _group(self, arguments: Mapping[str, Any]) -> Group:
        return self.fleet.group(arguments["AutoScalingGroupName"])

    def _machines(self, group: Group, arguments: Mapping[str, Any]) -> list[Machine]:
        for number in arguments["InstanceIds"]:
            if number not in group.machines:
                raise validation_error(f"The instance {number} is not part of Auto Scaling group {group.name}.")
        return [group.machines[number] for number in arguments["InstanceIds"]]


def _told(body: Mapping[str, Any], group: Group) -> dict[str, Any]:
    warm = sum(machine.state.startswith("Warmed:") for machine in group.machines.values())
    told = {
        **body,
        "MinSize": group.min_size,
        "MaxSize": group.max_size,
        "DesiredCapacity": group.desired,
        "Instances": [
            answers.instance(machine) for machine in group.machines.values() if not machine.state.startswith("Warmed:")
        ],
    }
    return {**told, "WarmPoolSize": warm} if warm or "WarmPoolConfiguration" in body else told
