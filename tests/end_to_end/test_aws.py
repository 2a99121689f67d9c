"""The real loop with groups of AWS: growth from zero, stock-outs, removals, and others who change the groups."""

import json
from contextlib import ExitStack

import pytest
from nodewright.api import Taint
from nodewright.testing.clock import SteppedClock
from nodewright_aws.testing import AwsDouble
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.end_to_end.aws_world import BOOTS, CLUSTER, ENABLED, STOPS, AwsLife
from tests.end_to_end.rights import Rights
from tests.end_to_end.scenarios import a_deployment

QUICK = "scaleDown: {unneededTime: 1m, delayAfterAdd: 30s}"
NEVER = "scaleDown: {enabled: false}"
SPOT_FIRST = "scaleUp: {expanders: [{priority: {priorities: {20: [spot], 10: [on-demand]}}}]}"


@pytest.fixture(scope="module")
def clocks():
    """The clock of the moment, as the double lives longer than a world."""
    return Clocks()


class Clocks:
    """A clock that stands for that of the present test."""

    def __init__(self):
        self.present = SteppedClock()

    def now(self):
        return self.present.now()

    def wait(self, event, timeout):
        return self.present.wait(event, timeout)


@pytest.fixture(scope="module")
def served(clocks):
    with AwsDouble(clock=clocks) as double:
        yield double


@pytest.fixture
def begin(served, clocks, monkeypatch, tmp_path):
    """Begins the life of a cluster on AWS with deployments; it ends with the test."""
    rights = Rights()
    served.reset()
    for name, value in served.environment.items():
        monkeypatch.setenv(name, value)
    with ExitStack() as stack:

        def start(*deployments, settings=NEVER):
            scenario = {
                "zones": ["eu-west-1a", "eu-west-1b"],
                "instanceTypes": {"none": {"cpu": 1, "memory": "1Gi", "price": 1}},
                "workloads": {"deployments": deployments or [a_deployment(replicas=0)]},
            }
            clocks.present = SteppedClock()
            world = stack.enter_context(World(parse_scenario(json.dumps(scenario)), clocks.present))
            world.api_server.authorize = rights.authorize
            return AwsLife(world, served, settings, 0, {}, stack, tmp_path)

        yield start
    assert rights.refused == set()


def told(life):
    return "\n".join(life.diary.lines)


def test_a_group_grows_from_zero_by_its_tags(begin) -> None:
    life = begin(
        a_deployment(
            "model",
            replicas=2,
            nodeSelector={"team": "ml"},
            tolerations=[{"key": "dedicated", "operator": "Equal", "value": "ml", "effect": "NoSchedule"}],
            requests={"nvidia.com/gpu": "1"},
        )
    )
    life.make_group("plain")
    life.make_group(
        "gpu",
        instance_type="g4dn.xlarge",
        labels={"team": "ml"},
        taints=[Taint(key="dedicated", value="ml", effect="NoSchedule")],
    )

    life.until(lambda: len(life.pods("Running")) == 2)

    assert life.sizes() == {"gpu": 2}


def test_a_group_of_mixed_instances_grows_from_zero(begin) -> None:
    life = begin(a_deployment(replicas=3))
    life.make_group("mixed", types=("m5.xlarge", "m5.large", "m5a.large"), on_demand_base=1, on_demand_percent=0)
    # The group may launch what has room for one pod only: that is what is counted with.
    life.run_out("*/m5.xlarge*")

    life.until(lambda: len(life.pods("Running")) == 3)

    assert life.sizes() == {"mixed": 3}
    assert sorted(str(machine.pool) for machine in life.double.machines()) == [
        "eu-west-1a/m5.large",
        "eu-west-1a/m5.large/spot",
        "eu-west-1a/m5.large/spot",
    ]


def test_a_stock_out_of_spot_is_answered_by_on_demand_in_the_loop_that_sees_it(begin) -> None:
    life = begin(a_deployment(replicas=2), settings=f"{NEVER}\n{SPOT_FIRST}")
    life.make_group("spot", spot=True)
    life.make_group("on-demand")
    life.double.boots(BOOTS, stops=STOPS, news=25)
    life.run_out("*/spot")

    life.until(lambda: life.sizes())
    assert life.sizes() == {"spot": 2}
    (failure,) = life.double.group("spot").activities
    while life.world.clock.now() < failure.shown_at:
        assert life.sizes() == {"spot": 2}
        life.go_on(10)

    assert life.sizes()["on-demand"] == 2
    assert "(not spot: in backoff after failed scale-up" in told(life)
    life.until(lambda: len(life.pods("Running")) == 2)
    assert life.sizes() == {"on-demand": 2}


