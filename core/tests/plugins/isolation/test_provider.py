"""A provider in a process of its own: what the core learns from it, and what becomes of an order that it dies over."""

from datetime import timedelta

import pytest
from nodewright.api import (
    Capability,
    CapacityError,
    CloudUnavailableError,
    GroupOptions,
    PartialIncreaseError,
    Pause,
    ProviderContext,
    ThrottledError,
    UnsupportedError,
)
from nodewright.plugins import Faults
from nodewright.runtime.providers import Providers
from nodewright.testing import EPOCH, SteppedClock, a_node

CLOUD = """
    import os, pathlib
    from dataclasses import replace
    from nodewright.api import *
    from nodewright.testing import a_template, an_instance

    class Config(PluginConfig):
        folder: str

    class Group(NodeGroup):
        id = "workers"
        min_size = target_size = 0

        def __init__(self, folder, size):
            self.folder = folder
            self.target_size = size

        @property
        def max_size(self):
            if (self.folder / "faulty").exists():
                raise ThrottledError("slower", retry_after=7)
            return 10

        def instances(self):
            return [an_instance(f"cloud://{number}") for number in range(self.target_size)]

        def template(self):
            return a_template(labels={"gpu": "big"})

        def quotas(self):
            return {"a/cpus": 4}

        def available(self):
            return 7

        def errors(self):
            return [InstanceError(error_class=ErrorClass.OTHER, code="BUSY")]

        def pause(self):
            return Pause(why="painted", shrinks=True)

        atomic = False

        def options(self, defaults):
            return replace(defaults, scale_down_utilization_threshold=defaults.scale_down_utilization_threshold / 2)

        def increase(self, count):
            (self.folder / "size").write_text(str(self.target_size + count))
            if (self.folder / "deadly").exists():
                os.kill(os.getpid(), 9)
            if (self.folder / "partly").exists():
                dry = InstanceError(error_class=ErrorClass.STOCK_OUT, code="DRY", pool="a/b")
                raise PartialIncreaseError(2, CapacityError(dry))
            if (self.folder / "dry").exists():
                raise CapacityError(InstanceError(error_class=ErrorClass.STOCK_OUT, code="DRY", pool="a/b"))

        def force_delete_nodes(self, nodes):
            raise UnsupportedError("not this one")

        delete_nodes = decrease_target = increase

    class List(PricingModel):
        currency = "EUR"

        def node_price(self, template, start, end):
            return 0.5 * ((end - start).total_seconds() / 3600)

        def pod_price(self, pod, start, end):
            raise LookupError(pod.metadata.name)

    class Cloud(Provider):
        api_version = 1
        Config = Config
        gpu_label = "gpu"
        balancing_ignored_labels = frozenset({"rack"})

        def __init__(self, config, context):
            super().__init__(config, context)
            self.folder = pathlib.Path(config.folder)
            self.capabilities = frozenset(Capability)
            self.seen = ()

        def refresh(self):
            self.context.clock.now()
            self.seen = (Group(self.folder, int((self.folder / "size").read_text())),)

        def groups(self):
            return self.seen

        def group_of(self, node):
            if not node.spec.provider_id:
                raise ValueError("no id")
            return "workers" if self.seen else None

        def resolve(self, kind, id):
            return "workers" if (kind, id) == ("Pool", "p-1") else None

        def pricing(self):
            return List()

        def resource_limits(self):
            return ResourceLimits(maximum={"cpu": 5})

        def gpu_config(self, labels):
            return GpuConfig(label="gpu", type=labels["gpu"], resource="example.com/gpu")
"""


@pytest.fixture
def clock():
    return SteppedClock()


@pytest.fixture
def cloud(install, isolate, tmp_path, clock, monkeypatch):
    monkeypatch.setattr("nodewright.plugins.isolation.process._FIRST_PAUSE", 0.0)
    install("acme", {"providers/cloud": "Cloud"}, CLOUD)
    (tmp_path / "size").write_text("2")
    return isolate("providers", "cloud", {"folder": str(tmp_path)}, ProviderContext(clock=clock))


@pytest.fixture
def read(cloud, clock):
    faults = Faults(clock)
    providers = Providers({"cloud": cloud}, clock, faults)

    def look(*nodes):
        report = providers.read({node.name: node for node in nodes}, GroupOptions(), timedelta(seconds=20))
        assert not faults.counts
        return report

    return look


