"""What a decision makes of groups and clusters in which too many nodes are out of service."""

from dataclasses import replace
from datetime import timedelta

import pytest
from msgspec.structs import replace as struct_replace
from nodewright.api import ErrorClass, Instance, InstanceError, InstanceState, Reason
from nodewright.api.provider import GpuConfig
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.health import Readiness
from nodewright.decision.memory import (
    HealthMemory,
    Memory,
    OrderMemory,
    Removal,
    RemovalMemory,
    ScaleUpRequest,
    UnneededMemory,
)
from nodewright.explain.explanation import explain_group, explain_pod
from nodewright.explain.look import Look
from nodewright.objects import Taint
from nodewright.objects.meta import Condition
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
HEALTH = Settings.model_validate({"health": {"okTotalUnreadyCount": 1, "maxTotalUnreadyPercentage": 40}})


def nodes(group, ready, unready=0):
    return [
        a_node(f"{group}-{number}", ready=number < ready, provider_id=f"fake://{group}-{number}")
        for number in range(ready + unready)
    ]


def decide_on(world, memory=None, settings=HEALTH, now=NOW):
    return decide(world, memory or Memory(), a_policy(settings), now)[:2]


def findings_on(world, memory=None, settings=HEALTH):
    return decide(world, memory or Memory(), a_policy(settings), NOW).findings


def look_at(world, memory=None, settings=HEALTH):
    decision, after, findings = decide(world, memory or Memory(), a_policy(settings), NOW, in_depth=True)
    return Look(world=world, decision=decision, memory=after, findings=findings)


def an_ill_world(unready=2, pods=(), **fields):
    return a_world(groups=[a_group("a", size=4, **fields)], nodes={"a": nodes("a", 4 - unready, unready)}, pods=pods)


def test_machines_are_counted_in_the_classes_of_cluster_autoscaler() -> None:
    suspended = a_node("suspended", provider_id="fake://a-1")
    conditions = (*suspended.status.conditions, Condition(type="Suspended", status="True"))
    gpus = dict.fromkeys(["no-gpus", "old"], GpuConfig(label="gpu", type="t4", resource="nvidia.com/gpu"))
    members = [
        a_node("ready", provider_id="fake://a-0"),
        struct_replace(suspended, status=struct_replace(suspended.status, conditions=conditions)),
        a_node("young", ready=False, provider_id="fake://a-2", created=NOW - timedelta(minutes=1)),
        a_node("old", ready=False, provider_id="fake://a-3"),
        a_node("no-gpus", provider_id="fake://a-4"),
        a_node("tainted", provider_id="fake://a-5", taints=[Taint(key="startup", effect="NoSchedule")]),
        a_node("status", provider_id="fake://a-6", taints=[Taint(key="full", effect="NoSchedule")]),
        a_node("not listed yet", provider_id="fake://a-new"),
        a_node("gone", ready=False, provider_id="fake://a-gone"),
    ]
    late, new = (Instance(id=key, state=InstanceState.CREATING) for key in ("late", "new"))
    known = [Instance(id=f"fake://a-{number}", state=InstanceState.RUNNING) for number in range(7)]
    group = replace(a_group("a", instances=[*known, late, new]), target_size=9)
    world = replace(a_world(groups=[group], nodes={"a": members, "": [a_node("stranger")]}), gpus=gpus)
    settings = Settings.model_validate({"templates": {"startupTaints": ["startup"], "statusTaints": ["full"]}})
    findings = findings_on(world, Memory(health=HealthMemory(unregistered_since={"late": EPOCH})), settings)
    assert findings.readiness["a"] == Readiness(
        ready=3,
        suspended=1,
        not_started=1,
        unready=3,
        resource_unready=1,
        being_deleted=1,
        unregistered=1,
        long_unregistered=1,
    )
    assert findings.readiness["a"].registered == 9


def test_nothing_grows_and_nothing_goes_while_too_many_nodes_are_unready() -> None:
    bare = a_pod("unseen")
    unseen = struct_replace(bare, status=struct_replace(bare.status, conditions=()))
    world = an_ill_world(pods=[a_pod(), unseen])
    decision, memory = decide_on(world, Memory(unneeded=UnneededMemory(since={"a-0": EPOCH})))
    assert (decision.grow, decision.drain) == ((), ())
    assert str(decision.halted) == "nothing grows or goes while so many nodes are unready (2 of 4 are unready)"
    assert memory.unneeded.since == {}
    assert {verdict.reason for verdict in (*decision.pods.values(), *decision.nodes.values())} == {
        Reason.CLUSTER_UNHEALTHY
    }
    assert set(decision.pods) == {"default/web"}
    assert set(decision.nodes) == {f"a-{number}" for number in range(4)}
    assert explain_pod(look_at(world), "default/web")[0] == f"pod default/web: {decision.halted}"


@pytest.mark.parametrize(("ready", "unready"), [(3, 1), (3, 2), (1, 1)])
def test_a_cluster_is_well_while_unready_nodes_are_few_or_a_small_part(ready, unready) -> None:
    size = ready + unready
    world = a_world(groups=[a_group("a", size=size)], nodes={"a": nodes("a", ready, unready)})
    assert decide_on(world)[0].halted is None


def test_nodes_of_no_group_count_for_the_cluster() -> None:
    world = a_world(groups=[a_group("a", size=2)], nodes={"a": nodes("a", 2), "": nodes("b", 0, 2)})
    assert decide_on(world)[0].halted


