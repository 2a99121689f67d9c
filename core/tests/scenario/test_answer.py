"""A decision in Cluster Autoscaler's terms, field by field."""

from dataclasses import replace
from datetime import timedelta

import pytest
from msgspec.structs import replace as struct_replace
from nodewright.config.model import Settings
from nodewright.decision.memory import Memory, OrderMemory, ScaleUpRequest
from nodewright.objects import LabelSelector
from nodewright.objects.affinity import Affinity, PodAffinity, PodAffinityTerm
from nodewright.objects.node import HOSTNAME
from nodewright.scenario.answer import answer
from nodewright.scenario.rehearsal import rehearse_once
from nodewright.testing.builders import a_group, a_node, a_pod, a_template
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
ORDERED = Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=NOW - timedelta(minutes=1), count=1)}))


@pytest.fixture
def answered():
    """Decide on a world and return the answer."""

    def answered(world, memory=None, **settings):
        chosen = Settings.model_validate(settings)
        return answer(rehearse_once(world, memory or Memory(), a_policy(chosen), NOW), chosen)

    return answered


def nodes(count, first=0, **fields):
    numbers = range(first, first + count)
    return [a_node(f"n{number}", provider_id=f"fake://a-{number}", **fields) for number in numbers]


def full(count):
    return [a_pod(f"busy-{number}", cpu="4", node=f"n{number}") for number in range(count)]


def test_upcoming_nodes_of_a_growing_group_are_all_that_it_still_has_to_get(answered) -> None:
    group = replace(a_group("a", size=1, template=a_template(cpu="4")), target_size=3)
    waiting = a_pod("waits", cpu="4")
    # Nobody remembers who ordered the two machines that do not exist: they are counted on from the order on.
    found = answered(a_world(groups=[group], nodes={"a": nodes(1)}, pods=[*full(1), waiting]))
    assert found["scaleUp"] == [{"group": "a", "delta": 1, "newSize": 4}]
    assert found["upcomingNodes"] == {"a": 3}


def test_upcoming_nodes_of_a_growing_group_include_those_that_are_starting(answered) -> None:
    group = a_group("a", size=2, template=a_template(cpu="4"))
    starting = nodes(1, first=1, ready=False, created=NOW - timedelta(minutes=1))
    waiting = [a_pod(f"waits-{number}", cpu="4") for number in range(2)]
    world = a_world(groups=[group], nodes={"a": [*nodes(1), *starting]}, pods=[*full(1), *waiting])
    found = answered(world, ORDERED)
    assert found["scaleUp"] == [{"group": "a", "delta": 1, "newSize": 3}]
    assert found["upcomingNodes"] == {"a": 2}


@pytest.mark.parametrize("halted", [True, False])
def test_nodes_that_are_starting_have_a_utilization_only_where_nothing_takes_their_place(answered, halted) -> None:
    unready = nodes(6, ready=False, created=EPOCH - timedelta(hours=1)) if halted else nodes(6)
    starting = nodes(1, first=6, ready=False, created=NOW - timedelta(minutes=1))
    group = a_group("a", size=7, template=a_template(cpu="4"))
    found = answered(a_world(groups=[group], nodes={"a": [*unready, *starting]}), ORDERED)
    assert (found["scaleUpResult"] != "ScaleUpNotNeeded") == halted
    assert ("n6" in {entry["node"] for entry in found["utilization"]}) == halted
    assert len(found["utilization"]) == 6 + halted


def near(pod, app):
    term = PodAffinityTerm(label_selector=LabelSelector(match_labels={"app": app}), topology_key=HOSTNAME)
    return struct_replace(
        pod, spec=struct_replace(pod.spec, affinity=Affinity(pod_affinity=PodAffinity(required=(term,))))
    )


def test_a_pod_that_is_refused_first_and_helped_then_does_not_remain(answered) -> None:
    database = a_pod("db", cpu="2", labels={"app": "db"}, owner="ReplicaSet/db")
    web = near(a_pod("web", cpu="1", owner="ReplicaSet/web"), "db")
    found = answered(a_world(groups=[a_group("a", template=a_template(cpu="4"))], pods=[web, database]))
    assert found["podsTriggeredScaleUp"] == ["default/db", "default/web"]
    assert found["podsRemainUnschedulable"] == []
