"""AWS under the embedded cluster: machines that come into service become nodes, and nodes go with their machines."""

import json
from dataclasses import dataclass, field

from nodewright.api import Taint
from nodewright_aws.testing.ec2 import private_name
from nodewright_fake.host import Host

from tests.end_to_end.conftest import Life

ENABLED = "k8s.io/cluster-autoscaler/enabled"
CLUSTER = "k8s.io/cluster-autoscaler/prod"
OURS = {ENABLED: "true", CLUSTER: "owned"}
TEMPLATE = "k8s.io/cluster-autoscaler/node-template"

_KI = 1024
#: Seconds between two looks at the machines.
_PACE = 2
#: Seconds until a machine is in service, and until one that was given up is gone.
BOOTS, STOPS = 40, 30

CONFIG = """
apiVersion: nodewright.dev/v1
kind: Autoscaler
providers:
  - aws: {aws}
{settings}
"""


def _node(cpu, capacity, pods, reserved_cpu, **devices):
    """What a node of EKS reports of a machine: capacity, allocatable."""
    kept = (255 + 11 * pods + 100) * _KI
    return (
        {"cpu": 1000 * cpu, "memory": capacity * _KI, "pods": pods, "ephemeral-storage": 20 << 30, **devices},
        {
            "cpu": 1000 * cpu - reserved_cpu,
            "memory": (capacity - kept) * _KI,
            "pods": pods,
            "ephemeral-storage": 17 << 30,
            **devices,
        },
    )


NODES = {
    "m5.large": _node(2, 7923128, 29, 70),
    "m5a.large": _node(2, 7923128, 29, 70),
    "m5.xlarge": _node(4, 15950552, 58, 80),
    "g4dn.xlarge": _node(4, 15950552, 29, 80, **{"nvidia.com/gpu": 1}),
}


@dataclass
class Looks:
    """What the machines of a group bring to their nodes, as their user data has it."""

    labels: dict[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()


class AwsLife(Life):
    """A cluster whose machines come from AWS, and an autoscaler in it."""

    def __init__(self, world, double, *arguments):
        self.double = double
        self.looks = {}
        #: Names of nodes by id of their machines.
        self.registered = {}
        double.boots(BOOTS, stops=STOPS)
        world.agenda.after(_PACE, self._look)
        super().__init__(world, *arguments)

    def configuration(self, settings):
        """The text of the configuration."""
        aws = self.double.config(discover=[{"tags": {ENABLED: None, CLUSTER: None}}])
        return CONFIG.format(aws=json.dumps(aws), settings=settings)

    def make_group(self, name, *, labels=None, taints=(), ours=True, tags=None, **fields):
        """Make a group that the autoscaler finds, if it is *ours*; tags tell it of the labels and taints of nodes."""
        self.looks[name] = Looks(labels=labels or {}, taints=tuple(taints))
        told = {f"{TEMPLATE}/label/{key}": value for key, value in (labels or {}).items()}
        told |= {f"{TEMPLATE}/taint/{each.key}": f"{each.value}:{each.effect}" for each in taints}
        return self.double.make_group(name, tags={**(OURS if ours else {}), **told, **(tags or {})}, **fields)

    def do(self, operation, **arguments):
        """Do what somebody else does to the groups."""
        return self.double.do("autoscaling", operation, **arguments)

    def desired(self, group):
        """How many machines AWS is asked for."""
        return self.double.group(group).desired

    def sizes(self):
        """Wanted machines by group, without those of size 0."""
        groups = self.do("describe_auto_scaling_groups")["AutoScalingGroups"]
        return {each["AutoScalingGroupName"]: each["DesiredCapacity"] for each in groups if each["DesiredCapacity"]}

    def check_limits(self):
        """No group is asked for less or more than it allows, and nobody has tried."""
        for group in self.do("describe_auto_scaling_groups")["AutoScalingGroups"]:
            assert group["MinSize"] <= group["DesiredCapacity"] <= group["MaxSize"]
        assert not any("above max value" in line for line in self.diary.lines)

    def run_out(self, pool, **fields):
        """Let AWS have no machines of a pool."""
        self.double.run_out(pool, **fields)

    @property
    def launched(self):
        """Ids of all machines that were ever seen, in order."""
        return list(self.registered)

    def node_of(self, machine):
        """The name of a machine's node."""
        return self.registered[machine.id]

    def _look(self):
        """Do what kubelets and the cloud controller do."""
        there = {machine.id: machine for machine in self.double.machines()}
        for number, machine in there.items():
            if machine.state == "InService" and number not in self.registered:
                self.registered[number] = private_name(machine)
                self.world.controllers.kubelets.boot(self._kubelet(machine))
        for number in self.registered.keys() - there.keys():
            self.world.controllers.kubelets.shut_down(self.registered[number])
        self.world.agenda.after(_PACE, self._look)

    def _kubelet(self, machine):
        capacity, allocatable = NODES[machine.pool.instance_type]
        looks = self.looks[machine.group]
        return Host(
            id=machine.provider_id,
            name=private_name(machine),
            group=machine.group,
            zone=machine.pool.zone,
            instance_type=machine.pool.instance_type,
            labels=looks.labels,
            taints=looks.taints,
            capacity=capacity,
            allocatable=allocatable,
        )
