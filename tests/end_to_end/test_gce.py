"""The real loop with groups of Google Cloud: growth from zero, stock-outs, removals, and others who change groups."""

import json
from contextlib import ExitStack

import pytest
from nodewright.api import Taint
from nodewright.testing.clock import SteppedClock
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World
from nodewright_gce.testing import GceDouble

from tests.end_to_end.gce_world import BOOTS, STOPS, ZONES, GceLife
from tests.end_to_end.rights import Rights
from tests.end_to_end.scenarios import a_deployment
from tests.end_to_end.test_aws import Clocks

QUICK = "scaleDown: {unneededTime: 1m, delayAfterAdd: 30s}"
NEVER = "scaleDown: {enabled: false}"
BY_NAME = "scaleUp: {expanders: [{priority: {priorities: {30: [first], 20: [second], 10: [third]}}}]}"


@pytest.fixture(scope="module")
def clocks():
    """The clock of the moment, as the double lives longer than a world."""
    return Clocks()


@pytest.fixture(scope="module")
def served(clocks):
    with GceDouble(clock=clocks) as double:
        yield double


@pytest.fixture
def begin(served, clocks, monkeypatch, tmp_path):
    """Begins the life of a cluster on Google Cloud with deployments; it ends with the test."""
    rights = Rights()
    served.reset()
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    for name, value in served.environment.items():
        monkeypatch.setenv(name, value)
    with ExitStack() as stack:

        def start(*deployments, settings=NEVER, **gce):
            scenario = {
                "zones": ZONES,
                "instanceTypes": {"none": {"cpu": 1, "memory": "1Gi", "price": 1}},
                "workloads": {"deployments": deployments or [a_deployment(replicas=0)]},
            }
            clocks.present = SteppedClock()
            world = stack.enter_context(World(parse_scenario(json.dumps(scenario)), clocks.present))
            world.api_server.authorize = rights.authorize
            return GceLife(world, served, gce, settings, 0, {}, stack, tmp_path)

        yield start
    assert rights.refused == set()


def told(life):
    return "\n".join(life.diary.lines)


def test_a_group_grows_from_zero_by_its_template(begin) -> None:
    life = begin(
        a_deployment(
            "model",
            replicas=2,
            nodeSelector={"team": "ml"},
            tolerations=[{"key": "dedicated", "operator": "Equal", "value": "ml", "effect": "NoSchedule"}],
            requests={"nvidia.com/gpu": "1"},
        )
    )
    life.make_mig("prod-plain")
    life.make_mig(
        "prod-gpu",
        machine_type="a2-highgpu-1g",
        labels={"team": "ml"},
        taints=[Taint(key="dedicated", value="ml", effect="NoSchedule")],
    )

    life.until(lambda: len(life.pods("Running")) == 2)

    assert life.sizes() == {"prod-gpu": 2}
    assert len(life.created) == len(set(life.created)) == 2


def test_a_stock_out_in_a_zone_is_answered_by_the_next_zone_in_the_loop_that_sees_it(begin) -> None:
    life = begin(a_deployment(replicas=2), settings=f"{NEVER}\n{BY_NAME}")
    life.make_mig("prod-first", zone=ZONES[0])
    life.make_mig("prod-second", zone=ZONES[0])
    life.make_mig("prod-third", zone=ZONES[1])
    life.double.boots(BOOTS, stops=STOPS, news=25)
    life.run_out(f"{ZONES[0]}/*")

    life.until(lambda: life.sizes())
    assert life.sizes() == {"prod-first": 2}
    machine, _ = life.double.machines("prod-first")
    while life.world.clock.now() < machine.shown_at:
        assert life.sizes() == {"prod-first": 2}
        life.go_on(10)

    # The second group would have asked the zone that has just refused.
    assert life.sizes()["prod-third"] == 2
    life.until(lambda: len(life.pods("Running")) == 2)
    assert life.sizes() == {"prod-third": 2}
    assert len(life.created) == 4


def test_a_group_of_a_quota_that_is_used_up_is_not_even_asked(begin) -> None:
    life = begin(a_deployment(replicas=4), settings=f"{NEVER}\n{BY_NAME}")
    life.make_mig("prod-first", machine_type="n2-standard-8", zone=ZONES[0], size=1)
    life.make_mig("prod-second", machine_type="n2-standard-8", zone=ZONES[1])
    life.make_mig("prod-third", zone=ZONES[1])
    life.double.set_quota("europe-west1", "N2_CPUS", 12)
    life.until(lambda: len(life.pods("Running")) == 4)

    life.scale("web", 9)
    life.until(lambda: len(life.pods("Running")) == 9)

    assert life.sizes() == {"prod-first": 1, "prod-third": 2}


