"""How one loop takes several options: until no pod is left that could be helped."""

from dataclasses import replace
from datetime import timedelta

import pytest
from msgspec.structs import replace as struct_replace
from nodewright.api import Estimate, Estimator, GroupOptions, PodSet, Reason
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory, OrderMemory
from nodewright.decision.policy import Policy
from nodewright.objects import LabelSelector
from nodewright.objects.affinity import TopologySpreadConstraint
from nodewright.objects.node import ZONE
from nodewright.scenario.rehearsal import carry_out
from nodewright.strategies.expanders import LeastNodes
from nodewright.testing.builders import a_group, a_node, a_pod, a_template, keeping_apart
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)


def decided(world, memory=None, **scale_up):
    return decide(world, memory or Memory(), a_policy(Settings.model_validate({"scaleUp": scale_up})), NOW)[:2]


def grown(decision):
    return {grow.group: (grow.count, len(grow.pods)) for grow in decision.grow}


def spread_over_zones(name, max_skew=1, **fields):
    pod = a_pod(name, labels={"app": "web"}, **fields)
    rule = TopologySpreadConstraint(
        max_skew=max_skew,
        topology_key=ZONE,
        when_unsatisfiable="DoNotSchedule",
        label_selector=LabelSelector(match_labels={"app": "web"}),
    )
    return struct_replace(pod, spec=struct_replace(pod.spec, topology_spread_constraints=(rule,)))


def zones(*names, **fields):
    return [a_group(name, template=a_template(cpu="4", zone=f"eu-{name}"), **fields) for name in names]


def started(*names):
    """One full node in each zone, so that all of them are known."""
    nodes = {name: [a_node(f"n-{name}", cpu="4", zone=f"eu-{name}", provider_id=f"fake://{name}-0")] for name in names}
    return nodes, [a_pod(f"busy-{name}", cpu="4", node=f"n-{name}") for name in names]


def test_pods_for_different_groups_are_all_helped_in_one_loop() -> None:
    groups = [a_group(name, template=a_template(cpu="4", labels={"disk": name})) for name in ("ssd", "hdd", "nvme")]
    pods = [
        a_pod(f"{disk}-{n}", cpu="2", node_selector={"disk": disk}, owner=f"ReplicaSet/{disk}")
        for disk in ("ssd", "hdd", "nvme")
        for n in range(4)
    ]
    decision, memory = decided(a_world(groups=groups, pods=pods))
    assert grown(decision) == {"ssd": (2, 4), "hdd": (2, 4), "nvme": (2, 4)}
    assert {verdict.reason for verdict in decision.pods.values()} == {Reason.HELPED}
    assert {group: request.count for group, request in memory.orders.requests.items()} == {
        "ssd": 2,
        "hdd": 2,
        "nvme": 2,
    }
    assert sorted(option.round for option in decision.options if option.verdict.reason is Reason.CHOSEN) == [1, 2, 3]


def test_with_one_option_per_loop_the_rest_waits() -> None:
    groups = [a_group(name, template=a_template(cpu="4", labels={"disk": name})) for name in ("ssd", "hdd")]
    pods = [a_pod(disk, node_selector={"disk": disk}, owner=f"ReplicaSet/{disk}") for disk in ("ssd", "hdd")]
    decision, _ = decided(a_world(groups=groups, pods=pods), optionsPerLoop=1)
    assert len(decision.grow) == 1
    assert sorted(verdict.reason for verdict in decision.pods.values()) == [Reason.HELPED, Reason.WAITING]


def test_pods_spread_over_zones_are_all_helped_in_one_loop() -> None:
    nodes, busy = started("a", "b", "c")
    groups = zones("a", "b", "c", size=1, max_size=50)
    pods = [spread_over_zones(f"web-{n}", cpu="1") for n in range(30)]
    decision, _ = decided(a_world(groups=groups, nodes=nodes, pods=[*busy, *pods]))
    assert {key for key, verdict in decision.pods.items() if verdict.reason is Reason.HELPED} == {p.key for p in pods}
    # Ten pods of one core in each zone, on nodes of four.
    assert {group: count for group, (count, _) in grown(decision).items()} == {"a": 3, "b": 3, "c": 3}
    assert sum(pods for _, pods in grown(decision).values()) == 30


def test_when_one_zone_is_full_the_others_take_no_more_than_the_skew() -> None:
    nodes, busy = started("a", "b")
    groups = [*zones("a", size=1, max_size=2), *zones("b", size=1, max_size=50)]
    pods = [spread_over_zones(f"web-{n}", cpu="1") for n in range(20)]
    decision, _ = decided(a_world(groups=groups, nodes=nodes, pods=[*busy, *pods]))
    assert {group: pods for group, (_, pods) in grown(decision).items()} == {"a": 4, "b": 5}
    assert sum(verdict.reason is not Reason.HELPED for verdict in decision.pods.values()) == 11


