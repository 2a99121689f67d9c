"""Facts of the wrong type freeze the group or the provider that they are about; the message names them."""

import re
from datetime import timedelta

import numpy as np
import pytest
from nodewright.api import (
    Capability,
    GpuConfig,
    GroupOptions,
    Instance,
    InstanceState,
    NodeGroup,
    PluginConfig,
    PricingModel,
    Provider,
    ProviderContext,
    ResourceLimits,
)
from nodewright.plugins import Faults
from nodewright.runtime.providers import Providers
from nodewright.testing import SteppedClock, a_node, a_template

SOON = timedelta(seconds=5)


class Group(NodeGroup):
    id, min_size, max_size, target_size = "web", 0, 5, 2
    machines = (Instance(id="i-1", state=InstanceState.RUNNING),)

    def __init__(self, **facts):
        self.made = a_template(cpu="4")
        self.own = {}
        vars(self).update(facts)

    def instances(self):
        return self.machines

    def template(self):
        return self.made

    def pools(self):
        return self.own.get("pools", ())

    def quotas(self):
        return self.own.get("quotas", {})

    def available(self):
        return self.own.get("available")

    def errors(self):
        return self.own.get("errors", ())

    def pause(self):
        return self.own.get("pause")

    def options(self, defaults):
        return self.own.get("options", defaults)

    def increase(self, count): ...
    def delete_nodes(self, nodes): ...
    def decrease_target(self, count): ...


class Cloud(Provider):
    capabilities = frozenset([Capability.SCALE_FROM_ZERO, Capability.PRICES])

    def __init__(self, *groups):
        super().__init__(PluginConfig(), ProviderContext(clock=SteppedClock()))
        self.said = {"groups": list(groups), "resource_limits": ResourceLimits(), "pricing": None, "gpu_config": None}

    def refresh(self): ...

    def groups(self):
        return self.said["groups"]

    def group_of(self, node):
        return None

    def pricing(self):
        return self.said["pricing"]

    def resource_limits(self):
        return self.said["resource_limits"]

    def gpu_config(self, labels):
        return self.said["gpu_config"]


@pytest.fixture
def read():
    """Reads providers that are let go of after the test."""
    made = []

    def build(**providers):
        made.append(Providers(providers, SteppedClock(), Faults(SteppedClock())))
        return lambda nodes=(): made[-1].read({node.name: node for node in nodes}, GroupOptions(), SOON)

    yield build
    for each in made:
        each.close()


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({"target_size": "three"}, "target_size is text ('three'), not a whole number"),
        ({"min_size": False}, "min_size is False, not a whole number"),
        ({"min_size": 5, "max_size": 3}, "min_size is 5, above max_size, which is 3"),
        ({"made": {"cpu": 4}}, "template is a dict, not a NodeTemplate or None"),
        (
            {"made": a_template(cpu="4").__class__(capacity={"cpu": 4000}, allocatable={"cpu": "4"})},
            "template.allocatable['cpu'] is text ('4'), not a whole number (milli-cores)",
        ),
        ({"machines": None}, "instances is None, not a list or tuple"),
        ({"own": {"options": {}}}, "options is a dict, not a GroupOptions"),
        ({"own": {"pools": [1]}}, "pools[0] is an int (1), not text"),
        ({"own": {"quotas": {"eu/CPUS": "4"}}}, "quotas['eu/CPUS'] is text ('4'), not a whole number"),
        ({"own": {"available": -1}}, "available is an int (-1), not a whole number or None"),
        ({"own": {"errors": ["busy"]}}, "errors[0] is text ('busy'), not an InstanceError"),
        ({"own": {"pause": "painted"}}, "pause is text ('painted'), not a Pause or None"),
    ],
)
def test_a_wrong_fact_freezes_its_group_alone_and_is_named(read, caplog, facts, problem) -> None:
    wrong = Group()
    read_all = read(sick=Cloud(wrong, Group(id="db")), well=Cloud(Group(id="batch")))
    before = read_all().groups[0]
    vars(wrong).update(facts)
    frozen, *others = read_all().groups
    assert (frozen.target_size, frozen.template, frozen.error) == (before.target_size, before.template, problem)
    assert [(group.id, group.error) for group in others] == [("db", ""), ("batch", "")]
    assert re.search(rf"plugin sick failed in group web: \w+Error: {re.escape(problem)}", caplog.text)


def test_a_wrong_fact_of_a_new_group_leaves_it_with_nothing_but_the_error(read) -> None:
    (facts,) = read(cloud=Cloud(Group(target_size=-2)))().groups
    assert (facts.target_size, facts.template) == (0, None)
    assert facts.error == "target_size is an int (-2), not a whole number from 0 on"


