"""How limits on the size of the cluster hold growth back, and which reasons they give."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import ErrorClass, GpuConfig, Reason, ResourceLimits
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import Backoff, HealthMemory, Memory, OrderMemory, ScaleUpRequest
from nodewright.objects import CapacityQuota, LabelSelector, ObjectMeta
from nodewright.objects.capacity_quota import CapacityLimits, CapacityQuotaSpec
from nodewright.testing.builders import a_group, a_node, a_pod, a_template
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
FOUR = a_template(cpu="4", memory="16Gi")


def settings(**limits):
    return Settings.model_validate({"limits": limits})


def decided(world, remembered=None, **limits):
    decision, _, _ = decide(world, remembered or Memory(), a_policy(settings(**limits)), NOW)
    return decision


def full_nodes(count):
    nodes = [a_node(f"n{number}", cpu="4", provider_id=f"fake://a-{number}") for number in range(count)]
    running = [a_pod(f"busy-{number}", cpu="4", node=f"n{number}") for number in range(count)]
    return nodes, running


def a_full_world(count, pending=8, template=FOUR, **fields):
    nodes, running = full_nodes(count)
    waiting = [a_pod(f"web-{number}", cpu="2") for number in range(pending)]
    group = a_group("a", size=count, max_size=20, template=template, **fields)
    return a_world(groups=[group], nodes={"a": nodes}, pods=[*running, *waiting])


def grown(decision):
    return {grow.group: (grow.count, len(grow.pods)) for grow in decision.grow}


def waiting(decision):
    return {
        (verdict.reason, verdict.detail) for verdict in decision.pods.values() if verdict.reason is not Reason.HELPED
    }


@pytest.mark.parametrize(
    ("limits", "nodes"),
    [
        ({"nodes": {"max": 5}}, 3),
        ({"cpu": {"max": 20}}, 3),
        ({"cpu": {"max": 19}}, 2),
        ({"memory": {"max": "63Gi"}}, 1),
        ({"nodes": {"max": 100}, "cpu": {"max": 4000}}, 4),
    ],
    ids=str,
)
def test_growth_ends_at_the_limit_and_only_pods_that_fit_are_helped(limits, nodes) -> None:
    decision = decided(a_full_world(2), **limits)
    assert grown(decision) == {"a": (nodes, 2 * nodes)}


def test_pods_that_a_limit_keeps_waiting_are_told_which() -> None:
    assert waiting(decided(a_full_world(2), nodes={"max": 3})) == {(Reason.LIMIT_NODES, "")}
    told = '"cluster-wide", resources: cpu'
    assert waiting(decided(a_full_world(2), cpu={"max": 12})) == {(Reason.LIMIT_RESOURCES, told)}
    both = decided(a_full_world(2), cpu={"max": 8}, memory={"max": "32Gi"})
    assert waiting(both) == {(Reason.LIMIT_RESOURCES, '"cluster-wide", resources: cpu, memory')}
    assert str(both.groups["a"]) == 'exceeded quota ("cluster-wide", resources: cpu, memory)'


def test_a_cluster_that_is_full_does_not_even_look_for_options() -> None:
    decision = decided(a_full_world(2), nodes={"max": 2})
    assert waiting(decision) == {(Reason.LIMIT_NODES, "")}
    assert decision.options == ()


def test_nodes_on_their_way_count() -> None:
    world = a_full_world(2)
    ordered = replace(world.groups[0], target_size=4)
    memory = Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=NOW, count=2)}))
    decision = decided(replace(world, groups=(ordered,)), memory, cpu={"max": 20})
    assert grown(decision) == {"a": (1, 2)}


def test_gpus_are_limited_by_type() -> None:
    template = a_template(cpu="4", resources={"nvidia.com/gpu": "2"}, labels={"gpu": "t4"})
    pods = [a_pod(f"job-{number}", cpu="1", requests={"nvidia.com/gpu": "1"}) for number in range(10)]
    world = replace(
        a_world(groups=[a_group("a", template=template, max_size=20)], pods=pods),
        group_gpus={"a": GpuConfig(label="gpu", type="t4", resource="nvidia.com/gpu")},
    )
    assert grown(decided(world, gpus=[{"type": "t4", "max": 5}])) == {"a": (2, 4)}
    assert grown(decided(world, gpus=[{"type": "a100", "max": 0}])) == {"a": (5, 10)}
    none = decided(world, gpus=[{"type": "t4", "max": 0}])
    assert grown(none) == {}
    assert waiting(none) == {(Reason.LIMIT_RESOURCES, '"cluster-wide", resources: t4')}


def test_a_provider_limits_its_own_nodes() -> None:
    world = a_full_world(2)
    other = a_group("b", provider="other", max_size=20, template=FOUR)
    world = replace(
        world,
        groups=(*world.groups, other),
        resource_limits={"fake": ResourceLimits(maximum={"cpu": 12_000}), "other": ResourceLimits()},
    )
    assert decided(world).grow[-1].group == "b"
    assert sum(count for count, _ in grown(decided(world)).values()) == 4
    alone = replace(world, groups=world.groups[:1])
    assert grown(decided(alone)) == {"a": (1, 2)}
    assert waiting(decided(alone)) == {(Reason.LIMIT_RESOURCES, '"provider fake", resources: cpu')}


def test_capacity_quotas_limit_the_nodes_that_they_select_if_they_are_obeyed() -> None:
    def quota(name, resources, labels=None):
        selector = LabelSelector(match_labels=labels) if labels else None
        spec = CapacityQuotaSpec(selector=selector, limits=CapacityLimits(resources=resources))
        return CapacityQuota(metadata=ObjectMeta(name=name), spec=spec)

    world = a_full_world(2)
    for number in range(2):
        world.cluster.put_node(a_node(f"n{number}", cpu="4", provider_id=f"fake://a-{number}", labels={"team": "web"}))
    world.cluster.quotas["web"] = quota("web", {"nodes": 3}, {"team": "web"})
    world.cluster.quotas["db"] = quota("db", {"nodes": 0}, {"team": "db"})
    assert grown(decided(world)) == {"a": (4, 8)}
    obeyed = decided(world, capacityQuotas=True)
    assert grown(obeyed) == {"a": (1, 2)}
    assert waiting(obeyed) == {(Reason.LIMIT_RESOURCES, '"web", resources: nodes')}
    world.cluster.quotas["all"] = quota("all", {"cpu": "8"})
    assert grown(decided(world, capacityQuotas=True)) == {}


def test_virtual_nodes_count_for_nothing() -> None:
    world = a_full_world(2)
    world.cluster.put_node(a_node("virtual", cpu="10000", labels={"type": "virtual-kubelet"}, unschedulable=True))
    assert grown(decided(world, cpu={"max": 12})) == {"a": (1, 2)}


def test_parts_of_cores_count_as_whole_ones() -> None:
    world = a_full_world(0, template=a_template(cpu="3500m"))
    assert grown(decided(world, cpu={"max": 8})) == {"a": (2, 2)}


def test_a_limit_holds_over_all_rounds_of_a_loop() -> None:
    small = a_group("small", template=a_template(cpu="2"))
    large = a_group("large", template=a_template(cpu="8", labels={"size": "large"}))
    pods = [a_pod(f"small-{n}", cpu="2", owner="ReplicaSet/s") for n in range(3)]
    pods += [a_pod(f"large-{n}", cpu="8", node_selector={"size": "large"}, owner="ReplicaSet/l") for n in range(3)]
    decision = decided(a_world(groups=[small, large], pods=pods), cpu={"max": 20})
    sizes = {"small": 2, "large": 8}
    assert sum(sizes[grow.group] * grow.count for grow in decision.grow) <= 20
    assert sum(sizes[grow.group] * grow.count for grow in decision.grow) >= 14
    few = decided(a_world(groups=[small, large], pods=pods), nodes={"max": 4})
    assert sum(grow.count for grow in few.grow) == 4


def test_what_a_group_may_still_deliver_counts_even_if_nobody_waits_for_it() -> None:
    world = a_full_world(2)
    owing = a_group("b", size=0, max_size=20, template=FOUR)
    owing = replace(owing, target_size=3)
    backoff = Backoff(
        until=NOW + timedelta(minutes=5),
        pause=timedelta(minutes=5),
        failed_at=NOW,
        error_class=ErrorClass.OTHER,
        code="timeout",
    )
    remembered = Memory(
        health=HealthMemory(backoffs={"b": backoff}),
        orders=OrderMemory(requests={"b": ScaleUpRequest(at=NOW, count=3)}),
    )
    decision = decided(replace(world, groups=(*world.groups, owing)), remembered, nodes={"max": 7})
    assert grown(decision) == {"a": (2, 4)}