def test_a_group_that_is_full_leaves_the_rest_to_the_next_best() -> None:
    groups = [a_group(name, max_size=2, template=a_template(cpu="4")) for name in ("a", "b", "c")]
    decision, _ = decided(a_world(groups=groups, pods=[a_pod(f"web-{n}", cpu="2") for n in range(10)]))
    assert sorted(grown(decision).values()) == [(1, 2), (2, 4), (2, 4)]


def test_no_group_grows_by_more_than_allowed_in_one_loop_whatever_the_rounds() -> None:
    groups = [a_group(name, max_size=50, template=a_template(cpu="4")) for name in ("a", "b")]
    world = a_world(groups=groups, pods=[a_pod(f"web-{n}", cpu="2") for n in range(40)])
    decision, _ = decided(world, maxNodesPerScaleUp=3)
    assert grown(decision) == {"a": (3, 6), "b": (3, 6)}


def test_equal_options_have_their_turns_from_loop_to_loop() -> None:
    memory, chosen = Memory(), []
    groups = [a_group(name, template=a_template(cpu="4")) for name in ("a", "b", "c")]
    for _ in range(4):
        decision, after = decided(a_world(groups=groups, pods=[a_pod("web", cpu="2")]), memory)
        memory = Memory(orders=OrderMemory(turn=after.orders.turn))
        chosen += [grow.group for grow in decision.grow]
    assert chosen == ["a", "b", "c", "a"]


def test_of_equally_good_options_the_one_that_helps_most_pods_is_taken() -> None:
    groups = [
        a_group("a", max_size=1, template=a_template(cpu="4")),
        a_group("b", max_size=1, template=a_template(cpu="8")),
    ]
    world = a_world(groups=groups, pods=[a_pod(f"web-{n}", cpu="2") for n in range(4)])
    policy = a_policy(expanders={"least-nodes": LeastNodes(LeastNodes.Config())})
    assert grown(decide(world, Memory(), policy, NOW)[0]) == {"b": (1, 4)}


def test_growth_is_spread_over_similar_groups() -> None:
    sizes = {"a": 4, "b": 1, "c": 2}
    nodes, busy = {}, []
    for name, size in sizes.items():
        nodes[name] = [a_node(f"{name}{n}", zone=f"eu-{name}", provider_id=f"fake://{name}-{n}") for n in range(size)]
        busy += [a_pod(f"busy-{name}{n}", cpu="4", node=f"{name}{n}") for n in range(size)]
    groups = [a_group(name, size=size, zone=f"eu-{name}", max_size=20) for name, size in sizes.items()]
    world = a_world(groups=groups, nodes=nodes, pods=[*busy, *(a_pod(f"web-{n}", cpu="2") for n in range(10))])
    decision, _ = decided(world, balanceSimilarGroups=True)
    assert grown(decision) == {"b": (3, 6), "c": (2, 4)}
    (option,) = {option.nodes for option in decision.options if option.round == 1}
    assert option == 5
    alone, _ = decided(world)
    assert len(alone.grow) == 1


def test_growth_that_is_spread_may_be_more_than_one_group_could_take() -> None:
    groups = [a_group(name, zone=f"eu-{name}", max_size=2) for name in ("a", "b", "c")]
    world = a_world(groups=groups, pods=[a_pod(f"web-{n}", cpu="4") for n in range(5)])
    decision, _ = decided(world, balanceSimilarGroups=True, optionsPerLoop=1)
    assert sum(grow.count for grow in decision.grow) == 5
    assert {option.nodes for option in decision.options} == {5}


def test_a_group_that_is_used_whole_grows_to_its_maximum_or_not_at_all() -> None:
    whole = GroupOptions(zero_or_max_node_scaling=True)
    group = a_group("a", max_size=8, template=a_template(cpu="4"), options=whole)
    world = a_world(groups=[group], pods=[a_pod("web", cpu="2")])
    decision, _ = decided(world)
    assert grown(decision) == {"a": (8, 1)}
    policy = a_policy(Settings.model_validate({"limits": {"nodes": {"max": 7}}}))
    decision, _, _ = decide(world, Memory(), policy, NOW)
    assert decision.grow == ()
    assert decision.pods["default/web"].reason is Reason.LIMIT_NODES


def test_a_group_that_is_used_whole_does_not_grow_if_all_of_its_nodes_together_help_no_pod() -> None:
    # One node of it would leave the zones even enough, but each brings another pod that counts.
    template = replace(a_template(cpu="4", zone="eu-a"), pods=(a_pod("proxy", labels={"app": "web"}),))
    whole = GroupOptions(zero_or_max_node_scaling=True)
    nodes, running = started("b")
    pending = spread_over_zones("web", max_skew=2, cpu="2")
    world = a_world(groups=[a_group("a", template=template, options=whole)], nodes=nodes, pods=[*running, pending])
    decision, _ = decided(world)
    assert decision.grow == ()
    assert decision.pods["default/web"].reason is Reason.WAITING