def test_a_spot_machine_that_google_takes_back_comes_again_under_its_name(begin) -> None:
    life = begin(a_deployment(replicas=2), settings=QUICK)
    life.make_mig("prod-spot", spot=True)
    life.until(lambda: len(life.pods("Running")) == 2)
    machine = life.double.machines()[0]
    before = machine.id

    life.double.preempt(machine)
    life.until(lambda: len(life.pods("Running")) < 2)
    life.until(lambda: len(life.pods("Running")) == 2)
    life.go_on(180)

    assert machine.id != before
    assert set(life.nodes) == {each.name for each in life.double.machines()}
    assert life.sizes() == {"prod-spot": 2}
    assert (len(life.created), life.deleted) == (2, [])
    assert life.marked == []


def test_a_refusal_for_a_quota_spares_the_other_groups_that_share_it(begin) -> None:
    life = begin(a_deployment(replicas=9), settings=f"{NEVER}\n{BY_NAME}", quotas=False)
    life.make_mig("prod-first", machine_type="n2-standard-8", zone=ZONES[0])
    life.make_mig("prod-second", machine_type="n2-standard-8", zone=ZONES[1])
    life.make_mig("prod-third", machine_type="n1-standard-4", zone=ZONES[1])
    life.double.set_quota("europe-west1", "N2_CPUS", 12)

    life.until(lambda: len(life.pods("Running")) == 9)
    life.go_on(60)

    assert life.sizes() == {"prod-first": 1, "prod-third": 1}
    assert life.orders("resize") == []
    assert {name.rpartition("-")[0] for name in life.created} == {"prod-first", "prod-third"}


def test_the_machine_of_the_drained_node_is_deleted_once_and_no_other(begin) -> None:
    life = begin(a_deployment(replicas=3), settings=QUICK)
    life.make_mig("prod-web", size=3)
    life.until(lambda: len(life.pods("Running")) == 3)
    before = {machine.name for machine in life.double.machines()}

    life.scale("web", 2)
    life.go_on(10)
    busy = {pod["spec"]["nodeName"] for pod in life.pods("Running")}
    life.until(lambda: len(life.nodes) == 2)
    life.go_on(60)

    (idle,) = before - busy
    assert life.deleted == [idle]
    assert {machine.name for machine in life.double.machines()} == busy == set(life.nodes)
    assert life.sizes() == {"prod-web": 2}
    assert life.marked == []


def test_machines_that_somebody_else_asked_for_are_waited_for(begin) -> None:
    life = begin(a_deployment(replicas=2))
    life.make_mig("prod-web")
    life.until(life.sizes)

    life.double.do("instance_group_managers", "resize", "prod-web", size=4)
    life.scale("web", 4)
    life.until(lambda: len(life.pods("Running")) == 4)

    assert life.sizes() == {"prod-web": 4}
    assert len(life.created) == 2


def test_machines_that_somebody_else_gave_up_are_ordered_again(begin) -> None:
    life = begin(a_deployment(replicas=3))
    life.make_mig("prod-web")
    life.until(lambda: len(life.pods("Running")) == 3)

    life.double.do("instance_group_managers", "resize", "prod-web", size=1)
    life.until(lambda: len(life.nodes) == 1)
    life.until(lambda: len(life.pods("Running")) == 3)

    assert life.sizes() == {"prod-web": 3}
    assert len(life.created) == 5


def test_a_template_that_somebody_replaces_is_what_the_next_machines_are_foreseen_by(begin) -> None:
    life = begin(a_deployment(replicas=1))
    group = life.make_mig("prod-web")
    life.until(lambda: len(life.pods("Running")) == 1)

    kube_env = life.looks["prod-web"].kube_env("n2-standard-8")
    template = life.double.make_template("roomy", machine_type="n2-standard-8", kube_env=kube_env)
    group.settings |= {"instanceTemplate": template, "versions": [{"instanceTemplate": template}]}
    life.scale("web", 7)
    life.until(lambda: len(life.pods("Running")) == 7)

    assert life.sizes() == {"prod-web": 2}
    assert {machine.pool.machine_type for machine in life.double.machines()} == {"e2-standard-2", "n2-standard-8"}


def test_a_group_that_is_deleted_is_forgotten_and_another_takes_its_pods(begin) -> None:
    life = begin(a_deployment(replicas=2), settings=f"{NEVER}\n{BY_NAME}")
    life.make_mig("prod-first")
    life.make_mig("prod-second")
    life.until(lambda: len(life.pods("Running")) == 2)
    assert life.sizes() == {"prod-first": 2}

    life.double.do("instance_group_managers", "delete", "prod-first")
    life.until(lambda: len(life.pods("Running")) == 2 and life.sizes() == {"prod-second": 2})

    assert len(life.nodes) == 2