def test_a_group_is_read_again_once_its_facts_are_right(read) -> None:
    group = Group(target_size=None)
    read_all = read(cloud=Cloud(group))
    assert read_all().groups[0].error
    group.target_size = np.int64(3)
    (facts,) = read_all().groups
    assert (facts.target_size, type(facts.target_size), facts.error) == (3, int, "")


def test_groups_that_share_an_id_are_frozen_as_nobody_can_tell_them_apart(read) -> None:
    twins, other = read(cloud=Cloud(Group(target_size=1), Group(target_size=2), Group(id="db")))().groups
    assert twins.error == "groups() returned more than one group with the id 'web'"
    assert other.error == ""


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"groups": None}, "groups() returned None instead of a sequence of NodeGroup"),
        ({"groups": (each for each in ())}, "groups() returned a generator instead of a sequence of NodeGroup"),
        ({"groups": ["web"]}, "groups() returned a sequence with a str in it instead of NodeGroup"),
        (
            {"groups": [Group(id=None)]},
            "groups() returned a group, at place 0, whose id is None instead of a name",
        ),
        ({"resource_limits": None}, "resource_limits() returned None instead of ResourceLimits"),
        (
            {"resource_limits": ResourceLimits(maximum={"cpu": "8"})},
            "resource_limits() returned a ResourceLimits whose maximum['cpu'] is text ('8'), not a whole number",
        ),
        ({"pricing": 0.1}, "pricing() returned a float instead of PricingModel"),
    ],
)
def test_a_wrong_answer_of_a_provider_freezes_all_of_its_groups_and_no_others(read, caplog, said, problem) -> None:
    sick = Cloud(Group())
    read_all = read(sick=sick, well=Cloud(Group(id="batch")))
    read_all()
    sick.said |= said
    frozen, other = read_all().groups
    assert problem in frozen.error
    assert other.error == ""
    assert "plugin sick failed in refresh" in caplog.text


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("capabilities", None, "capabilities is None, not a set"),
        ("capabilities", ["prices"], "is text ('prices'), not a Capability: write Capability.PRICES"),
        ("gpu_label", None, "gpu_label is None, not text"),
        ("balancing_ignored_labels", "zone", "balancing_ignored_labels is text ('zone'), not a set"),
    ],
)
def test_a_wrong_attribute_of_a_provider_freezes_all_of_its_groups_and_no_others(read, name, value, problem) -> None:
    sick = Cloud(Group())
    read_all = read(sick=sick, well=Cloud(Group(id="batch")))
    read_all()
    setattr(sick, name, value)
    report = read_all([a_node("n", labels={"gpu": "t4"})])
    assert problem in report.groups[0].error
    assert report.groups[1].error == ""
    assert report.balancing_ignored_labels == {"sick": frozenset(), "well": frozenset()}


@pytest.mark.parametrize("price", [float("nan"), float("inf"), True, "0.1"])
def test_a_price_that_is_no_number_is_unknown(read, caplog, price) -> None:
    class Prices(PricingModel):
        def node_price(self, template, start, end):
            return price

        def pod_price(self, pod, start, end):
            return None

    cloud = Cloud(Group())
    cloud.said["pricing"] = Prices()
    (facts,) = read(cloud=cloud)().groups
    assert (facts.hourly_price, facts.error) == (None, "")
    assert "plugin cloud failed in node_price" in caplog.text


def test_gpus_of_the_wrong_kind_are_left_out(read, caplog) -> None:
    cloud = Cloud(Group())
    cloud.gpu_label = "gpu"
    cloud.said["gpu_config"] = GpuConfig(label="gpu", type=None, resource="nvidia.com/gpu")
    assert read(cloud=cloud)([a_node("n", labels={"gpu": "t4"})]).gpus == {}
    assert "returned a GpuConfig whose type is None, not text" in caplog.text


def test_what_a_provider_changes_later_changes_no_facts(read) -> None:
    machines = [Instance(id="i-1", state=InstanceState.RUNNING)]
    (facts,) = read(cloud=Cloud(Group(machines=machines)))().groups
    machines.clear()
    assert [instance.id for instance in facts.instances] == ["i-1"]
    with pytest.raises(TypeError, match="read-only"):
        facts.template.labels["team"] = "web"


def test_an_unchanged_template_stays_the_same_object(read) -> None:
    group = Group()
    read_all = read(cloud=Cloud(group))
    assert read_all().groups[0].template is group.made
    assert read_all().groups[0].template is group.made