@pytest.mark.parametrize("setting", ["maxBinpackingTime", "timeBudget"])
def test_when_time_is_up_what_was_found_so_far_is_done(setting) -> None:
    groups = [a_group(name, max_size=1, template=a_template(cpu="4")) for name in "abcdef"]
    world = a_world(groups=groups, pods=[a_pod(f"web-{n}", cpu="4") for n in range(6)])
    policy = a_policy(Settings.model_validate({"scaleUp": {setting: "3s"}}))
    ticks = iter(range(1000))
    slow = Policy(**{**vars(policy), "stopwatch": lambda: float(next(ticks))})
    decision, _, _ = decide(world, Memory(), slow, NOW)
    assert 1 <= len(decision.grow) < 6
    assert len([verdict for verdict in decision.pods.values() if verdict.reason is Reason.WAITING]) >= 1


def test_nodes_on_their_way_are_kept_for_the_pods_that_they_were_ordered_for() -> None:
    def apps():
        large = [a_pod(f"large-{n}", cpu="3", owner="ReplicaSet/large") for n in range(2)]
        small = [a_pod(f"small-{n}", cpu="1", owner="ReplicaSet/small") for n in range(2)]
        return [*small, *large]

    groups = [a_group("a", template=a_template(cpu="4"))]
    world = a_world(groups=groups, pods=apps())
    decision, memory = decided(world)
    assert grown(decision) == {"a": (2, 4)}
    # The small ones come first and would share a node, which leaves too little for one of the large.
    again, after = decided(carry_out(decision, world), memory)
    assert again.grow == ()
    assert {verdict.reason for verdict in again.pods.values()} == {Reason.FITS}
    assert after.orders.intentions == memory.orders.intentions
    forgetful = Memory(orders=OrderMemory(requests=memory.orders.requests))
    assert decided(carry_out(decision, world), forgetful)[0].grow != ()


def test_what_nodes_were_meant_for_is_forgotten_with_the_order() -> None:
    world = a_world(groups=[a_group("a", template=a_template(cpu="4"))], pods=[a_pod("web", cpu="3")])
    _, memory = decided(world)
    assert [(each.group, each.count) for each in memory.orders.intentions] == [("a", 1)]
    there = a_world(
        groups=[a_group("a", size=1, template=a_template(cpu="4"))],
        nodes={"a": [a_node("n", cpu="4", provider_id="fake://a-0")]},
    )
    assert decided(there, memory)[1].orders.intentions == ()


def test_pods_that_come_later_take_what_is_left_of_nodes_on_their_way() -> None:
    groups = [a_group("a", template=a_template(cpu="4"))]
    world = a_world(groups=groups, pods=[a_pod("web", cpu="3", owner="ReplicaSet/web")])
    decision, memory = decided(world)
    for name, cpu in (("fits", "1"), ("too-large", "2")):
        world.cluster.put_pod(a_pod(name, cpu=cpu, owner=f"ReplicaSet/{name}"))
    again, _ = decided(carry_out(decision, world), memory)
    assert {key: verdict.reason for key, verdict in again.pods.items()} == {
        "default/web": Reason.FITS,
        "default/fits": Reason.FITS,
        "default/too-large": Reason.HELPED,
    }


@pytest.mark.parametrize("whole", [True, False])
def test_nothing_is_ordered_for_an_estimate_that_comes_to_nothing(whole) -> None:
    class Optimist(Estimator):
        """Promises room to a pod that is too large."""

        def estimate(self, group, pods, simulation, limit):
            return Estimate(nodes=1, pods=tuple(PodSet(pod=big, keys=each.keys) for each in pods))

    big = a_pod("big", cpu="8", owner="ReplicaSet/big")
    options = GroupOptions(zero_or_max_node_scaling=whole)
    group = a_group("a", max_size=8, template=a_template(cpu="4"), options=options)
    policy = a_policy(estimator=Optimist(Optimist.Config()))
    decision, _, _ = decide(a_world(groups=[group], pods=[big, a_pod("small")]), Memory(), policy, NOW)
    assert decision.grow == ()


def test_nodes_that_were_ordered_for_pods_that_keep_apart_hold_all_of_them_in_the_next_loop_too() -> None:
    kinds = [keeping_apart(a_pod(f"web-{app}", cpu="1", owner=f"ReplicaSet/web-{app}")) for app in range(30)]
    pods = [
        struct_replace(pod, metadata=struct_replace(pod.metadata, name=f"{pod.metadata.name}-{number}"))
        for pod in kinds
        for number in range(20)
    ]
    world = a_world(groups=[a_group("a", max_size=200, template=a_template(cpu="8", memory="32Gi"))], pods=pods)
    decision, memory = decided(world)
    assert grown(decision) == {"a": (75, 600)}
    again, _ = decided(carry_out(decision, world), memory)
    assert again.grow == ()