def test_a_group_that_is_made_while_the_loop_runs_is_found(begin) -> None:
    life = begin(a_deployment(replicas=1))
    life.make_mig("other")
    life.go_on(30)
    assert life.sizes() == {}

    life.make_mig("prod-web")
    life.until(lambda: len(life.pods("Running")) == 1)

    assert life.sizes() == {"prod-web": 1}


def test_a_group_that_google_steers_is_left_alone(begin) -> None:
    life = begin(a_deployment(replicas=2), settings=f"{QUICK}\n{BY_NAME}")
    life.make_mig("prod-first", size=1)
    life.make_mig("prod-second")
    life.double.steer("prod-first")

    life.until(lambda: len(life.pods("Running")) == 2)
    life.scale("web", 0)
    life.until(lambda: life.sizes() == {"prod-first": 1})
    life.go_on(300)

    assert life.sizes() == {"prod-first": 1}
    assert {name.rpartition("-")[0] for name in life.deleted} == {"prod-second"}


@pytest.mark.parametrize("trouble", ["throttle", "fail", "expire", "drop", "garble"])
def test_nothing_is_lost_while_google_does_not_answer_as_it_should(begin, trouble) -> None:
    life = begin(a_deployment(replicas=2), settings=QUICK)
    life.make_mig("prod-web")
    life.until(lambda: len(life.pods("Running")) == 2)
    before = set(life.nodes)

    getattr(life.double.faults, trouble)()
    life.scale("web", 3)
    life.go_on(120)
    assert life.sizes() == {"prod-web": 2}
    assert set(life.nodes) == before
    assert life.marked == []

    life.double.faults.heal()
    life.until(lambda: len(life.pods("Running")) == 3)
    assert life.sizes() == {"prod-web": 3}
    assert len(life.registered) == 3


def test_an_order_whose_answer_is_lost_is_not_given_twice(begin) -> None:
    life = begin(a_deployment(replicas=2))
    life.make_mig("prod-web")
    life.double.faults.drop("instance_group_managers:create_instances", times=3, after=True)

    life.until(lambda: len(life.pods("Running")) == 2)
    life.go_on(60)

    assert life.sizes() == {"prod-web": 2}
    assert {machine.name for machine in life.double.machines()} == set(life.created)
    assert len(set(life.created)) == 2


def test_who_starts_after_a_kill_waits_for_what_was_ordered(begin) -> None:
    life = begin(a_deployment(replicas=3))
    life.make_mig("prod-web")
    life.until(lambda: life.sizes() == {"prod-web": 3})
    assert life.nodes == []

    life.start_again()
    life.until(lambda: len(life.pods("Running")) == 3)
    life.go_on(60)

    assert life.sizes() == {"prod-web": 3}
    assert len(life.created) == 3


def test_who_starts_after_a_kill_ends_the_removal_that_had_begun(begin) -> None:
    life = begin(a_deployment(replicas=2), settings=QUICK)
    life.make_mig("prod-web", size=3)
    life.until(lambda: len(life.pods("Running")) == 2)
    life.double.faults.drop("instance_group_managers:delete_instances", after=True)
    life.until(lambda: life.sizes() == {"prod-web": 2})
    life.kill()
    life.double.faults.heal()

    life.start_again()
    life.until(lambda: len(life.nodes) == 2)
    life.go_on(120)

    assert life.sizes() == {"prod-web": 2}
    assert len(life.pods("Running")) == 2
    assert len(set(life.deleted)) == 1
    assert life.marked == []


def test_answers_of_before_order_nothing_twice(begin) -> None:
    life = begin(a_deployment(replicas=3))
    life.make_mig("prod-web")
    life.go_on(10)
    life.double.faults.stale(times=6)

    life.until(lambda: len(life.pods("Running")) == 3)
    life.go_on(60)

    assert life.sizes() == {"prod-web": 3}
    assert len(life.created) == 3


def test_late_answers_bring_the_machines_that_pods_need_and_end_the_right_ones(begin) -> None:
    life = begin(a_deployment(replicas=3), settings=QUICK)
    life.make_mig("prod-web")
    # Nodes are there before Google tells of their machines.
    life.double.boots(4, stops=4)
    life.double.lags(35)

    life.until(life.sizes)
    life.go_on(10)
    life.scale("web", 5)
    life.until(lambda: len(life.pods("Running")) == 5)
    life.go_on(60)
    assert len(life.created) == len(set(life.created)) == 5

    life.scale("web", 2)
    life.go_on(10)
    busy = {pod["spec"]["nodeName"] for pod in life.pods("Running")}
    life.until(lambda: len(life.nodes) == 2)
    life.go_on(60)
    assert life.sizes() == {"prod-web": 2}
    assert set(life.nodes) == busy
    assert set(life.deleted) == set(life.created) - busy
    assert life.marked == []