def test_the_machine_of_the_drained_node_is_terminated_and_not_replaced(begin) -> None:
    life = begin(a_deployment(replicas=3), settings=QUICK)
    life.make_group("web", desired=3, max_size=5)
    life.until(lambda: len(life.pods("Running")) == 3)
    before = {machine.id for machine in life.double.machines()}

    life.scale("web", 2)
    life.go_on(10)
    busy = {pod["spec"]["nodeName"] for pod in life.pods("Running")}
    (idle,) = [machine for machine in life.double.machines() if life.node_of(machine) not in busy]
    life.until(lambda: len(life.nodes) == 2)
    life.go_on(60)

    assert {machine.id for machine in life.double.machines()} == before - {idle.id}
    assert life.sizes() == {"web": 2}
    (order,) = [each for each in life.double.requests if each.operation.startswith("terminate_")]
    assert order.arguments == {"InstanceId": idle.id, "ShouldDecrementDesiredCapacity": True}
    assert set(life.nodes) == busy
    assert life.marked == []


def test_machines_that_somebody_else_asked_for_are_waited_for(begin) -> None:
    life = begin(a_deployment(replicas=2))
    life.make_group("web")
    life.go_on(10)
    assert life.sizes() == {"web": 2}

    life.do("set_desired_capacity", AutoScalingGroupName="web", DesiredCapacity=4)
    life.scale("web", 4)
    life.until(lambda: len(life.pods("Running")) == 4)

    assert life.sizes() == {"web": 4}
    assert "4 → " not in told(life)


def test_machines_that_somebody_else_gave_up_are_ordered_again(begin) -> None:
    life = begin(a_deployment(replicas=3))
    life.make_group("web")
    life.until(lambda: len(life.pods("Running")) == 3)

    life.do("set_desired_capacity", AutoScalingGroupName="web", DesiredCapacity=1)
    life.until(lambda: len(life.nodes) == 1)
    life.until(lambda: len(life.pods("Running")) == 3)

    assert life.sizes() == {"web": 3}


def test_a_machine_that_somebody_terminates_by_hand_is_replaced_once(begin) -> None:
    life = begin(a_deployment(replicas=2), settings=QUICK)
    life.make_group("web")
    life.until(lambda: len(life.pods("Running")) == 2)

    gone = life.double.machines()[0]
    life.double.do("ec2", "terminate_instances", InstanceIds=[gone.id])
    life.until(lambda: len(life.pods("Running")) == 2)
    life.go_on(180)

    assert life.sizes() == {"web": 2}
    assert len(life.launched) == 3
    assert gone.id not in {machine.id for machine in life.double.machines()}


def test_a_maximum_that_somebody_lowers_is_kept_to_at_once(begin) -> None:
    life = begin(a_deployment(replicas=2))
    life.make_group("web", max_size=10)
    life.until(lambda: len(life.pods("Running")) == 2)

    life.do("update_auto_scaling_group", AutoScalingGroupName="web", MaxSize=2)
    life.scale("web", 5)
    life.go_on(60)

    assert life.sizes() == {"web": 2}
    assert any("max" in message.lower() for message in life.told_to_pods("NotTriggerScaleUp"))


def test_a_group_that_is_deleted_is_forgotten_and_another_takes_its_pods(begin) -> None:
    life = begin(a_deployment(replicas=2), settings=f"{NEVER}\n{SPOT_FIRST}")
    life.make_group("spot")
    life.make_group("on-demand")
    life.until(lambda: len(life.pods("Running")) == 2)
    assert life.sizes() == {"spot": 2}

    life.do("delete_auto_scaling_group", AutoScalingGroupName="spot", ForceDelete=True)
    life.until(lambda: len(life.pods("Running")) == 2 and life.sizes() == {"on-demand": 2})

    assert len(life.nodes) == 2


