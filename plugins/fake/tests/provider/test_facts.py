"""What the provider tells of the cloud."""

from datetime import timedelta

import pytest
from nodewright.api import (
    Capability,
    GpuConfig,
    GroupOptions,
    GroupSpec,
    InstanceState,
    NodeTemplate,
    ResourceLimits,
    Taint,
)
from nodewright.testing.builders import a_node, a_pod
from nodewright.testing.clock import EPOCH


def test_every_capability_is_declared(provider) -> None:
    assert provider.capabilities == frozenset(Capability)


def test_there_are_no_groups_before_the_first_refresh(house) -> None:
    provider = house.provider()
    assert provider.groups() == ()
    assert provider.pricing() is None


def test_groups_come_in_the_order_of_the_cloud_with_their_sizes(groups) -> None:
    assert [
        (group.id, group.min_size, group.max_size, group.target_size, group.pools()) for group in groups.values()
    ] == [
        ("web", 1, 5, 2, ("eu-a/c5.large",)),
        ("gpu", 0, 3, 0, ("eu-b/g4.xlarge",)),
        ("cheap", 0, 9, 0, ("eu-b/c5.large/spot",)),
    ]


def test_instances_tell_state_type_and_zone(groups) -> None:
    instance = groups["web"].instances()[0]
    assert instance.id == "fake://eu-a/web-1"
    assert instance.state is InstanceState.RUNNING
    assert (instance.zone, instance.instance_type) == ("eu-a", "c5.large")
    assert instance.error is None


def test_a_failed_instance_tells_its_error(house, provider) -> None:
    house.do("stock-out", pool="eu-b/g4.xlarge")
    house.cloud.increase("gpu", 1)
    house.run(2)
    provider.refresh()
    [instance] = provider.groups()[1].instances()
    assert instance.state is InstanceState.CREATING
    assert instance.error.code == "STOCK_OUT"
    assert instance.error.pool == "eu-b/g4.xlarge"
    assert instance.error.error_class.out_of_resources


def test_the_template_is_what_a_machine_turns_out_to_be(house, groups) -> None:
    house.cloud.increase("gpu", 1)
    machine = house.cloud.instances("gpu")[0].host
    assert groups["gpu"].template() == NodeTemplate(
        labels=machine.labels, taints=machine.taints, capacity=machine.capacity, allocatable=machine.allocatable
    )
    assert groups["gpu"].template().taints == (Taint(key="gpu", value="yes", effect="NoSchedule"),)
    assert groups["web"].template().allocatable["cpu"] == 1900


def test_a_group_may_have_no_template(groups) -> None:
    assert groups["cheap"].template() is None


def test_a_group_tells_its_capacity_pool(groups) -> None:
    assert [group.pools() for group in groups.values()] == [
        ("eu-a/c5.large",),
        ("eu-b/g4.xlarge",),
        ("eu-b/c5.large/spot",),
    ]


def test_options_of_a_group_lie_over_the_defaults(groups) -> None:
    defaults = GroupOptions(scale_down_utilization_threshold=0.7)
    assert groups["web"].options(defaults) == defaults
    assert groups["cheap"].options(defaults) == GroupOptions(
        scale_down_utilization_threshold=0.7,
        scale_down_unneeded_time=timedelta(minutes=2),
        zero_or_max_node_scaling=True,
    )


def test_a_node_belongs_to_the_group_of_its_machine(provider) -> None:
    assert provider.group_of(a_node(provider_id="fake://eu-a/web-1")) == "web"


def test_a_node_whose_machine_was_not_seen_yet_belongs_to_the_group_on_its_label(provider) -> None:
    label = {"fake.nodewright.dev/node-group": "web"}
    assert provider.group_of(a_node(provider_id="fake://eu-a/web-77", labels=label)) == "web"


@pytest.mark.parametrize("provider_id", ["", "aws:///eu-a/i-1", "fake://eu-a/unknown-1"])
def test_a_node_from_elsewhere_is_not_ours(provider, provider_id) -> None:
    assert provider.group_of(a_node(provider_id)) is None


