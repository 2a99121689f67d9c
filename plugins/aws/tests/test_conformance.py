"""Whether the core can trust the provider of AWS."""

from datetime import timedelta

import pytest
from nodewright.api import ErrorClass, GpuConfig, InstanceState, ProviderContext, Taint
from nodewright.testing.conformance import Ability, Cloud, ExpectedTemplate, ProviderConformance
from nodewright_aws.config import AwsConfig
from nodewright_aws.provider import AwsProvider
from nodewright_aws.testing import Trouble

OURS = {"k8s.io/cluster-autoscaler/enabled": "true"}
TEMPLATE = "k8s.io/cluster-autoscaler/node-template"
CHANGES = (
    "autoscaling:set_desired_capacity"
    "|autoscaling:terminate_instance_in_auto_scaling_group"
    "|autoscaling:update_auto_scaling_group"
)
TROUBLES = {
    ErrorClass.STOCK_OUT: Trouble.STOCK_OUT,
    ErrorClass.QUOTA: Trouble.QUOTA,
    ErrorClass.PERMISSION: Trouble.PERMISSION,
    ErrorClass.CONFIGURATION: Trouble.LAUNCH_TEMPLATE,
}
_STATES = {
    "Pending": InstanceState.CREATING,
    "InService": InstanceState.RUNNING,
    "Standby": InstanceState.STOPPED,
}


class AwsCloud(Cloud):
    """The double in the suite's words. AWS takes every order within a group's bounds: it refuses none at once."""

    abilities = frozenset(Ability) - {Ability.FAIL_UNSEEN, Ability.REMAKE}
    failures = frozenset(ErrorClass)

    def __init__(self, double):
        self.double = double
        double.make_group(
            "web",
            min_size=1,
            desired=2,
            max_size=8,
            tags={
                **OURS,
                f"{TEMPLATE}/label/costCentre": "Shop",
                f"{TEMPLATE}/taint/dedicated": "shop:NoSchedule",
                f"{TEMPLATE}/resources/example.com/licence": "3",
                f"{TEMPLATE}/autoscaling-options/scaledownunneededtime": "2m0s",
            },
        )
        double.make_group(
            "gpu",
            instance_type="g4dn.xlarge",
            tags={**OURS, f"{TEMPLATE}/label/k8s.amazonaws.com/accelerator": "nvidia-tesla-t4"},
        )
        # A refresh takes as many calls as there are groups, and may break down between them.
        double.shorten_pages(1)

    def provider(self):
        # The group's own maximum is below that of AWS.
        settings = self.double.config(discover=[{"tags": dict.fromkeys(OURS)}], groups=["1:7:web"])
        config = AwsConfig.model_validate(settings)
        return AwsProvider(config, ProviderContext(clock=self.double.clock))

    def group(self):
        return "web"

    def other_group(self):
        self.double.make_group("cheap", desired=1, tags=OURS)
        return "cheap"

    def settle(self):
        self.double.clock.advance(60)
        self.double.settle()

    def secrets(self):
        return [self.double.environment["AWS_SECRET_ACCESS_KEY"]]

    def expected_bounds(self):
        return {"web": (1, 7)}

    def expected_templates(self):
        return {
            "web": ExpectedTemplate(
                labels={
                    "costCentre": "Shop",
                    "kubernetes.io/arch": "amd64",
                    "node.kubernetes.io/instance-type": "m5.large",
                    "topology.kubernetes.io/region": "eu-west-1",
                    "topology.kubernetes.io/zone": "eu-west-1a",
                },
                taints=(Taint(key="dedicated", value="shop", effect="NoSchedule"),),
                capacity={"cpu": 2000, "pods": 29, "example.com/licence": 3},
                allocatable={"cpu": 1930},
            ),
            "gpu": ExpectedTemplate(
                taints=(),
                capacity={"cpu": 4000, "nvidia.com/gpu": 1},
                gpu=GpuConfig(label="k8s.amazonaws.com/accelerator", type="nvidia-tesla-t4", resource="nvidia.com/gpu"),
            ),
        }

    def expected_options(self):
        return {"web": {"scale_down_unneeded_time": timedelta(minutes=2)}}

    def references(self):
        asked = {"AutoScalingGroupNames": ["web", "gpu"]}
        told = self.double.do("autoscaling", "describe_auto_scaling_groups", **asked)["AutoScalingGroups"]
        return {("AWSAutoScalingGroup", each["AutoScalingGroupARN"]): each["AutoScalingGroupName"] for each in told}

    def target(self, group):
        return self.double.group(group).desired

    def machines(self, group):
        return {
            machine.provider_id: _STATES.get(machine.state, InstanceState.DELETING)
            for machine in self.double.machines(group)
        }

    def resize(self, group, size):
        self.double.do("autoscaling", "set_desired_capacity", AutoScalingGroupName=group, DesiredCapacity=size)
        self.settle()

    def vanish(self, group):
        oldest = self.double.machines(group)[0]
        self.double.take_away(oldest)
        self.settle()
        return self.node(oldest.provider_id)

    def hold(self):
        """Machines are pending until the double settles."""

    def starve(self, group):
        self.double.run_out(groups=group, silent=True)

    def fail(self, group, why):
        if why is ErrorClass.OTHER:
            self.double.run_out(groups=group, message="Something went wrong that nobody has seen before.")
        else:
            self.double.run_out(groups=group, trouble=TROUBLES[why])

    def pause(self, group):
        self._launch("suspend_processes", group)

    def stop(self, group):
        oldest = self.double.machines(group)[0]
        asked = {"InstanceIds": [oldest.id], "ShouldDecrementDesiredCapacity": True}
        self.double.do("autoscaling", "enter_standby", AutoScalingGroupName=group, **asked)
        return self.node(oldest.provider_id)

    def _launch(self, operation, group):
        self.double.do("autoscaling", operation, AutoScalingGroupName=group, ScalingProcesses=["Launch"])

    def limit(self, group, machines):
        self.double.run_out(groups=group, available=machines)

    def add_group(self):
        self.double.make_group("new", tags=OURS)
        return "new"

    def remove_group(self, group):
        self.double.do("autoscaling", "delete_auto_scaling_group", AutoScalingGroupName=group, ForceDelete=True)

    def throttle(self):
        self.double.faults.throttle()

    def deny(self):
        self.double.faults.expire()

    def cut(self):
        self.double.faults.drop()

    def break_after(self, calls):
        self.double.faults.drop().spared = calls

    def lose_answer(self):
        self.double.faults.drop(CHANGES, times=1, after=True)

    def delay(self):
        self.double.lags(3600)

    def delete_only(self, count):
        self.double.faults.throttle("autoscaling:terminate_instance_in_auto_scaling_group").spared = count

    def heal(self):
        self.double.faults.heal()
        self.double.restock()
        self.double.lags(0)
        self._launch("resume_processes", "web")

    def calls(self):
        return self.double.calls.total()

    def populate(self, machines):
        self.double.make_group("crowd", desired=machines, max_size=machines, tags=OURS)


class TestAwsProvider(ProviderConformance):
    @pytest.fixture
    def cloud(self, double, monkeypatch):
        # What the SDK would try again by itself is to reach the provider.
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        return AwsCloud(double)
