"""What the provider makes of failed launches and interruptions, over HTTP."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from nodewright.api import ErrorClass, GroupFacts, Instance, InstanceState, NodeGroup, NodeTemplate, ProviderContext
from nodewright_aws.autoscaling.group import parse_group
from nodewright_aws.config import AwsConfig
from nodewright_aws.provider import AwsProvider
from nodewright_aws.testing import AwsDouble
from nodewright_aws.testing.interruptions import Notice
from nodewright_aws.testing.supply import Trouble

ZONES = ("eu-west-1a", "eu-west-1b")
TYPES = ("m5.large", "m6i.large")


@pytest.fixture
def provider(double: AwsDouble) -> Iterator[Callable[..., AwsProvider]]:
    made: list[AwsProvider] = []

    def make(**settings: object) -> AwsProvider:
        config = AwsConfig.model_validate(double.config(groups=["0:10:workers"], **settings))
        made.append(AwsProvider(config, ProviderContext(clock=double.clock)))
        made[-1].refresh()
        return made[-1]

    yield make
    for each in made:
        each.close()


def the_group(provider: AwsProvider) -> NodeGroup:
    (group,) = provider.groups()
    return group


def failed(provider: AwsProvider) -> list[Instance]:
    provider.refresh()
    return [each for each in the_group(provider).instances() if each.error is not None]


@pytest.mark.parametrize(
    ("trouble", "error_class"),
    [
        (Trouble.STOCK_OUT, ErrorClass.STOCK_OUT),
        (Trouble.SPOT_PRICE, ErrorClass.STOCK_OUT),
        (Trouble.QUOTA, ErrorClass.QUOTA),
        (Trouble.SUBNET_FULL, ErrorClass.QUOTA),
        (Trouble.PERMISSION, ErrorClass.PERMISSION),
        (Trouble.IMAGE, ErrorClass.CONFIGURATION),
        (Trouble.LAUNCH_TEMPLATE, ErrorClass.CONFIGURATION),
        (Trouble.SECURITY_GROUP, ErrorClass.CONFIGURATION),
        (Trouble.UNSUPPORTED, ErrorClass.CONFIGURATION),
    ],
)
def test_machines_that_will_not_come_say_why(double, provider, trouble, error_class) -> None:
    double.make_group("workers", types=TYPES, spot=True)
    ours = provider()
    double.run_out(trouble=trouble)
    the_group(ours).increase(2)
    double.settle()
    errors = [each.error for each in failed(ours)]
    assert [error and error.error_class for error in errors] == [error_class] * 2


def test_what_a_real_node_does_not_tell_is_added_to_its_template(double, provider) -> None:
    double.make_group("workers", tags={"k8s.io/cluster-autoscaler/node-template/resources/example.com/licence": "3"})
    ours = provider()
    node = NodeTemplate(capacity={"cpu": 2000}, allocatable={"cpu": 1930})
    group = GroupFacts(id="workers", provider="aws", min_size=0, max_size=10, target_size=1)
    completed = ours.adjust_template(group, node)
    assert completed is not None
    assert completed.allocatable == {"cpu": 1930, "example.com/licence": 3}
    assert ours.adjust_template(replace(group, id="workers-of-others"), node) is None


def test_a_stock_out_names_the_pools_of_the_zones_that_were_tried(double, provider) -> None:
    double.make_group("workers", spot=True, zones=ZONES)
    ours = provider()
    double.run_out("*/spot")
    the_group(ours).increase(2)
    double.settle()
    pools = {each.error.pool for each in failed(ours) if each.error}
    assert pools == set(the_group(ours).pools()) == {"eu-west-1a/m5.large/spot", "eu-west-1b/m5.large/spot"}


def test_a_group_that_finds_machines_in_another_zone_has_not_failed(double, provider) -> None:
    double.make_group("workers", spot=True, zones=ZONES)
    ours = provider()
    double.run_out("eu-west-1a/*")
    the_group(ours).increase(2)
    double.settle()
    assert failed(ours) == []
    assert len(the_group(ours).instances()) == 2


def test_a_failure_of_yesterday_is_not_held_against_a_new_order(double, provider) -> None:
    double.make_group("workers", spot=True)
    ours = provider()
    double.run_out()
    the_group(ours).increase(1)
    double.settle()
    assert failed(ours)
    the_group(ours).decrease_target(1)
    ours.refresh()
    double.restock()
    double.boots(60)
    the_group(ours).increase(1)
    assert failed(ours) == []


def test_a_spot_machine_that_is_taken_back_is_on_its_way_out(double, provider) -> None:
    double.make_group("workers", desired=2, spot=True)
    queue = double.make_queue()
    ours = provider(interruptions={"queue": queue})
    machine = double.machines("workers")[0]
    double.notify(queue, machine, Notice.INTERRUPTION)
    ours.refresh()
    states = {each.id.rpartition("/")[2]: each.state for each in the_group(ours).instances()}
    assert states.pop(machine.id) is InstanceState.DELETING
    assert list(states.values()) == [InstanceState.RUNNING]


def test_machines_of_the_warm_pool_are_none_of_the_group(double, provider) -> None:
    double.make_group("workers", desired=1)
    double.warm("workers", 2)
    ours = provider()
    assert len(the_group(ours).instances()) == 1
    the_group(ours).increase(2)
    double.settle()
    ours.refresh()
    assert len(the_group(ours).instances()) == 3


def test_whether_aws_replaces_machines_before_it_takes_them_back_is_read(double) -> None:
    double.make_group("workers", CapacityRebalance=True)
    (body,) = double.client("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"]
    assert parse_group(body).capacity_rebalance


def test_what_people_should_know_of_a_group_is_logged_once_for_as_long_as_it_holds(double, provider, caplog) -> None:
    double.make_group("workers")
    ours = provider()
    for operation in ("suspend_processes", "resume_processes", "suspend_processes"):
        double.do("autoscaling", operation, AutoScalingGroupName="workers", ScalingProcesses=["Launch"])
        ours.refresh()
        ours.refresh()
    assert [message for message in caplog.messages if "process" in message] == [
        "group workers: its process Launch is suspended, so that it can't grow: resume it, or leave the group out"
    ] * 2
