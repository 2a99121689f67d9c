"""Machines that are stopped: neither there, nor missing, nor broken."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import InstanceState, Reason
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import (
    HealthMemory,
    Memory,
    OrderMemory,
    Removal,
    RemovalMemory,
    ScaleUpRequest,
    UnneededMemory,
)
from nodewright.explain.explanation import explain_node
from nodewright.explain.look import Look
from nodewright.objects import Taint
from nodewright.objects.node import TO_BE_DELETED
from nodewright.testing.builders import a_group, a_node, a_pod, an_instance
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
LOOP = timedelta(seconds=10)
STOPPED = InstanceState.STOPPED
MARK = Taint(key=TO_BE_DELETED, effect="NoSchedule")


def machines(state, count=1):
    return [an_instance(f"m{number}", state=state) for number in range(count)]


def nodes_of(instances, **fields):
    return [a_node(f"n-{each.id}", provider_id=each.id, **fields) for each in instances]


def decide_on(*groups, nodes=None, memory=None, now=NOW, pods=(), **settings):
    world = a_world(groups=groups, nodes=nodes, pods=pods)
    policy = a_policy(Settings.model_validate(settings))
    decision, after, findings = decide(world, memory or Memory(), policy, now, in_depth=True)
    return Look(world=world, decision=decision, memory=after, findings=findings)


def test_a_stopped_machine_without_a_node_is_not_waited_for_and_not_deleted() -> None:
    group = a_group("a", instances=machines(STOPPED))
    look = decide_on(group, memory=Memory(health=HealthMemory(unregistered_since={"m0": EPOCH})))
    assert look.decision.quiet
    assert look.memory.health.unregistered_since == {}
    assert (look.findings.upcoming, look.findings.owed) == ({}, {})


def test_nodes_of_stopped_machines_do_not_make_the_cluster_unhealthy() -> None:
    running, stopped = machines(InstanceState.RUNNING, 9), machines(STOPPED, 9)
    for state, halted in ((STOPPED, False), (InstanceState.RUNNING, True)):
        lingering = [an_instance(f"s{number}", state=state) for number in range(len(stopped))]
        group = replace(a_group("a", instances=[*running, *lingering]), target_size=9)
        look = decide_on(group, nodes={"a": [*nodes_of(running), *nodes_of(lingering, ready=False)]})
        assert (look.decision.halted is not None) is halted


def test_a_stopped_machine_is_not_part_of_a_group_that_goes_whole() -> None:
    running, stopped = machines(InstanceState.RUNNING), an_instance("idle", state=STOPPED)
    group = replace(a_group("a", instances=[*running, stopped]), target_size=2)
    memory = Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=NOW, count=1)}))
    assert decide_on(group, nodes={"a": nodes_of(running)}, memory=memory).findings.upcoming == {"a": 1}


def test_pods_get_no_place_on_the_node_of_a_stopped_machine() -> None:
    group = a_group("a", instances=machines(STOPPED))
    look = decide_on(group, nodes={"a": nodes_of(group.instances)}, pods=[a_pod()])
    assert [(each.group, each.count) for each in look.decision.grow] == [("a", 1)]


def test_pods_are_not_moved_to_the_node_of_a_stopped_machine() -> None:
    running, stopped = machines(InstanceState.RUNNING), [an_instance("idle", state=STOPPED)]
    group = replace(a_group("a", instances=[*running, *stopped]), target_size=1)
    look = decide_on(
        group,
        nodes={"a": nodes_of([*running, *stopped])},
        pods=[a_pod("p", node="n-m0", cpu="100m", owner="ReplicaSet/web")],
        memory=Memory(unneeded=UnneededMemory(since={"n-m0": EPOCH})),
    )
    assert look.decision.nodes["n-m0"].reason is Reason.NO_PLACE


def test_the_node_of_a_stopped_machine_is_not_removed_and_says_why() -> None:
    group = replace(a_group("a", instances=machines(STOPPED)), target_size=1)
    memory = Memory(unneeded=UnneededMemory(since={"n-m0": EPOCH}))
    look = decide_on(group, nodes={"a": nodes_of(group.instances)}, memory=memory)
    assert not look.decision.drain
    assert "  stays: its machine is stopped [MachineStopped]" in explain_node(look, "n-m0")


def test_a_node_whose_machine_is_started_again_is_on_its_way() -> None:
    stopped = a_group("a", instances=machines(STOPPED))
    nodes = {"a": nodes_of(stopped.instances, ready=False)}
    memory = decide_on(stopped, nodes=nodes).memory
    memory = replace(memory, orders=OrderMemory(requests={"a": ScaleUpRequest(at=NOW, count=1)}))
    started = a_group("a", size=1, instances=machines(InstanceState.CREATING))
    look = decide_on(started, nodes=nodes, memory=memory, now=NOW + LOOP, pods=[a_pod()])
    assert look.findings.upcoming == {"a": 1}
    assert not look.decision.grow
    look = decide_on(started, nodes=nodes, memory=look.memory, now=NOW + timedelta(minutes=16))
    assert look.findings.readiness["a"].unready == 1
    assert look.memory.health.stopped_at == {}


def test_a_removal_ends_without_harm_when_the_machine_is_stopped() -> None:
    group = replace(a_group("a", instances=machines(STOPPED)), target_size=1)
    removal = Removal(group="a", provider_id="m0", started=EPOCH)
    look = decide_on(
        group,
        nodes={"a": nodes_of(group.instances, taints=[MARK])},
        memory=Memory(leaving=RemovalMemory(removals={"n-m0": removal})),
    )
    assert [each.verdict.detail for each in look.decision.restore] == ["its machine is stopped"]


def test_a_machine_that_was_deleted_into_a_pool_of_stopped_ones_is_at_work_again_once_it_is_started() -> None:
    removal = Removal(group="a", provider_id="m0", started=EPOCH, deleted_at=NOW - LOOP)
    memory = Memory(leaving=RemovalMemory(removals={"n-m0": removal}))
    stopped = a_group("a", instances=machines(STOPPED))
    nodes = {"a": nodes_of(stopped.instances, taints=[MARK])}
    look = decide_on(stopped, nodes=nodes, memory=memory)
    assert not look.decision.restore
    started = a_group("a", size=1, instances=machines(InstanceState.RUNNING))
    look = decide_on(started, nodes=nodes, memory=look.memory, now=NOW + LOOP)
    assert [each.node for each in look.decision.restore] == ["n-m0"]


@pytest.mark.parametrize(("state", "left"), [(STOPPED, 1), (InstanceState.RUNNING, 0)])
def test_the_node_of_a_stopped_machine_does_not_count_for_the_limit_on_nodes(state, left) -> None:
    group = replace(a_group("a", instances=machines(state)), target_size=int(state is not STOPPED))
    look = decide_on(
        group,
        nodes={"a": nodes_of(group.instances, ready=state is not STOPPED)},
        pods=[a_pod("p", cpu="4"), a_pod("q", node="n-m0", cpu="4")],
        limits={"nodes": {"max": 1}},
    )
    assert sum(each.count for each in look.decision.grow) == left