def test_people_are_told_once_each_time_that_the_cluster_falls_ill() -> None:
    first, memory = decide_on(an_ill_world())
    second, memory = decide_on(an_ill_world(), memory, now=NOW + timedelta(seconds=10))
    assert first.notices == second.notices
    (notice,) = first.notices
    assert (notice.reason, notice.warning) == ("ClusterUnhealthy", True)
    assert notice.message.endswith(": 2 of 4 are unready, since 2030-01-01 01:00:00")
    well, memory = decide_on(an_ill_world(unready=0), memory, now=NOW + timedelta(seconds=20))
    assert (well.notices, memory.health.unhealthy_since) == ((), None)
    again, _ = decide_on(an_ill_world(), memory, now=NOW + timedelta(seconds=30))
    assert again.notices != first.notices


def test_in_an_unhealthy_cluster_overdue_machines_go_and_failed_ones_wait() -> None:
    error = InstanceError(error_class=ErrorClass.OTHER, code="X")
    known = [Instance(id=f"fake://a-{number}", state=InstanceState.RUNNING) for number in range(4)]
    late = Instance(id="late", state=InstanceState.CREATING)
    failed = Instance(id="failed", state=InstanceState.CREATING, error=error)
    group = replace(a_group("a", instances=[*known, late, failed]), target_size=6)
    world = a_world(groups=[group], nodes={"a": nodes("a", 2, 2)})
    decision, memory = decide_on(world, Memory(health=HealthMemory(unregistered_since={"late": EPOCH})))
    assert [delete.instances for delete in decision.delete] == [("late",)]
    assert memory.health.backoffs["a"].code == "X"


def test_no_size_is_corrected_while_the_cluster_is_unhealthy() -> None:
    world = a_world(groups=[replace(a_group("a", size=4), target_size=6)], nodes={"a": nodes("a", 2, 2)})
    _, memory = decide_on(world)
    decision, _ = decide_on(world, memory, now=NOW + timedelta(minutes=16))
    assert decision.halted.reason is Reason.CLUSTER_UNHEALTHY
    assert not decision.shrink


def test_removals_that_are_under_way_go_on_while_the_cluster_is_unhealthy() -> None:
    removal = Removal(group="a", provider_id="fake://a-0", started=EPOCH)
    world = an_ill_world()
    mark = Taint(key="ToBeDeletedByClusterAutoscaler", value="0")
    world.cluster.put_node(a_node("a-0", provider_id="fake://a-0", taints=[mark]))
    decision, memory = decide_on(world, Memory(leaving=RemovalMemory(removals={"a-0": removal})))
    assert [delete.nodes for delete in decision.delete] == [("a-0",)]
    assert memory.leaving.removals["a-0"].deleted_at == NOW


def a_short_group(target=7, machines=3, **fields):
    return replace(a_group("a", size=machines, **fields), target_size=target)


def test_a_group_that_lacks_too_many_nodes_is_not_ready_for_scale_up() -> None:
    world = a_world(groups=[a_short_group()], nodes={"a": nodes("a", 3)}, pods=[a_pod(cpu="5")])
    decision, _ = decide_on(world, settings=Settings())
    assert str(decision.groups["a"]) == "not ready for scale-up (3 of 7 nodes are in service)"


def test_why_group_tells_how_its_machines_are_and_what_speaks_against_growth() -> None:
    world = a_world(groups=[a_short_group()], nodes={"a": nodes("a", 2, 1)})
    told = explain_group(look_at(world, settings=Settings()), "a")
    assert "  machines: 2 ready, 1 unready" in told
    assert "  growth: no pod waits for a node; not ready for scale-up (2 of 7 nodes are in service)" in told


@pytest.mark.parametrize(
    ("target", "machines", "blocked"),
    [
        (7, 4, False),  # three are always fine
        (12, 8, False),  # four are, too, where that is half of what is there at most
        (8, 4, True),
        (1, 0, True),  # nothing is there, and nothing was ordered
        (0, 0, False),
    ],
)
def test_how_many_nodes_a_group_may_lack(target, machines, blocked) -> None:
    world = a_world(groups=[a_short_group(target, machines, max_size=20)], nodes={"a": nodes("a", machines)})
    settings = Settings.model_validate({"health": {"maxTotalUnreadyPercentage": 50}})
    assert ("a" in findings_on(world, settings=settings).blocked) is blocked


def test_what_is_on_its_way_is_not_missed() -> None:
    world = a_world(groups=[a_short_group()], nodes={"a": nodes("a", 3)})
    memory = Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=NOW, count=4)}))
    findings = findings_on(world, memory, Settings())
    assert (findings.blocked, findings.upcoming) == ({}, {"a": 4})


def test_poor_health_is_told_before_everything_else() -> None:
    group = replace(a_short_group(target=10), template=None)
    world = a_world(groups=[group], nodes={"a": nodes("a", 3)}, pods=[a_pod(cpu="5")])
    memory = Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=EPOCH, count=7)}))
    decision, after = decide_on(world, memory, Settings())
    assert "a" in after.health.backoffs
    assert decision.groups["a"].reason is Reason.GROUP_UNHEALTHY


def test_without_a_ready_node_nothing_happens_where_scale_up_from_zero_is_off() -> None:
    settings = Settings.model_validate({"scaleUp": {"fromZero": False}})
    world = a_world(groups=[a_group("a", size=1)], nodes={"a": nodes("a", 0, 1)}, pods=[a_pod(cpu="5")])
    decision, _ = decide_on(world, settings=settings)
    assert decision.groups["a"].reason is Reason.NO_SCALE_FROM_ZERO
