"""A provider that speaks to a cloud over HTTP, on the stepped clock."""

import pytest
from nodewright.api import ProviderContext
from nodewright.testing.clock import SteppedClock
from nodewright_fake.agenda import Agenda
from nodewright_fake.cloud.actions import perform
from nodewright_fake.cloud.cloud import Cloud
from nodewright_fake.cloud.group import GroupSettings
from nodewright_fake.cloud.instance_type import InstanceType
from nodewright_fake.cloud.limits import Bounds
from nodewright_fake.cloud.server import CloudServer
from nodewright_fake.provider import FakeProvider

INSTANCE_TYPES = {
    "c5.large": InstanceType(cpu="2", memory="4Gi", reserved={"cpu": "100m"}, price=0.1, spot_price=0.04),
    "c5.xlarge": InstanceType(cpu="4", memory="8Gi", price=0.18),
    "g4.xlarge": InstanceType(cpu="4", memory="16Gi", price=0.5, gpu={"type": "tesla", "count": 1}),
}
GROUPS = [
    GroupSettings(name="web", zone="eu-a", instance_type="c5.large", min=1, max=5, desired=2, labels={"team": "shop"}),
    GroupSettings(
        name="gpu", zone="eu-b", instance_type="g4.xlarge", max=3, taints=["gpu=yes:NoSchedule"], labels={"team": "ml"}
    ),
    GroupSettings(
        name="cheap",
        zone="eu-b",
        instance_type="c5.large",
        spot=True,
        max=9,
        labels={"team": "shop", "tier": "batch"},
        scale_from_zero=False,
        options={"scaleDownUnneededTime": "2m", "zeroOrMaxNodeScaling": True},
    ),
]


class NoKubelets:
    def boot(self, machine):
        pass

    def shut_down(self, node_name):
        pass

    def stop_reporting(self, node_name):
        pass

    def resume_reporting(self, node_name):
        pass


class CloudHouse:
    """A cloud with its server, and providers for it."""

    def __init__(self):
        self.clock = SteppedClock()
        self.agenda = Agenda(self.clock)
        self.cloud = Cloud(
            agenda=self.agenda,
            hosts=NoKubelets(),
            zones=["eu-a", "eu-b"],
            instance_types=INSTANCE_TYPES,
            groups=GROUPS,
            limits={"cpu": Bounds(max="100"), "tesla": Bounds(min="1", max="4")},
        )
        self.server = CloudServer(self.cloud)
        self.providers = []

    def provider(self, *, only=(), url=None, **context):
        config = FakeProvider.Config(url=url or self.server.url, only=only)
        provider = FakeProvider(config, ProviderContext(clock=self.clock, **context))
        self.providers.append(provider)
        return provider

    def run(self, seconds):
        self.clock.advance(seconds)
        self.agenda.run_due()

    def do(self, action, **fields):
        perform(self.cloud, action, fields)

    def close(self):
        for provider in self.providers:
            provider.close()
        self.server.stop()


@pytest.fixture
def house():
    house = CloudHouse()
    house.server.start()
    yield house
    house.close()


@pytest.fixture
def provider(house):
    """One that has read the cloud."""
    provider = house.provider()
    provider.refresh()
    return provider


@pytest.fixture
def groups(provider):
    """Its groups by name."""
    return {group.id: group for group in provider.groups()}
