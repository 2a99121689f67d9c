"""Whether the core can trust the fake provider."""

from datetime import timedelta

import pytest
from nodewright.api import ErrorClass, InstanceState, Taint
from nodewright.testing.conformance import Ability, Cloud, ExpectedTemplate, ProviderConformance
from nodewright_fake.cloud.api_fault import ApiFault, ApiFaultKind
from nodewright_fake.cloud.group import GroupSettings
from nodewright_fake.cloud.server import CloudServer


class Breakdown(ApiFault):
    """Cuts all connections after so many calls."""

    def __init__(self, *, after):
        super().__init__(ApiFaultKind.RESET)
        self._left = after

    def befalls(self, operation, now):
        self._left -= 1
        return self._left < 0


class FakeCloud(Cloud):
    """The cloud of these tests, in the suite's words."""

    #: Deletions are all or nothing here, and answers are of the moment.
    abilities = frozenset(Ability) - {Ability.DELETE_ONLY, Ability.DELAY}
    failures = frozenset(ErrorClass)
    refusals = frozenset({ErrorClass.STOCK_OUT, ErrorClass.QUOTA})

    def __init__(self, house):
        self.house = house

    def provider(self):
        return self.house.provider()

    def group(self):
        return "web"

    def other_group(self):
        self.resize("cheap", 1)
        return "cheap"

    def settle(self):
        for _ in range(4):
            self.house.run(30)

    def expected_bounds(self):
        return {"web": (1, 5), "cheap": (0, 9)}

    def expected_templates(self):
        return {
            "web": ExpectedTemplate(
                labels={
                    "team": "shop",
                    "topology.kubernetes.io/zone": "eu-a",
                    "node.kubernetes.io/instance-type": "c5.large",
                },
                taints=(),
                capacity={"cpu": 2000, "memory": 4 << 30},
                allocatable={"cpu": 1900},
            ),
            "gpu": ExpectedTemplate(
                taints=(Taint(key="gpu", value="yes", effect="NoSchedule"),), capacity={"nvidia.com/gpu": 1}
            ),
        }

    def references(self):
        return {("FakeGroup", "eu-a/web"): "web"}

    def target(self, group):
        return self.house.cloud.group(group).desired

    def machines(self, group):
        return {
            machine.id: InstanceState(machine.state)
            for machine in self.house.cloud.instances(group)
            if machine.error is None
        }

    def resize(self, group, size):
        self.house.do("resize", group=group, desired=size)
        self.settle()

    def vanish(self, group):
        [oldest, *_] = self.house.cloud.instances(group)
        self.house.do("reclaim", machine=oldest.name)
        self.settle()
        return self.node(oldest.id)

    def hold(self):
        """Machines are in creation until the clock moves."""

    def starve(self, group):
        self.house.do("stock-out", pool=self._pool(group), mode="wait")

    def fail(self, group, why):
        if why is ErrorClass.STOCK_OUT:
            self.house.do("stock-out", pool=self._pool(group), mode="fail")
        else:
            self.house.do("break-boots", groups=group, kind="fails", errorClass=why)

    def fail_unseen(self, group):
        self.house.do("stock-out", pool=self._pool(group), mode="say")
        return ErrorClass.STOCK_OUT

    def pause(self, group):
        self.house.do("pause", groups=group)

    def stop(self, group):
        return self._after("stop", group)

    def remake(self, group):
        return self._after("remake", group)

    def _after(self, action, group):
        [oldest, *_] = self.house.cloud.instances(group)
        self.house.do(action, machine=oldest.name)
        self.settle()
        return self.node(oldest.id)

    def refuse(self, group, why):
        if why is ErrorClass.STOCK_OUT:
            self.house.do("stock-out", pool=self._pool(group), mode="refuse")
        else:
            self.house.do("limit-quota", types="*", vcpus=0, mode="refuse")

    def add_group(self):
        self.house.cloud.create_group(GroupSettings(name="new", zone="eu-b", instance_type="c5.large", max=3))
        return "new"

    def remove_group(self, group):
        self.house.do("resize", group=group, min=0, desired=0)
        self.settle()
        self.house.cloud.delete_group(group)

    def throttle(self):
        self.house.do("throttle")

    def deny(self):
        self.house.do("fail-api", kind="denied")

    def cut(self):
        self.house.server.stop()

    def break_after(self, calls):
        self.house.cloud.gate.add(Breakdown(after=calls))

    def limit(self, group, machines):
        self.house.do("stock-out", pool=self._pool(group), available=self.target(group) + machines, mode="fail")

    def lose_answer(self):
        self.house.do("fail-api", kind="lost", operations="[!sp]*", times=1)

    def heal(self):
        self.house.do("heal")
        self.house.server.stop()
        self.house.server = CloudServer(self.house.cloud, port=int(self.house.server.url.rpartition(":")[2]))
        self.house.server.start()

    def calls(self):
        return sum(self.house.cloud.gate.calls.values())

    def populate(self, machines):
        settings = GroupSettings(name="crowd", zone="eu-b", instance_type="c5.large", max=machines, desired=machines)
        self.house.cloud.create_group(settings)
        self.settle()

    def expected_options(self):
        return {"cheap": {"zero_or_max_node_scaling": True, "scale_down_unneeded_time": timedelta(minutes=2)}}

    def _pool(self, group):
        return self.house.cloud.group(group).settings.pool


class TestFakeProvider(ProviderConformance):
    @pytest.fixture
    def cloud(self, house):
        return FakeCloud(house)
