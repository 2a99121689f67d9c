"""Providers are read once per loop, and a sick one freezes its own groups only."""

from datetime import timedelta
from threading import Event
from time import monotonic

import pytest
from nodewright.api import (
    Capability,
    CloudUnavailableError,
    ErrorClass,
    GpuConfig,
    GroupNotFoundError,
    GroupOptions,
    InstanceError,
    NodeGroup,
    Pause,
    PluginConfig,
    PricingModel,
    Provider,
    ProviderContext,
    ThrottledError,
)
from nodewright.plugins import Faults
from nodewright.runtime.providers import Providers
from nodewright.testing.builders import a_node, a_pod, a_template
from nodewright.testing.clock import EPOCH, SteppedClock

SOON = timedelta(seconds=5)


class Group(NodeGroup):
    id = "g"
    min_size = 0
    max_size = 5
    target_size = 2

    def __init__(self, name="g", broken=False):
        self.id = name
        self.broken = broken

    def instances(self):
        if self.broken:
            raise RuntimeError("no instances today")
        return ()

    def template(self):
        return a_template(cpu="4")

    def pools(self):
        return ["eu-a/c5"]

    def options(self, defaults):
        return GroupOptions(scale_down_utilization_threshold=defaults.scale_down_utilization_threshold + 0.1)

    def increase(self, count): ...
    def delete_nodes(self, nodes): ...
    def decrease_target(self, count): ...


class Prices(PricingModel):
    def node_price(self, template, start, end):
        return 0.25 * (end - start) / timedelta(hours=1)

    def pod_price(self, pod, start, end):
        return None


class ListPrices(PricingModel):
    def __init__(self, node=None, pod=None, currency="USD"):
        self.node = node
        self.pod = pod
        self.currency = currency

    def node_price(self, template, start, end):
        return self.node

    def pod_price(self, pod, start, end):
        return self.pod


class Cloud(Provider):
    capabilities = frozenset([Capability.SCALE_FROM_ZERO, Capability.PRICES])

    def __init__(self, *groups):
        super().__init__(PluginConfig(), ProviderContext(clock=SteppedClock()))
        self.known = list(groups)
        self.trouble = None
        self.asked = []
        self.refreshed = 0

    def refresh(self):
        self.refreshed += 1
        if self.trouble is not None:
            raise self.trouble

    def groups(self):
        return self.known

    def group_of(self, node):
        self.asked.append(node.name)
        return node.metadata.labels.get("group")

    def pricing(self):
        return Prices()


@pytest.fixture
def read():
    """Reads providers that are let go of after the test."""
    made = []

    def build(*prices, **providers):
        faults = Faults(SteppedClock())
        made.append(Providers(providers, SteppedClock(), faults, prices))
        return lambda nodes=(): made[-1].read({node.name: node for node in nodes}, GroupOptions(), SOON)

    yield build
    for each in made:
        each.close()


def test_what_a_provider_says_becomes_facts(read) -> None:
    (facts,) = read(cloud=Cloud(Group()))().groups
    assert (facts.id, facts.provider, facts.min_size, facts.max_size, facts.target_size) == ("g", "cloud", 0, 5, 2)
    assert facts.template == a_template(cpu="4")
    assert facts.options.scale_down_utilization_threshold == pytest.approx(0.6)
    assert facts.hourly_price == pytest.approx(0.25)
    assert (facts.atomic, facts.error, facts.pools) == (False, "", ("eu-a/c5",))


class Telling(Group):
    """A group that tells all that it may."""

    dry = InstanceError(error_class=ErrorClass.STOCK_OUT, code="Dry")

    def quotas(self):
        return {"eu/CPUS": 4}

    def available(self):
        return 3

    def errors(self):
        return [self.dry]

    def pause(self):
        return Pause(why="painted")


def test_what_a_group_tells_of_its_cloud_becomes_facts(read) -> None:
    (facts,) = read(cloud=Cloud(Telling()))().groups
    assert (facts.quotas, facts.available, facts.errors) == ({"eu/CPUS": 4}, 3, (Telling.dry,))
    assert facts.pause == Pause(why="painted")


