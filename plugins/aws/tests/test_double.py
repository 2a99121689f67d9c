"""The double behaves as AWS does where moto does not, over HTTP and to boto3."""

import textwrap
from datetime import timedelta
from email.utils import parsedate_to_datetime

import pytest
import yaml
from botocore.exceptions import BotoCoreError, ClientError
from nodewright.api import ProviderContext
from nodewright.testing import EPOCH
from nodewright_aws.config import AwsConfig
from nodewright_aws.provider import AwsProvider
from nodewright_aws.testing import Notice, Trouble
from nodewright_aws.testing.__main__ import fill, guide

ZONES = ("eu-west-1a", "eu-west-1b")


def groups(double):
    return double.client("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"]


def activities(double, group):
    return double.client("autoscaling").describe_scaling_activities(AutoScalingGroupName=group)["Activities"]


def resize(double, group, desired):
    double.client("autoscaling").set_desired_capacity(AutoScalingGroupName=group, DesiredCapacity=desired)


def states(double, group):
    return [machine.state for machine in double.machines(group)]


def test_a_group_is_described_with_its_sizes_tags_and_machines(double) -> None:
    double.make_group("web", desired=2, max_size=5, zones=ZONES, tags={"team": "web"})

    (group,) = groups(double)

    assert (group["MinSize"], group["DesiredCapacity"], group["MaxSize"]) == (0, 2, 5)
    assert [(each["AvailabilityZone"], each["LifecycleState"]) for each in group["Instances"]] == [
        ("eu-west-1a", "InService"),
        ("eu-west-1b", "InService"),
    ]
    assert {tag["Key"]: tag["Value"] for tag in group["Tags"]} == {"team": "web"}


def test_answers_are_dated_by_the_clock(double) -> None:
    answer = double.client("autoscaling").describe_auto_scaling_groups()

    date = answer["ResponseMetadata"]["HTTPHeaders"]["date"]
    assert parsedate_to_datetime(date) == double.clock.now().replace(microsecond=0)


def test_groups_come_in_pages_and_are_found_by_tag(double) -> None:
    for number in range(7):
        double.make_group(f"group-{number}", tags={"parity": str(number % 2)})
    pages = double.client("autoscaling").get_paginator("describe_auto_scaling_groups")

    names = [
        [group["AutoScalingGroupName"] for group in page["AutoScalingGroups"]]
        for page in pages.paginate(Filters=[{"Name": "tag:parity", "Values": ["0"]}], PaginationConfig={"PageSize": 3})
    ]

    assert names == [["group-0", "group-2", "group-4"], ["group-6"]]
    assert double.calls["autoscaling", "describe_auto_scaling_groups"] == 2


@pytest.mark.parametrize(
    ("call", "arguments", "message"),
    [
        ("set_desired_capacity", {"AutoScalingGroupName": "web", "DesiredCapacity": 6}, "is above max value 5"),
        ("set_desired_capacity", {"AutoScalingGroupName": "web", "DesiredCapacity": 1}, "is below min value 2"),
        ("set_desired_capacity", {"AutoScalingGroupName": "no", "DesiredCapacity": 1}, "name not found"),
        (
            "terminate_instance_in_auto_scaling_group",
            {"InstanceId": "i-0000", "ShouldDecrementDesiredCapacity": True},
            "No managed instance found for instance ID: i-0000",
        ),
    ],
)
def test_what_cannot_be_is_a_validation_error(double, call, arguments, message) -> None:
    double.make_group("web", min_size=2, max_size=5)

    with pytest.raises(ClientError, match=message) as caught:
        getattr(double.client("autoscaling"), call)(**arguments)

    assert caught.value.response["Error"]["Code"] == "ValidationError"
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_a_machine_is_not_terminated_below_the_minimum(double) -> None:
    double.make_group("web", min_size=1)
    (machine,) = double.machines("web")

    with pytest.raises(ClientError, match="desiredSize equals minSize"):
        double.client("autoscaling").terminate_instance_in_auto_scaling_group(
            InstanceId=machine.id, ShouldDecrementDesiredCapacity=True
        )