def test_all_that_the_core_reads_comes_over(read) -> None:
    nodes = [a_node("one", provider_id="cloud://0", labels={"gpu": "small"}), a_node("two", provider_id="cloud://1")]
    for _ in range(2):
        report = read(*nodes)
        (group,) = report.groups
        assert (group.max_size, group.target_size, len(group.instances), group.hourly_price) == (10, 2, 2, 0.5)
        assert group.options.scale_down_utilization_threshold == 0.25
        assert (group.atomic, group.force_delete) == (False, True)
        assert (group.quotas, group.available, group.pause) == ({"a/cpus": 4}, 7, Pause(why="painted", shrinks=True))
        assert [error.code for error in group.errors] == ["BUSY"]
        assert report.group_of == {"one": "workers", "two": "workers"}
        assert report.gpus["one"].type == "small"
        assert report.group_gpus["workers"].type == "big"
        assert report.resource_limits["cloud"].maximum == {"cpu": 5}
        assert report.balancing_ignored_labels["cloud"] == {"rack"}
        assert report.pricing["cloud"].currency == "EUR"


def test_a_template_that_has_not_changed_is_the_same_object(read, tmp_path) -> None:
    (before,) = read().groups
    (tmp_path / "size").write_text("3")
    (after,) = read().groups
    assert (before.target_size, after.target_size) == (2, 3)
    assert after.template is before.template


def test_options_go_by_the_defaults_that_are_asked_for(cloud) -> None:
    cloud.refresh()
    (group,) = cloud.groups()
    for threshold in (0.5, 0.8, 0.5):
        options = group.options(GroupOptions(scale_down_utilization_threshold=threshold))
        assert options.scale_down_utilization_threshold == threshold / 2


def test_prices_of_other_spans_and_nodes_are_asked_for(cloud) -> None:
    cloud.refresh()
    (group,) = cloud.groups()
    prices, day = cloud.pricing(), timedelta(days=1)
    assert prices.node_price(group.template(), EPOCH, EPOCH + day) == 12
    with pytest.raises(LookupError):
        prices.pod_price(a_node("no-pod"), EPOCH, EPOCH + day)


def test_a_fact_that_fails_fails_alone(cloud, tmp_path) -> None:
    (tmp_path / "faulty").touch()
    cloud.refresh()
    (group,) = cloud.groups()
    assert group.target_size == 2
    with pytest.raises(ThrottledError, match="slower") as caught:
        _ = group.max_size
    assert caught.value.retry_after == 7


def test_a_failing_answer_about_one_node_is_no_answer_about_others(cloud) -> None:
    cloud.refresh()
    good, bad = a_node("good", provider_id="cloud://0"), a_node("bad", provider_id="")
    cloud.foresee([good, bad], ())
    assert cloud.group_of(good) == "workers"
    with pytest.raises(ValueError, match="no id"):
        cloud.group_of(bad)


def test_actions_fail_as_they_fail_there(cloud, tmp_path) -> None:
    cloud.refresh()
    (group,) = cloud.groups()
    (tmp_path / "dry").touch()
    with pytest.raises(CapacityError) as caught:
        group.increase(1)
    assert caught.value.cause.pool == "a/b"
    with pytest.raises(UnsupportedError):
        group.force_delete_nodes([a_node("one")])
    with pytest.raises(NotImplementedError):
        group.increase_atomically(1)


def test_a_part_of_an_order_comes_over_with_its_cause(cloud, tmp_path) -> None:
    cloud.refresh()
    (group,) = cloud.groups()
    (tmp_path / "partly").touch()
    with pytest.raises(PartialIncreaseError) as caught:
        group.increase(3)
    assert caught.value.increased == 2
    assert isinstance(caught.value.cause, CapacityError)
    assert caught.value.cause.cause.pool == "a/b"


def test_the_group_that_an_object_names_is_asked_for(cloud) -> None:
    cloud.refresh()
    assert cloud.resolve("Pool", "p-1") == "workers"
    assert cloud.resolve("Pool", "p-2") is None


def test_an_order_over_which_the_process_dies_is_in_doubt_until_the_cloud_is_read(cloud, tmp_path, faults) -> None:
    cloud.refresh()
    (group,) = cloud.groups()
    (tmp_path / "deadly").touch()
    # The executor holds a group after such an error, and orders nothing else before it was read.
    with pytest.raises(CloudUnavailableError) as caught:
        group.increase(3)
    why = "the process of cloud ended with signal 9 (SIGKILL), perhaps for want of memory"
    assert str(caught.value) == why
    assert faults == [("cloud", "increase", why)]
    cloud.refresh()
    assert cloud.groups()[0].target_size == 5


def test_a_process_that_was_started_again_reads_its_cloud_before_it_acts(cloud, tmp_path) -> None:
    cloud.refresh()
    (group,) = cloud.groups()
    (tmp_path / "deadly").touch()
    with pytest.raises(CloudUnavailableError):
        group.increase(1)
    (tmp_path / "deadly").unlink()
    group.increase(1)
    assert (tmp_path / "size").read_text() == "4"


def test_capabilities_that_were_narrowed_down_come_over(cloud) -> None:
    assert cloud.capabilities == frozenset(Capability)