@pytest.mark.parametrize(
    ("declared", "own", "atomic"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_a_group_grows_atomically_if_its_provider_and_itself_say_so(declared, own, atomic) -> None:
    group, clock = type("Some", (Group,), {"atomic": own})(), SteppedClock()
    cloud = Cloud(group)
    cloud.capabilities = frozenset([Capability.ATOMIC_INCREASE] if declared else [])
    providers = Providers({"cloud": cloud}, clock, Faults(clock))
    (facts,) = providers.read({}, GroupOptions(), SOON).groups
    assert (facts.atomic, providers.can_increase_atomically("g")) == (atomic, atomic)
    providers.close()


def test_what_was_ordered_is_not_left_any_more_until_the_provider_is_read_again() -> None:
    clock = SteppedClock()
    providers = Providers({"cloud": Cloud(Telling())}, clock, Faults(clock))
    providers.read({}, GroupOptions(), SOON)
    providers.resize({"g": 2})
    assert [(each.target_size, each.available) for each in providers._states[0].facts] == [(4, 1)]
    providers.close()


def test_the_first_provider_that_knows_an_object_tells_its_group() -> None:
    class Knows(Cloud):
        def resolve(self, kind, id):  # noqa: A002  as in the contract
            return {"Rack": id, "Typo": "nothing"}.get(kind)

    class Fails(Cloud):
        def resolve(self, kind, id):  # noqa: A002  as in the contract
            raise RuntimeError(id)

    clock = SteppedClock()
    clouds = {"other": Cloud(Group("a")), "fails": Fails(Group("b")), "knows": Knows(Group("c"), Group("d"))}
    providers = Providers(clouds, clock, Faults(clock))
    providers.read({}, GroupOptions(), SOON)
    asked = [("Rack", "c"), ("Rack", "d"), ("Rack", "a"), ("Typo", "c"), ("Shed", "c")]
    assert [providers.resolve(*each) for each in asked] == ["c", "d", None, None, None]
    providers.close()


def test_prices_of_the_configuration_lie_over_those_of_every_provider(read) -> None:
    own, unpriced = Cloud(Group("a")), Cloud(Group("b"))
    unpriced.capabilities = frozenset([Capability.SCALE_FROM_ZERO])
    report = read(ListPrices(node=0.5), own=own, unpriced=unpriced)()
    assert [facts.hourly_price for facts in report.groups] == [0.5, 0.5]
    assert set(report.pricing) == {"own", "unpriced"}


def test_where_the_configuration_knows_no_price_the_provider_is_asked(read) -> None:
    report = read(ListPrices(), ListPrices(pod=0.01), cloud=Cloud(Group()))()
    assert report.groups[0].hourly_price == pytest.approx(0.25)
    assert report.pricing["cloud"].pod_price(a_pod(), EPOCH, EPOCH + timedelta(hours=1)) == 0.01


def test_prices_in_another_currency_are_not_mixed_with_those_of_the_first_model(read) -> None:
    report = read(ListPrices(currency="EUR"), cloud=Cloud(Group()))()
    assert report.groups[0].hourly_price is None
    assert report.pricing["cloud"].currency == "EUR"


def test_an_undeclared_ability_is_never_used(read) -> None:
    cloud = Cloud(Group())
    cloud.capabilities = frozenset()
    (facts,) = read(cloud=cloud)().groups
    assert (facts.template, facts.hourly_price) == (None, None)


def test_a_group_that_can_never_be_read_still_tells_its_limits(read) -> None:
    (facts,) = read(cloud=Cloud(Group(broken=True)))().groups
    assert (facts.min_size, facts.max_size, facts.error) == (0, 5, "no instances today")


def test_a_provider_that_fails_keeps_its_groups_as_they_were(read) -> None:
    sick, well = Cloud(Group("sick")), Cloud(Group("well"))
    read_all = read(sick=sick, well=well)
    read_all()
    sick.trouble = CloudUnavailableError("connection refused")
    before, after = read_all().groups
    assert (before.id, before.target_size, before.error) == ("sick", 2, "connection refused")
    assert (after.id, after.error) == ("well", "")
    sick.trouble = None
    assert read_all().groups[0].error == ""


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (CloudUnavailableError("connection refused"), "connection refused"),
        (CloudUnavailableError(""), "CloudUnavailableError"),
    ],
    ids=["with words", "without"],
)
def test_a_provider_that_never_could_be_read_is_reported_with_the_reason(read, fault, reason) -> None:
    sick, well = Cloud(Group("sick")), Cloud(Group("well"))
    sick.trouble = fault
    read_all = read(sick=sick, well=well)
    report = read_all()
    assert ([group.id for group in report.groups], report.unreadable) == (["well"], {"sick": reason})
    sick.trouble = None
    assert read_all().unreadable == {}


def test_a_refresh_that_ends_with_a_timeout_of_its_own_is_tried_again(read) -> None:
    cloud = Cloud(Group())
    read_all = read(cloud=cloud)
    read_all()
    cloud.trouble = TimeoutError("the cloud said nothing")
    assert [group.error for group in read_all().groups] == ["TimeoutError: the cloud said nothing"]
    cloud.trouble = None
    assert [group.error for group in read_all().groups] == [""]