def test_machines_are_pending_until_they_come_into_service(double) -> None:
    double.make_group("web")
    double.boots(40)
    resize(double, "web", 1)
    assert states(double, "web") == ["Pending"]

    double.clock.advance(39)
    assert states(double, "web") == ["Pending"]
    double.clock.advance(1)
    assert states(double, "web") == ["InService"]


def test_a_terminated_machine_is_there_for_a_while_and_not_replaced(double) -> None:
    double.make_group("web", desired=2)
    first, second = double.machines("web")

    double.client("autoscaling").terminate_instance_in_auto_scaling_group(
        InstanceId=first.id, ShouldDecrementDesiredCapacity=True
    )
    assert states(double, "web") == ["Terminating", "InService"]
    assert double.group("web").desired == 1

    double.settle()
    assert double.machines("web") == [second]


def test_machines_wait_for_lifecycle_hooks(double) -> None:
    double.make_group("web")
    double.do(
        "autoscaling",
        "put_lifecycle_hook",
        AutoScalingGroupName="web",
        LifecycleHookName="ready",
        LifecycleTransition="autoscaling:EC2_INSTANCE_LAUNCHING",
    )
    resize(double, "web", 1)
    double.settle()
    assert states(double, "web") == ["Pending:Wait"]

    (machine,) = double.machines("web")
    double.client("autoscaling").complete_lifecycle_action(
        AutoScalingGroupName="web", LifecycleHookName="ready", LifecycleActionResult="CONTINUE", InstanceId=machine.id
    )
    assert states(double, "web") == ["InService"]


def test_a_stock_out_shows_as_a_failed_activity_with_the_words_of_aws(double) -> None:
    double.make_group("web", instance_type="m5.large")
    double.run_out("eu-west-1a/m5.large", available=1)
    resize(double, "web", 3)

    assert states(double, "web") == ["Pending"]
    (activity,) = activities(double, "web")
    assert activity["StatusCode"] == "Failed"
    assert activity["StartTime"] == double.clock.now()
    assert activity["StatusMessage"].startswith("We currently do not have sufficient m5.large capacity in the Avail")

    double.restock()
    double.clock.advance(60)
    assert states(double, "web") == ["Pending"] * 3


def test_what_is_dry_in_one_zone_comes_from_another(double) -> None:
    double.make_group("web", zones=ZONES)
    double.run_out("eu-west-1a/*")
    resize(double, "web", 2)

    assert [machine.pool.zone for machine in double.machines("web")] == ["eu-west-1b"] * 2
    assert len(activities(double, "web")) == 2


def test_news_of_a_failure_may_be_late(double) -> None:
    double.make_group("web")
    double.boots(None, news=20)
    double.run_out()
    resize(double, "web", 1)
    assert activities(double, "web") == []

    double.clock.advance(20)
    assert len(activities(double, "web")) == 1


@pytest.mark.parametrize("trouble", Trouble)
@pytest.mark.parametrize("lifecycle", ["", "/spot"])
def test_each_trouble_has_words_of_its_own(double, trouble, lifecycle) -> None:
    double.make_group("web", types=("m5.large",), spot=bool(lifecycle))
    double.run_out(trouble=trouble)
    resize(double, "web", 1)

    (activity,) = activities(double, "web")
    kind = "Spot" if lifecycle else "On-Demand"
    assert activity["StatusMessage"].startswith(f"Could not launch {kind} Instances. ")
    assert activity["StatusMessage"].endswith(" Launching EC2 instance failed.")


def test_a_mixed_group_buys_as_its_policy_says(double) -> None:
    double.make_group("web", desired=5, types=("m5.large", "m5a.large"), on_demand_base=1, on_demand_percent=40)
    double.run_out("*/m5.large/spot")
    resize(double, "web", 6)

    assert [str(machine.pool) for machine in double.machines("web")].count("eu-west-1a/m5.large") == 3
    assert str(double.machines("web")[-1].pool) == "eu-west-1a/m5a.large/spot"