def test_a_group_that_is_tagged_while_the_loop_runs_is_found(begin) -> None:
    life = begin(a_deployment(replicas=1))
    life.make_group("hidden", tags={ENABLED: "true"}, ours=False)
    life.go_on(30)
    assert life.sizes() == {}

    tag = {"ResourceId": "hidden", "ResourceType": "auto-scaling-group", "PropagateAtLaunch": True}
    life.do("create_or_update_tags", Tags=[{**tag, "Key": CLUSTER, "Value": "owned"}])
    life.until(lambda: len(life.pods("Running")) == 1)

    assert life.sizes() == {"hidden": 1}


@pytest.mark.parametrize("trouble", ["throttle", "fail", "expire", "drop", "garble"])
def test_nothing_is_lost_while_aws_does_not_answer_as_it_should(begin, trouble) -> None:
    life = begin(a_deployment(replicas=2), settings=QUICK)
    life.make_group("web", min_size=1, max_size=5)
    life.until(lambda: len(life.pods("Running")) == 2)
    before = set(life.nodes)

    getattr(life.double.faults, trouble)()
    life.scale("web", 3)
    # Real seconds go by while a throttled client holds back.
    life.go_on(20 if trouble == "throttle" else 120)
    assert life.sizes() == {"web": 2}
    assert set(life.nodes) == before
    assert life.marked == []

    life.double.faults.heal()
    life.until(lambda: len(life.pods("Running")) == 3)
    assert life.sizes() == {"web": 3}


def test_an_order_whose_answer_is_lost_is_not_given_twice(begin) -> None:
    life = begin(a_deployment(replicas=2))
    life.make_group("web")
    life.double.faults.drop("autoscaling:set_desired_capacity", times=3, after=True)

    life.until(lambda: len(life.pods("Running")) == 2)
    life.go_on(60)

    assert life.sizes() == {"web": 2}
    assert len(life.launched) == 2


def test_who_starts_after_a_kill_waits_for_what_was_ordered(begin) -> None:
    life = begin(a_deployment(replicas=3))
    life.make_group("web")
    life.until(lambda: life.sizes() == {"web": 3})
    assert life.nodes == []

    life.start_again()
    life.until(lambda: len(life.pods("Running")) == 3)
    life.go_on(60)

    assert life.sizes() == {"web": 3}
    assert len(life.launched) == 3


def test_who_starts_after_a_kill_ends_the_removal_that_had_begun(begin) -> None:
    life = begin(a_deployment(replicas=2), settings=QUICK)
    life.make_group("web", desired=3)
    life.until(lambda: len(life.pods("Running")) == 2)
    life.double.faults.drop("autoscaling:terminate_instance_in_auto_scaling_group", after=True)
    life.until(lambda: life.sizes() == {"web": 2})
    life.kill()
    life.double.faults.heal()

    life.start_again()
    life.until(lambda: len(life.nodes) == 2)
    life.go_on(120)

    assert life.sizes() == {"web": 2}
    assert len(life.pods("Running")) == 2
    assert len(life.launched) == 3
    assert life.marked == []


def test_answers_of_before_order_nothing_twice(begin) -> None:
    life = begin(a_deployment(replicas=3))
    life.make_group("web")
    life.go_on(10)
    life.double.faults.stale(times=6)

    life.until(lambda: len(life.pods("Running")) == 3)
    life.go_on(60)

    assert life.sizes() == {"web": 3}
    assert len(life.launched) == 3


def test_late_answers_bring_the_machines_that_pods_need_and_end_the_right_ones(begin) -> None:
    life = begin(a_deployment(replicas=3), settings=QUICK)
    life.make_group("web")
    # Nodes are there before AWS tells of their machines.
    life.double.boots(4, stops=4)
    life.double.lags(35)

    life.until(lambda: life.sizes())
    life.go_on(10)
    life.scale("web", 5)
    life.until(lambda: len(life.pods("Running")) == 5)
    life.go_on(60)
    orders = [each for each in life.double.requests if each.operation == "set_desired_capacity"]
    assert [each.arguments["DesiredCapacity"] for each in orders] == [3, 5]
    assert len(life.launched) == 5

    life.scale("web", 2)
    life.go_on(10)
    busy = {pod["spec"]["nodeName"] for pod in life.pods("Running")}
    life.until(lambda: len(life.nodes) == 2)
    life.go_on(60)
    assert life.sizes() == {"web": 2}
    assert set(life.nodes) == busy
    assert len(life.launched) == 5
    assert life.marked == []