def test_a_node_costs_what_its_type_costs_on_demand_or_spot(house, provider, groups) -> None:
    hour = EPOCH + timedelta(hours=1)
    pricing = provider.pricing()
    assert pricing.currency == "USD"
    assert pricing.node_price(groups["web"].template(), EPOCH, hour) == pytest.approx(0.1)
    assert pricing.node_price(groups["web"].template(), EPOCH, hour + timedelta(hours=1)) == pytest.approx(0.2)
    labels = {**house.cloud.instances("web")[0].host.labels, "fake.nodewright.dev/capacity": "spot"}
    spot = NodeTemplate(labels=labels, capacity={}, allocatable={})
    assert pricing.node_price(spot, EPOCH, hour) == pytest.approx(0.04)
    assert pricing.node_price(NodeTemplate(capacity={}, allocatable={}), EPOCH, hour) is None


def test_a_pod_costs_its_share_of_the_cheapest_machine_that_can_hold_it(provider) -> None:
    hour = EPOCH + timedelta(hours=1)
    price = provider.pricing().pod_price
    assert price(a_pod(cpu="950m", memory="1Gi"), EPOCH, hour) == pytest.approx(0.18 * 0.95 / 4)
    assert price(a_pod(cpu="1", memory="16Gi"), EPOCH, hour) == pytest.approx(0.5)
    assert price(a_pod(cpu="0", memory="0", requests={"nvidia.com/gpu": "1"}), EPOCH, hour) == pytest.approx(0.5)
    assert price(a_pod(cpu="64"), EPOCH, hour) is None


def test_new_prices_are_seen_after_the_next_refresh(house, provider, groups) -> None:
    house.do("set-price", type="c5.large", price=7)
    provider.refresh()
    hour = EPOCH + timedelta(hours=1)
    assert provider.pricing().node_price(groups["web"].template(), EPOCH, hour) == pytest.approx(7)


def test_prices_that_can_not_be_read_stay_as_they_were(house, provider, groups, caplog) -> None:
    house.do("fail-api", operations="prices", kind="denied")
    house.do("set-price", type="c5.large", price=7)
    provider.refresh()
    hour = EPOCH + timedelta(hours=1)
    assert provider.pricing().node_price(groups["web"].template(), EPOCH, hour) == pytest.approx(0.1)
    assert "prices could not be read and stay as they were: access denied" in caplog.text


def test_limits_of_the_cloud_are_told(provider) -> None:
    assert provider.resource_limits() == ResourceLimits(minimum={"tesla": 1}, maximum={"cpu": 100_000, "tesla": 4})


def test_accelerators_are_named(provider, groups) -> None:
    assert provider.gpu_label == "fake.nodewright.dev/accelerator"
    assert provider.gpu_config(groups["gpu"].template().labels) == GpuConfig(
        label="fake.nodewright.dev/accelerator", type="tesla", resource="nvidia.com/gpu"
    )
    assert provider.gpu_config(groups["web"].template().labels) is None


def test_only_the_groups_that_patterns_name_are_used(house) -> None:
    provider = house.provider(only=("w*", "gpu"))
    provider.refresh()
    assert [group.id for group in provider.groups()] == ["web", "gpu"]
    assert (
        provider.group_of(a_node(provider_id="fake://eu-b/cheap-1", labels={"fake.nodewright.dev/node-group": "cheap"}))
        is None
    )


def test_groups_named_by_flag_have_the_bounds_of_the_flag(house) -> None:
    provider = house.provider(nodes=(GroupSpec(name="web", min_size=2, max_size=3),))
    provider.refresh()
    assert [(group.id, group.min_size, group.max_size) for group in provider.groups()] == [("web", 2, 3)]


def test_a_group_named_by_flag_that_is_not_there_is_warned_of_once(house, caplog) -> None:
    provider = house.provider(nodes=(GroupSpec(name="wbe", min_size=2, max_size=3),))
    provider.refresh()
    provider.refresh()
    assert [record.message for record in caplog.records] == [
        "the fake cloud has no group named wbe: correct --nodes",
    ]


def test_groups_are_discovered_by_labels_beside_those_that_are_named(house) -> None:
    provider = house.provider(
        discovery=("fake:team=shop,tier=batch",), nodes=(GroupSpec(name="gpu", min_size=0, max_size=1),)
    )
    provider.refresh()
    assert [group.id for group in provider.groups()] == ["gpu", "cheap"]