def test_a_suspended_process_is_not_done(double) -> None:
    double.make_group("web")
    client = double.client("autoscaling")
    client.suspend_processes(AutoScalingGroupName="web", ScalingProcesses=["Launch"])
    resize(double, "web", 1)
    double.settle()
    assert states(double, "web") == []

    client.resume_processes(AutoScalingGroupName="web", ScalingProcesses=["Launch"])
    double.settle()
    assert states(double, "web") == ["InService"]


def test_warm_machines_are_taken_first_and_not_listed_before(double) -> None:
    double.make_group("web")
    warm = double.warm("web", 1)
    assert groups(double)[0]["Instances"] == []
    told = double.client("autoscaling").describe_warm_pool(AutoScalingGroupName="web")["Instances"]
    assert [each["LifecycleState"] for each in told] == ["Warmed:Stopped"]

    resize(double, "web", 1)
    assert double.machines("web") == warm
    assert states(double, "web") == ["Pending"]


def test_a_machine_in_standby_does_not_count(double) -> None:
    double.make_group("web", desired=1)
    (machine,) = double.machines("web")
    double.client("autoscaling").enter_standby(
        AutoScalingGroupName="web", InstanceIds=[machine.id], ShouldDecrementDesiredCapacity=True
    )

    assert states(double, "web") == ["Standby"]
    assert double.group("web").desired == 0


def test_a_machine_that_is_terminated_by_hand_is_replaced(double) -> None:
    double.make_group("web", desired=1)
    (machine,) = double.machines("web")
    double.client("ec2").terminate_instances(InstanceIds=[machine.id])

    (other,) = double.machines("web")
    assert other.id != machine.id


def test_a_smaller_maximum_lowers_what_is_desired_and_spares_protected_machines(double) -> None:
    double.make_group("web", desired=3)
    first, second, third = double.machines("web")
    client = double.client("autoscaling")
    client.set_instance_protection(AutoScalingGroupName="web", InstanceIds=[first.id], ProtectedFromScaleIn=True)
    client.update_auto_scaling_group(AutoScalingGroupName="web", MaxSize=1)

    assert double.group("web").desired == 1
    assert [machine.state for machine in (first, second, third)] == ["InService", "Terminating", "Terminating"]


@pytest.mark.parametrize(
    ("break_it", "code"),
    [
        ("throttle", "Throttling"),
        ("deny", "AccessDenied"),
        ("expire", "ExpiredToken"),
        ("fail", "ServiceUnavailable"),
        ("garble", "502"),
    ],
)
def test_calls_are_refused_so_many_times(double, break_it, code) -> None:
    getattr(double.faults, break_it)("autoscaling:describe_*", times=1)

    with pytest.raises(ClientError) as caught:
        groups(double)
    assert caught.value.response["Error"]["Code"] == code
    assert groups(double) == []


@pytest.mark.parametrize(("after", "desired"), [(False, 0), (True, 2)])
def test_an_answer_is_lost_before_or_after_the_order_was_taken(double, after, desired) -> None:
    double.make_group("web")
    double.faults.drop("autoscaling:set_desired_capacity", times=1, after=after)

    with pytest.raises(BotoCoreError):
        resize(double, "web", 2)
    assert double.group("web").desired == desired


def test_answers_may_be_of_before(double) -> None:
    double.make_group("web")
    assert groups(double)[0]["DesiredCapacity"] == 0
    double.faults.stale(times=1)
    resize(double, "web", 1)

    assert groups(double)[0]["DesiredCapacity"] == 0
    assert groups(double)[0]["DesiredCapacity"] == 1