def test_one_broken_group_leaves_the_others_alone(read) -> None:
    broken, well = read(cloud=Cloud(Group("broken", broken=True), Group("well")))().groups
    assert broken.error == "no instances today"
    assert well.error == ""


def test_a_provider_that_is_late_is_not_asked_twice(read) -> None:
    release, started = Event(), []

    class Slow(Cloud):
        def refresh(self):
            started.append(1)
            release.wait(10)

    slow = Slow(Group())
    providers = Providers({"slow": slow}, SteppedClock(), Faults(SteppedClock()))
    for _ in range(2):
        assert providers.read({}, GroupOptions(), timedelta(seconds=0.01)).groups == ()
    assert len(started) == 1
    release.set()
    until = monotonic() + 10
    while not providers.read({}, GroupOptions(), SOON).groups:
        assert monotonic() < until
    assert len(started) == 1
    providers.close()


def test_what_is_read_late_is_marked_as_outdated() -> None:
    release = Event()

    class Slow(Cloud):
        def refresh(self):
            release.wait(10)

    clouds = {"slow": Slow(Group("slow")), "quick": Cloud(Group("quick"))}
    providers = Providers(clouds, SteppedClock(), Faults(SteppedClock()))
    report = providers.read({}, GroupOptions(), timedelta(seconds=0.01))
    release.set()
    until = monotonic() + 10
    while len(report.groups) < 2 or any(group.error for group in report.groups):
        assert monotonic() < until
        report = providers.read({}, GroupOptions(), SOON)
    assert report.outdated == {"slow"}
    assert providers.read({}, GroupOptions(), SOON).outdated == frozenset()
    providers.close()


def test_what_a_group_was_asked_for_counts_until_it_is_read_again() -> None:
    cloud = Cloud(Group())
    providers = Providers({"cloud": cloud}, SteppedClock(), Faults(SteppedClock()))
    providers.read({}, GroupOptions(), SOON)
    providers.resize({"g": 3, "unknown": 1})
    cloud.trouble = CloudUnavailableError("connection refused")
    assert [group.target_size for group in providers.read({}, GroupOptions(), SOON).groups] == [5]
    cloud.trouble = None
    assert [group.target_size for group in providers.read({}, GroupOptions(), SOON).groups] == [2]
    providers.close()


def test_trouble_is_logged_when_it_begins_and_when_it_ends(read, caplog) -> None:
    cloud = Cloud(Group())
    read_all = read(cloud=cloud)
    cloud.trouble = CloudUnavailableError("connection refused")
    with caplog.at_level("INFO"):
        for _ in range(3):
            read_all()
        cloud.trouble = None
        for _ in range(3):
            read_all()
    assert [record.getMessage() for record in caplog.records] == [
        "provider cloud could not be read, its groups are left alone: connection refused",
        "provider cloud can be read again",
    ]


class Throttled:
    """Two clouds that are read on one clock; one of them asks for fewer calls."""

    def __init__(self, retry_after):
        self.clock, self.faults = SteppedClock(), Faults(SteppedClock())
        self.cloud, self.other = Cloud(Group("g")), Cloud(Group("other"))
        self.providers = Providers({"cloud": self.cloud, "other": self.other}, self.clock, self.faults)
        self.read()
        self.cloud.trouble = ThrottledError("too many calls", retry_after=retry_after)
        self.read()

    def read(self):
        return {facts.id: facts for facts in self.providers.read({}, GroupOptions(), SOON).groups}

    def asked_again_after(self):
        """The seconds, up to twenty minutes, in which the cloud is read once a second and not asked."""
        before, began = self.cloud.refreshed, self.clock.now()
        while self.cloud.refreshed == before and self.clock.now() < began + timedelta(minutes=20):
            self.clock.advance(1)
            self.read()
        return (self.clock.now() - began).total_seconds()


@pytest.fixture
def throttled():
    made = []

    def build(retry_after=None):
        made.append(Throttled(retry_after))
        return made[-1]

    yield build
    for each in made:
        each.providers.close()


def test_a_provider_that_is_throttled_is_not_read_before_the_time_that_it_named(throttled) -> None:
    act = throttled(30)
    frozen = act.read()["g"]
    assert (frozen.target_size, frozen.error) == (
        2,
        "cloud asked for fewer calls (too many calls): asked again at 00:00:30",
    )
    asked = act.other.refreshed
    assert act.asked_again_after() == 30
    assert act.other.refreshed == asked + 30
    assert act.read()["other"].error == ""


