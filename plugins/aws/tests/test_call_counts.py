"""How often AWS is called: for pages, and never for single machines."""

from collections import Counter

import pytest
from nodewright.api import ProviderContext
from nodewright_aws.config import AwsConfig
from nodewright_aws.provider import AwsProvider

TAG = "k8s.io/cluster-autoscaler/enabled"
GROUPS, EACH = 200, 25
KINDS = (
    {},
    {"types": ("m5.xlarge", "m5a.xlarge"), "on_demand_percent": 50},
    {"spot": True},
    {"launch_configuration": {}},
)


@pytest.fixture
def provider(double):
    config = AwsConfig.model_validate(double.config(discover=[{"tags": {TAG: None}}]))
    provider = AwsProvider(config, ProviderContext(clock=double.clock))
    yield provider
    provider.close()


def fill(double, groups=GROUPS, each=EACH):
    for number in range(groups):
        kind = KINDS[number % len(KINDS)]
        double.make_group(f"group-{number:03}", desired=each, max_size=2 * each, tags={TAG: "true"}, **kind)
    double.clock.advance(86_400)


def loop(provider, double):
    """The calls of one loop, by operation."""
    double.clock.advance(10)
    before = Counter(double.calls)
    provider.refresh()
    for group in provider.groups():
        group.instances()
        group.template()
        group.pools()
    return {operation: count for (_, operation), count in (double.calls - before).items()}


def test_a_region_of_5000_machines_is_read_with_a_handful_of_calls(double, provider) -> None:
    fill(double)

    assert loop(provider, double) == {
        "describe_auto_scaling_groups": 2,
        "describe_launch_configurations": 1,
        "describe_launch_template_versions": 1,
        "describe_images": 1,
        "describe_instance_types": 1,
        "describe_instance_type_offerings": 1,
        "describe_spot_price_history": 1,
    }
    assert sum(len(group.instances()) for group in provider.groups()) == GROUPS * EACH
    for _ in range(3):
        assert loop(provider, double) == {"describe_auto_scaling_groups": 2}


def test_failures_of_many_groups_are_read_in_one_go(double, provider) -> None:
    fill(double, groups=30, each=1)
    loop(provider, double)
    double.run_out()
    for number in range(30):
        double.do("autoscaling", "set_desired_capacity", AutoScalingGroupName=f"group-{number:03}", DesiredCapacity=2)

    assert loop(provider, double) == {"describe_auto_scaling_groups": 1, "describe_scaling_activities": 1}
    failed = [group.id for group in provider.groups() if any(each.error for each in group.instances())]
    assert len(failed) == 30


def test_growth_and_removal_take_a_few_calls_for_each_group_and_machine(double, provider) -> None:
    fill(double, groups=1, each=10)
    loop(provider, double)
    (group,) = provider.groups()
    before = Counter(double.calls)
    group.increase(10)

    assert {operation: count for (_, operation), count in (double.calls - before).items()} == {
        "describe_auto_scaling_groups": 2,
        "describe_scaling_activities": 1,
        "set_desired_capacity": 1,
    }