def test_answers_about_groups_may_lag_behind_by_so_many_seconds(double) -> None:
    double.lags(20)
    double.make_group("web", desired=1)
    double.clock.advance(30)
    resize(double, "web", 3)

    double.clock.advance(19)
    (late,) = groups(double)
    assert (late["DesiredCapacity"], len(late["Instances"])) == (1, 1)
    assert len(double.machines("web")) == 3
    assert double.do("autoscaling", "describe_auto_scaling_groups")["AutoScalingGroups"][0]["DesiredCapacity"] == 3

    double.clock.advance(1)
    (late,) = groups(double)
    assert (late["DesiredCapacity"], len(late["Instances"])) == (3, 3)


def test_a_fault_may_spare_the_first_calls(double) -> None:
    double.faults.throttle("autoscaling:*|ec2:*").spared = 1
    groups(double)

    with pytest.raises(ClientError, match="Rate exceeded"):
        groups(double)
    double.faults.heal()
    groups(double)


def test_types_are_found_by_requirements(double) -> None:
    answer = double.client("ec2").get_instance_types_from_instance_requirements(
        ArchitectureTypes=["x86_64"],
        VirtualizationTypes=["hvm"],
        InstanceRequirements={
            "VCpuCount": {"Min": 2, "Max": 4},
            "MemoryMiB": {"Min": 8192, "Max": 16384},
            "AllowedInstanceTypes": ["m5.large", "m5.xlarge", "m5.2xlarge", "m6g.large", "t3.large"],
        },
    )

    assert [each["InstanceType"] for each in answer["InstanceTypes"]] == ["m5.large", "m5.xlarge"]


def test_spot_prices_are_those_of_the_test(double) -> None:
    double.spot_price("m5.large", 0.03)
    double.spot_price("m5.large", 0.04)
    history = double.client("ec2").describe_spot_price_history(InstanceTypes=["m5.large", "m5.xlarge"])

    assert [each["SpotPrice"] for each in history["SpotPriceHistory"]] == ["0.040000", "0.030000"]


def test_a_notice_of_interruption_comes_by_the_queue(double) -> None:
    double.make_group("web", desired=1, spot=True)
    queue = double.make_queue()
    double.notify(queue, double.machines("web")[0], Notice.INTERRUPTION)

    (message,) = double.client("sqs").receive_message(QueueUrl=queue)["Messages"]
    assert f'"instance-id": "{double.machines("web")[0].id}"' in message["Body"]


def test_a_managed_node_group_has_its_auto_scaling_group(double) -> None:
    double.make_node_group("prod", "web", labels={"tier": "front"}, desired=1)

    (group,) = groups(double)
    assert {tag["Key"]: tag["Value"] for tag in group["Tags"]}["eks:nodegroup-name"] == "web"
    told = double.client("eks").describe_nodegroup(clusterName="prod", nodegroupName="web")
    assert told["nodegroup"]["labels"] == {"tier": "front"}
    assert double.calls["eks", "describe_nodegroup"] == 1


def test_a_reset_leaves_nothing(double) -> None:
    double.make_group("web", desired=1)
    double.faults.throttle()
    double.reset()

    assert groups(double) == []
    assert double.machines() == []
    double.make_group("web")


def test_what_people_are_told_to_write_is_a_configuration_with_groups_and_prices(double) -> None:
    fill(double, boot=0)
    _, told = guide(double).split("aws.yaml:\n")
    settings = yaml.safe_load(textwrap.dedent(told.split("Check the")[0]))["providers"][0]["aws"]
    provider = AwsProvider(AwsConfig(**settings), ProviderContext(clock=double.clock))
    provider.refresh()

    assert {group.id: group.target_size for group in provider.groups()} == {"gpu": 0, "spot": 1, "web": 1}
    web, spot = (next(each for each in provider.groups() if each.id == id_) for id_ in ("web", "spot"))
    prices = [provider.pricing().node_price(each.template(), EPOCH, EPOCH + timedelta(hours=1)) for each in (web, spot)]
    assert prices == [pytest.approx(0.107), pytest.approx(0.041)]