@pytest.mark.parametrize(("said", "seconds"), [(None, 1), (0, 1), (0.2, 1), (2.5, 3), (86_400, 900), (10**400, 900)])
def test_a_provider_is_left_alone_for_at_least_a_second_and_not_for_ever(throttled, said, seconds) -> None:
    act = throttled(said)
    assert act.asked_again_after() == seconds
    assert act.faults.counts == {}


@pytest.mark.parametrize("said", [-1, float("nan"), float("inf"), "30", True, [30]])
def test_what_is_no_number_of_seconds_counts_as_none_and_is_the_plugins_fault(throttled, said) -> None:
    act = throttled(said)
    assert act.faults.counts == {("cloud", "retry_after"): 1}
    assert act.asked_again_after() == 1


def test_an_error_that_was_made_without_its_time_counts_as_one_without(throttled) -> None:
    class CarelessError(ThrottledError):
        def __init__(self):
            Exception.__init__(self, "too many calls")

    act = throttled()
    act.clock.advance(1)
    act.cloud.trouble = CarelessError()
    assert act.read()["g"].error.startswith("cloud asked for fewer calls")
    assert act.faults.counts == {("cloud", "retry_after"): 1}


def test_throttling_is_logged_once_with_what_the_cloud_said(throttled, caplog) -> None:
    with caplog.at_level("INFO"):
        act = throttled(30)
        act.asked_again_after()
        act.cloud.trouble = None
        act.asked_again_after()
    assert [record.getMessage() for record in caplog.records] == [
        (
            "provider cloud could not be read, its groups are left alone: "
            "cloud asked for fewer calls (too many calls): asked again at 00:00:30"
        ),
        "provider cloud can be read again",
    ]


def test_a_clock_that_is_set_back_makes_no_provider_wait_for_it(throttled) -> None:
    act = throttled(30)
    act.clock.advance(-3600)
    act.cloud.trouble = None
    assert act.read()["g"].error == ""


def test_a_cloud_that_asks_for_fewer_calls_is_no_reason_to_restart(throttled) -> None:
    act = throttled(30)
    act.other.trouble = CloudUnavailableError("connection refused")
    act.read()
    assert act.providers.any_readable
    act.clock.advance(30)
    act.cloud.trouble = CloudUnavailableError("connection refused")
    act.read()
    assert not act.providers.any_readable


def test_of_two_groups_of_one_name_the_first_is_used(read, caplog) -> None:
    first, second = Cloud(Group("same")), Cloud(Group("same"), Group("other"))
    report = read(first=first, second=second)()
    assert [(group.provider, group.id) for group in report.groups] == [("first", "same"), ("second", "other")]
    assert "its group 'same' is left out: provider first has a group of that name" in caplog.text


def test_a_node_is_asked_about_once_unless_nobody_knew_it(read) -> None:
    cloud = Cloud(Group())
    read_all = read(cloud=cloud)
    nodes = [a_node("ours", labels={"group": "g"}), a_node("foreign")]
    for _ in range(3):
        assert dict(read_all(nodes).group_of) == {"ours": "g"}
    assert cloud.asked.count("ours") == 1
    assert cloud.asked.count("foreign") == 3


def test_a_group_that_is_gone_is_an_error_that_names_it() -> None:
    providers = Providers({}, SteppedClock(), Faults(SteppedClock()))
    with pytest.raises(GroupNotFoundError, match="no provider has a group 'gone' any more"):
        providers.group("gone")


def test_a_provider_is_asked_for_the_gpus_of_nodes_with_its_label(read) -> None:
    class GpuCloud(Cloud):
        gpu_label = "gpu"

        def gpu_config(self, labels):
            return GpuConfig(label="gpu", type=labels["gpu"], resource="nvidia.com/gpu")

    nodes = [a_node("plain"), a_node("fast", labels={"gpu": "t4"})]
    report = read(cloud=GpuCloud())(nodes)
    assert report.gpus == {"fast": GpuConfig(label="gpu", type="t4", resource="nvidia.com/gpu")}


@pytest.mark.parametrize("nonsense", [7, ["g"]])
def test_what_a_provider_must_not_answer_about_a_node_is_its_fault_and_left_out(read, caplog, nonsense) -> None:
    class VagueCloud(Cloud):
        gpu_label = "gpu"

        def group_of(self, node):
            return nonsense

        def gpu_config(self, labels):
            return nonsense

    report = read(cloud=VagueCloud())([a_node("n", labels={"gpu": "t4"})])
    assert (report.group_of, report.gpus) == ({}, {})
    assert "plugin cloud failed in group_of" in caplog.text
    assert "plugin cloud failed in gpu_config" in caplog.text
