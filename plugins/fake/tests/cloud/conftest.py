"""A cloud on the stepped clock, with kubelets that only write down what they are told."""

import pytest
from nodewright.testing.clock import SteppedClock
from nodewright_fake.agenda import Agenda
from nodewright_fake.cloud.actions import perform
from nodewright_fake.cloud.cloud import Cloud
from nodewright_fake.cloud.group import GroupSettings
from nodewright_fake.cloud.instance_type import InstanceType

INSTANCE_TYPES = {
    "c5.large": InstanceType(cpu="2", memory="4Gi", price=0.1, spot_price=0.04),
    "c5.xlarge": InstanceType(cpu="4", memory="8Gi", price=0.2),
    "g4.xlarge": InstanceType(cpu="4", memory="16Gi", price=0.5, gpu={"type": "tesla", "count": 1}),
}


class Kubelets:
    def __init__(self):
        self.booted = []
        self.shut = []
        self.silent = []
        self.heard_again = []

    def boot(self, machine):
        self.booted.append(machine)

    def shut_down(self, node_name):
        self.shut.append(node_name)

    def stop_reporting(self, node_name):
        self.silent.append(node_name)

    def resume_reporting(self, node_name):
        self.heard_again.append(node_name)


class Bench:
    """A cloud and all around it."""

    def __init__(self, *groups, seed=0, **settings):
        self.clock = SteppedClock()
        self.agenda = Agenda(self.clock)
        self.kubelets = Kubelets()
        self.cloud = Cloud(
            agenda=self.agenda,
            hosts=self.kubelets,
            zones=["eu-a", "eu-b"],
            instance_types=INSTANCE_TYPES,
            groups=groups,
            seed=seed,
            **settings,
        )

    def run(self, seconds):
        """Let time pass, entry by entry."""
        target = self.clock.now().timestamp() + seconds
        self.agenda.run_due()
        while (moment := self.agenda.next_moment) is not None and moment.timestamp() <= target:
            self.clock.advance((moment - self.clock.now()).total_seconds())
            self.agenda.run_due()
        self.clock.advance(target - self.clock.now().timestamp())

    def do(self, action, **fields):
        perform(self.cloud, action, fields)

    def states(self, group):
        """State of each machine, with the code of its error."""
        return [
            f"{machine.state}:{machine.error.code}" if machine.error else str(machine.state)
            for machine in self.cloud.instances(group)
        ]

    def names(self, group):
        return [machine.name for machine in self.cloud.instances(group)]


@pytest.fixture
def bench():
    return Bench


@pytest.fixture
def group():
    """Settings of a group named web, unless told otherwise."""

    def build(name="web", **settings):
        return GroupSettings(**{"name": name, "zone": "eu-a", "instance_type": "c5.large", "max": 10, **settings})

    return build
