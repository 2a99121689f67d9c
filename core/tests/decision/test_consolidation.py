"""How needed nodes are replaced by cheaper ones."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from nodewright.api import GroupOptions, Outcome, Pause, Plugin, Reason, hookimpl
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import Changes, CooldownMemory, Memory, OrderMemory, ScaleUpRequest
from nodewright.testing.builders import a_group, a_node, a_pod, a_template
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=2)
LARGE = a_template(cpu="8", memory="32Gi")
SMALL = a_template(cpu="4", memory="16Gi")
#: Nodes with any pods are needed.
BUSY = GroupOptions(scale_down_utilization_threshold=0.1)
DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"


def settings(consolidation=None, **scale_down):
    chosen = {"enabled": True, **(consolidation or {})}
    return Settings.model_validate({"scaleDown": {"consolidation": chosen, **scale_down}})


def a_large(name="l0", **fields):
    return a_node(name, cpu="8", memory="32Gi", provider_id=f"fake://large-{name[1:]}", **fields)


def a_small(name="s0", created=None, **fields):
    return a_node(name, cpu="4", provider_id=f"fake://small-{name[1:]}", created=created or NOW, **fields)


def groups(large=1, small=0, large_price=0.4, small_price=0.2, **fields):
    return [
        a_group("large", size=large, price=large_price, template=LARGE, options=BUSY),
        a_group("small", size=small, price=small_price, template=SMALL, options=BUSY, **fields),
    ]


def pods_on(node, count=3, **fields):
    return [a_pod(f"web-{node}-{number}", node=node, **{"cpu": "1", **fields}) for number in range(count)]


def a_cluster(pods=None, nodes=None, **fields):
    """One large node with three pods, which would fit on a small one at half the price."""
    return a_world(
        groups=groups(**fields),
        nodes=nodes or {"large": [a_large()]},
        pods=pods_on("l0") if pods is None else pods,
    )


def decide_on(world, memory=None, now=NOW, policy=None, **options):
    return decide(world, memory or Memory(), policy or a_policy(settings(**options)), now)[:2]


def with_pause(world, group):
    pause = Pause(why="painted")
    return replace(
        world, groups=tuple(replace(each, pause=pause) if each.id == group else each for each in world.groups)
    )


@pytest.mark.parametrize("paused", ["large", "small"])
def test_nothing_is_replaced_from_or_by_a_group_that_is_paused(paused) -> None:
    decision, _ = decide_on(with_pause(a_cluster(), paused))
    assert decision.quiet


def grown(decision):
    return {grow.group: grow.count for grow in decision.grow}


def test_a_node_whose_pods_fit_on_a_cheaper_one_gets_one_that_takes_its_place() -> None:
    decision, memory = decide_on(a_cluster())
    assert grown(decision) == {"small": 1}
    assert str(decision.grow[0].verdict) == (
        "replaces more expensive nodes (l0: saves 0.2/h (50%), moves 3 pods, score 0.5)"
    )
    assert str(decision.nodes["l0"]) == (
        "stays until the cheaper nodes that replace it are ready (saves 0.2/h (50%), moves 3 pods, score 0.5)"
    )
    assert not decision.drain
    (replacement,) = memory.consolidation.replacements
    assert (replacement.nodes, replacement.group, replacement.count) == ({"l0": "fake://large-0"}, "small", 1)
    assert memory.orders.requests["small"].count == 1
    assert memory.cooldown.cluster.grown is None


def test_nothing_is_replaced_unless_it_is_asked_for() -> None:
    decision, memory = decide_on(a_cluster(), policy=a_policy(Settings()))
    assert decision.quiet
    assert memory.consolidation.replacements == ()


class TestTheOldNodeStaysUntilTheNewOneIsReady:
    def ordered(self):
        _, memory = decide_on(a_cluster())
        return memory

    def test_while_the_new_one_is_on_its_way_nothing_else_happens(self) -> None:
        decision, memory = decide_on(a_cluster(small=1), self.ordered(), NOW + timedelta(minutes=1))
        assert decision.quiet
        assert decision.nodes["l0"].detail == "0 of 1 nodes of small are ready"
        assert len(memory.consolidation.replacements) == 1

    def test_it_goes_once_the_new_one_is_ready(self) -> None:
        later = NOW + timedelta(minutes=2)
        world = a_cluster(small=1, nodes={"large": [a_large()], "small": [a_small(created=later)]})
        decision, memory = decide_on(world, self.ordered(), later)
        assert [drain.node for drain in decision.drain] == ["l0"]
        assert str(decision.drain[0].verdict) == "cheaper nodes replace it (saves 0.2/h)"
        assert str(decision.nodes["s0"]) == "waits for the pods of the nodes that it replaces (l0)"
        assert memory.unneeded.since == {}
        assert "l0" in memory.leaving.removals

    @pytest.mark.parametrize(("paused", "drained"), [("large", []), ("small", ["l0"])])
    def test_it_stays_if_its_group_is_paused_by_then(self, paused, drained) -> None:
        later = NOW + timedelta(minutes=2)
        world = a_cluster(small=1, nodes={"large": [a_large()], "small": [a_small(created=later)]})
        decision, _ = decide_on(with_pause(world, paused), self.ordered(), later)
        assert [drain.node for drain in decision.drain] == drained

    def test_a_new_one_that_is_not_ready_does_not_count(self) -> None:
        later = NOW + timedelta(minutes=2)
        world = a_cluster(small=1, nodes={"large": [a_large()], "small": [a_small(created=later, ready=False)]})
        decision, _ = decide_on(world, self.ordered(), later)
        assert decision.quiet

    def test_a_node_that_was_there_before_does_not_count(self) -> None:
        nodes = {"large": [a_large()], "small": [a_small()]}
        before = a_cluster(small=1, nodes=nodes, pods=[*pods_on("l0"), *pods_on("s0", 4, cpu="950m")])
        _, memory = decide_on(before)
        after = a_cluster(small=2, nodes=nodes, pods=[*pods_on("l0"), *pods_on("s0", 4, cpu="950m")])
        decision, _ = decide_on(after, memory, NOW + timedelta(minutes=1))
        assert not decision.drain

    def test_pods_that_come_meanwhile_do_not_count_on_the_new_one(self) -> None:
        pods = [*pods_on("l0", 7), a_pod("waiting", cpu="2", owner="ReplicaSet/other")]
        memory = replace(self.ordered(), orders=OrderMemory(requests={"small": ScaleUpRequest(at=NOW, count=1)}))
        decision, _ = decide_on(a_cluster(small=1, pods=pods), memory, NOW + timedelta(minutes=1))
        assert decision.pods["default/waiting"].reason is Reason.HELPED

    def test_it_is_over_when_the_old_one_is_gone(self) -> None:
        later = NOW + timedelta(minutes=2)
        nodes = {"large": [a_large()], "small": [a_small(created=later)]}
        _, memory = decide_on(a_cluster(small=1, nodes=nodes), self.ordered(), later)
        gone = a_cluster(large=0, small=1, nodes={"small": [a_small(created=later)]}, pods=pods_on("s0", created=later))
        decision, memory = decide_on(gone, memory, later + timedelta(minutes=3))
        assert memory.consolidation.replacements == ()
        assert (
            decision.nodes["s0"].detail == "it is younger than 1h; its utilization is above the threshold (75% of 10%)"
        )

    def test_it_goes_on_after_a_restart(self) -> None:
        later = NOW + timedelta(minutes=2)
        nodes = {"large": [a_large()], "small": [a_small(created=later)]}
        decision, _ = decide_on(a_cluster(small=1, nodes=nodes), Memory.from_json(self.ordered().to_json()), later)
        assert [drain.node for drain in decision.drain] == ["l0"]

    def given_up(self, world, memory=None, after=timedelta(minutes=2), **options):
        decision, memory = decide_on(world, memory or self.ordered(), NOW + after, **options)
        assert memory.consolidation.replacements == ()
        assert not decision.drain
        (notice,) = decision.notices
        assert notice.reason == "ReplacementGivenUp"
        return notice.message, memory

    def test_growth_that_failed_ends_it_and_the_node_has_its_rest(self) -> None:
        memory = replace(self.ordered(), orders=OrderMemory())
        failed = Outcome(at=NOW, action="grow", target="small", ok=False, error="dry")
        message, memory = self.given_up(replace(a_cluster(), outcomes=(failed,)), memory)
        assert message == "l0 will not be replaced: small did not deliver"
        decision, _ = decide_on(
            a_cluster(), replace(memory, health=replace(memory.health, backoffs={})), NOW + timedelta(minutes=61)
        )
        assert decision.nodes["l0"].detail.startswith("left alone until 03:02:00, after a replacement;")
        decision, _ = decide_on(
            a_cluster(), replace(memory, health=replace(memory.health, backoffs={})), NOW + timedelta(minutes=62)
        )
        assert grown(decision) == {"small": 1}

    def test_machines_that_never_come_end_it(self) -> None:
        decision, memory = decide_on(a_cluster(small=1, instances=()), self.ordered(), NOW + timedelta(minutes=16))
        assert [shrink.group for shrink in decision.shrink] == ["small"]
        assert memory.consolidation.replacements == ()

    def test_pods_that_fit_no_more_end_it(self) -> None:
        created = NOW + timedelta(minutes=1)
        nodes = {"large": [a_large()], "small": [a_small(created=created)]}
        taken = [*pods_on("l0"), a_pod("other", node="s0", cpu="3")]
        message, _ = self.given_up(a_cluster(small=1, nodes=nodes, pods=taken))
        assert message.endswith("fits nowhere else any more")

    def test_prices_that_changed_end_it(self) -> None:
        created = NOW + timedelta(minutes=1)
        nodes = {"large": [a_large()], "small": [a_small(created=created)]}
        message, _ = self.given_up(a_cluster(small=1, nodes=nodes, large_price=0.15))
        assert message == "l0 will not be replaced: it saves nothing any more (-0.05/h)"
        message, _ = self.given_up(a_cluster(small=1, nodes=nodes, small_price=None))
        assert message == "l0 will not be replaced: prices are not known any more"

    def test_an_annotation_that_keeps_the_node_ends_it(self) -> None:
        created = NOW + timedelta(minutes=1)
        nodes = {"large": [a_large(annotations={DISABLED: "true"})], "small": [a_small(created=created)]}
        message, _ = self.given_up(a_cluster(small=1, nodes=nodes))
        assert message.endswith("l0: scale-down is disabled by annotation")

    def test_a_pod_that_must_not_move_holds_it_up_and_ends_it_if_it_stays(self) -> None:
        created = NOW + timedelta(minutes=1)
        nodes = {"large": [a_large()], "small": [a_small(created=created)]}
        world = a_cluster(small=1, nodes=nodes, pods=[*pods_on("l0", 2), *pods_on("l0", 1, owner="")])
        world = a_cluster(small=1, nodes=nodes, pods=[*pods_on("l0", 2), a_pod("bare", node="l0", owner="")])
        decision, memory = decide_on(world, self.ordered(), created)
        assert decision.nodes["l0"].detail == "l0: a pod must not be moved (default/bare: NotReplicated)"
        assert len(memory.consolidation.replacements) == 1
        message, _ = self.given_up(world, memory, timedelta(minutes=31))
        assert message == "l0 will not be replaced: nothing has moved since 02:00:00"

    def test_switching_consolidation_off_ends_it(self) -> None:
        created = NOW + timedelta(minutes=1)
        nodes = {"large": [a_large()], "small": [a_small(created=created)]}
        world = a_cluster(small=1, nodes=nodes)
        decision, memory = decide_on(world, self.ordered(), created, consolidation={"enabled": False})
        assert memory.consolidation.replacements == ()
        assert decision.nodes["s0"].reason is Reason.NOT_LONG_ENOUGH


class TestWhatIsWorthIt:
    def refused(self, world, memory=None, node="l0", **options):
        decision, memory = decide_on(world, memory, **options)
        assert decision.quiet
        assert memory.consolidation.replacements == ()
        assert decision.nodes[node].reason is Reason.UNCONSOLIDATABLE
        return decision.nodes[node].detail.rpartition("; ")[0]

    def test_a_saving_below_the_threshold_is_not(self) -> None:
        assert self.refused(a_cluster(small_price=0.21)) == ("saves 0.19/h (48%), moves 3 pods, score 0.48 of 0.5")
        decision, _ = decide_on(a_cluster(small_price=0.21), consolidation={"threshold": 0.45})
        assert grown(decision) == {"small": 1}

    def test_a_saving_below_the_minimum_is_not_however_little_it_disturbs(self) -> None:
        options = {"threshold": 0.01, "minSavingPercentage": 30}
        assert self.refused(a_cluster(small_price=0.3), consolidation=options) == (
            "saves 0.1/h (25%), moves 3 pods, score 0.25: less than 30 % are saved"
        )

    def test_what_would_not_be_worth_it_even_for_nothing_is_not_looked_for(self) -> None:
        nodes = {"large": [a_large(), *(a_large(f"l{number}") for number in range(1, 6))]}
        pods = [*pods_on("l0", 7, cpu="1"), *(pod for n in range(1, 6) for pod in pods_on(f"l{n}", 1, cpu="7"))]
        why = self.refused(a_cluster(large=6, nodes=nodes, pods=pods), consolidation={"threshold": 0.9, "maxNodes": 1})
        assert why == "at best saves 0.4/h (100%), moves 7 pods, score 0.38 of 0.9"

    @pytest.mark.parametrize(
        ("fields", "score"),
        [
            ({}, "0.38"),
            ({"priority": 5 * 2**25}, "0.28"),
            ({"annotations": {"controller.kubernetes.io/pod-deletion-cost": f"-{2**27}"}}, "0.75"),
        ],
    )
    def test_pods_that_cost_more_to_move_weigh_more(self, fields, score) -> None:
        nodes = {"large": [a_large("l0"), a_large("l1")]}
        world = a_cluster(large=2, nodes=nodes, pods=[*pods_on("l0", 3, **fields), *pods_on("l1", 1, cpu="7")])
        options = {"threshold": 0.1, "maxNodes": 1}
        decision, _ = decide_on(world, consolidation=options)
        assert decision.nodes["l0"].detail.endswith(f"score {score}")

    def test_a_blocked_node_stays(self) -> None:
        world = a_cluster(pods=[*pods_on("l0", 2), a_pod("bare", node="l0", owner="", cpu="2")])
        assert self.refused(world) == "a pod must not be moved (default/bare: NotReplicated)"

    def test_without_prices_nothing_happens(self) -> None:
        assert self.refused(a_cluster(large_price=None)) == "nobody can tell the price of a node of large"
        assert self.refused(a_cluster(small_price=None)) == "its pods fit on no cheaper nodes"
        assert self.refused(a_cluster(small_price=float("nan"))) == "its pods fit on no cheaper nodes"

    def test_a_young_node_stays(self) -> None:
        world = a_cluster(nodes={"large": [a_large(created=NOW - timedelta(minutes=59))]})
        assert self.refused(world) == "it is younger than 1h"

    def test_a_group_at_its_maximum_brings_nothing(self) -> None:
        assert self.refused(a_cluster(max_size=0)) == "its pods fit on no cheaper nodes"

    def test_limits_hold_while_both_nodes_are_there(self) -> None:
        options = settings().model_dump(by_alias=True, exclude_unset=True) | {"limits": {"nodes": {"max": 1}}}
        policy = a_policy(Settings.model_validate(options))
        assert self.refused(a_cluster(), policy=policy) == "its pods fit on no cheaper nodes"

    def test_nothing_is_replaced_while_pods_wait(self) -> None:
        waiting = a_pod("waiting", cpu="3500m", owner="ReplicaSet/other")
        decision, memory = decide_on(a_cluster(pods=[*pods_on("l0", 5), waiting]))
        assert grown(decision) == {"small": 1}
        assert memory.consolidation.replacements == ()
        assert decision.nodes["l0"].detail.startswith("a pod waits;")

    def test_nothing_is_replaced_in_a_group_that_grows(self) -> None:
        memory = Memory(orders=OrderMemory(requests={"large": ScaleUpRequest(at=NOW, count=1)}))
        assert self.refused(a_cluster(large=2), memory) == "large is growing"

    def test_nothing_is_replaced_while_scale_down_pauses(self) -> None:
        why = self.refused(
            a_cluster(), Memory(cooldown=CooldownMemory(cluster=Changes(grown=NOW - timedelta(minutes=9))))
        )
        assert why == "scale-down pauses after a recent change (until 02:01:00, after a scale-up)"

    def test_only_so_many_replacements_are_under_way(self) -> None:
        nodes = {"large": [a_large("l0"), a_large("l1")]}
        world = a_cluster(large=2, nodes=nodes, pods=[*pods_on("l0", 3), *pods_on("l1", 6)])
        decision, memory = decide_on(world, consolidation={"threshold": 0.3, "maxNodes": 1})
        assert grown(decision) == {"small": 1}
        assert decision.nodes["l1"].detail.startswith("another replacement comes first;")
        world = replace(world, groups=tuple(groups(large=2, small=1)))
        decision, _ = decide_on(
            world, memory, NOW + timedelta(minutes=1), consolidation={"threshold": 0.3, "maxNodes": 1}
        )
        assert decision.nodes["l1"].detail.startswith("as many replacements as allowed are under way;")


def three_for_one(**options):
    """Each node alone has too much for anything cheaper that is there: together they fill one."""
    tiny = a_template(cpu="4", memory="16Gi")
    facts = [a_group("old", size=3, price=0.2, template=tiny), a_group("large", price=0.3, template=LARGE)]
    nodes = [a_node(f"o{number}", provider_id=f"fake://old-{number}") for number in range(3)]
    pods = [pod for node in nodes for pod in pods_on(node.name, 1, cpu="2600m")]
    return decide_on(a_world(groups=facts, nodes={"old": nodes}, pods=pods), **options)


def test_several_nodes_can_give_way_to_fewer() -> None:
    decision, memory = three_for_one()
    assert grown(decision) == {"large": 1}
    assert sorted(memory.consolidation.replacements[0].nodes) == ["o0", "o1", "o2"]
    assert "saves 0.3/h (50%), moves 3 pods" in str(decision.grow[0].verdict)


@pytest.mark.parametrize(("nodes", "begins"), [(1, True), (0, False)])
def test_nodes_that_a_budget_lets_go_one_by_one_can_be_replaced_but_not_while_it_lets_none(nodes, begins) -> None:
    budget = {"nodes": nodes, "reasons": ["consolidation"]}
    decision, memory = three_for_one(disruption={"budgets": [budget]})
    assert bool(decision.grow) is bool(memory.consolidation.replacements) is begins


def test_a_node_above_the_utilization_threshold_goes_without_a_new_one_if_there_is_room() -> None:
    nodes = {"large": [a_large("l0"), a_large("l1")]}
    world = a_cluster(large=2, nodes=nodes, pods=[*pods_on("l0", 3), *pods_on("l1", 3)], small_price=None)
    decision, memory = decide_on(world)
    assert decision.quiet
    (replacement,) = memory.consolidation.replacements
    (name,) = replacement.nodes
    assert replacement.count == 0
    decision, memory = decide_on(world, memory, NOW + timedelta(seconds=10))
    assert [drain.node for drain in decision.drain] == [name]


def test_nodes_that_pods_moved_to_are_left_alone() -> None:
    nodes = {"large": [a_large("l0"), a_large("l1")]}
    world = a_cluster(large=2, nodes=nodes, pods=[*pods_on("l0", 3), *pods_on("l1", 2)], small_price=None)
    _, memory = decide_on(world)
    now = NOW + timedelta(seconds=10)
    decision, memory = decide_on(world, memory, now)
    (leaving,) = (drain.node for drain in decision.drain)
    stays = "l0" if leaving == "l1" else "l1"
    moved = [*pods_on(stays, 3), a_pod("moved", node=stays, cpu="1", created=now)]
    going = [a_large(leaving), a_large(stays)]
    _, memory = decide_on(a_cluster(large=2, nodes={"large": going}, pods=moved), memory, now)
    assert memory.consolidation.left_alone_until[stays] == now + timedelta(hours=1)


def test_a_loop_searches_for_a_limited_time_and_the_next_goes_on_where_it_ended() -> None:
    nodes = {"large": [a_large(f"l{number}") for number in range(6)]}
    pods = [pod for number in range(6) for pod in pods_on(f"l{number}", 1, cpu="7500m")]
    world = a_cluster(large=6, nodes=nodes, pods=pods)
    times = iter(range(1000))
    policy = replace(a_policy(settings({"searchTime": "4s"})), stopwatch=lambda: next(times))
    memory, looked = Memory(), []
    for _ in range(3):
        assert memory.consolidation.no_search_until is None
        decision, memory = decide_on(world, memory, policy=policy)
        looked.append([name for name, verdict in decision.nodes.items() if "no cheaper nodes" in verdict.detail])
        late = [name for name, verdict in decision.nodes.items() if "no time" in verdict.detail]
        assert late == [f"l{number}" for number in range(2 * len(looked), 6)]
    assert looked == [["l0", "l1"], ["l2", "l3"], ["l4", "l5"]]
    assert memory.consolidation.no_search_until == NOW + timedelta(minutes=5)


class TestASearchInVain:
    """A node that is full: nothing cheaper takes it over, until prices change."""

    FULL = pods_on("l0", 1, cpu="7500m")

    def test_is_not_repeated_before_some_time_has_passed(self) -> None:
        _, memory = decide_on(a_cluster(pods=self.FULL))
        assert memory.consolidation.no_search_until == NOW + timedelta(minutes=5)
        cheaper = a_cluster()
        decision, memory = decide_on(cheaper, memory, NOW + timedelta(minutes=4, seconds=59))
        assert decision.nodes["l0"].detail.startswith("nothing cheaper was found; looked for again from 02:05:00;")
        assert decision.quiet
        decision, _ = decide_on(cheaper, memory, NOW + timedelta(minutes=5))
        assert grown(decision) == {"small": 1}

    def test_is_repeated_in_each_loop_if_that_is_wanted(self) -> None:
        _, memory = decide_on(a_cluster(pods=self.FULL), consolidation={"recheck": "0s"})
        decision, _ = decide_on(a_cluster(), memory)
        assert grown(decision) == {"small": 1}

    def test_is_forgotten_when_consolidation_is_switched_off(self) -> None:
        _, memory = decide_on(a_cluster(pods=self.FULL))
        _, memory = decide_on(a_cluster(pods=self.FULL), memory, consolidation={"enabled": False})
        assert memory.consolidation.no_search_until is None

    def test_that_found_something_goes_on_at_once(self) -> None:
        _, memory = decide_on(a_cluster())
        assert memory.consolidation.replacements
        assert memory.consolidation.no_search_until is None


class TestRoomForThePodsThatComeNext:
    """The large node has room for four more of its pods, a small one for one more."""

    def pods(self, age):
        return pods_on("l0", created=NOW - age)

    def test_is_left_for_as_many_as_came_lately(self) -> None:
        decision, memory = decide_on(a_cluster(pods=self.pods(timedelta(minutes=59))))
        assert decision.quiet
        assert memory.consolidation.replacements == ()
        assert decision.nodes["l0"].detail.startswith("pods like those that came lately would find less room;")

    def test_is_not_left_for_pods_that_came_long_ago(self) -> None:
        decision, _ = decide_on(a_cluster(pods=self.pods(timedelta(hours=1))))
        assert grown(decision) == {"small": 1}

    def test_is_not_left_for_more_pods_than_came(self) -> None:
        pods = [*pods_on("l0", 2), a_pod("late", node="l0", cpu="1", created=NOW - timedelta(minutes=1))]
        decision, _ = decide_on(a_cluster(pods=pods))
        assert grown(decision) == {"small": 1}

    def test_is_not_left_if_the_settings_say_so(self) -> None:
        world = a_cluster(pods=self.pods(timedelta(minutes=1)))
        decision, _ = decide_on(world, consolidation={"reserve": "0s"})
        assert grown(decision) == {"small": 1}

    def test_may_be_on_other_nodes(self) -> None:
        world = a_cluster(
            nodes={"large": [a_large()], "": [a_node("keeper", cpu="8", memory="32Gi")]},
            pods=[*self.pods(timedelta(minutes=1)), *pods_on("keeper", 5, cpu="1")],
        )
        decision, memory = decide_on(world, consolidation={"minSavingPercentage": 10})
        assert [each.group for each in memory.consolidation.replacements] == ["small"]
        assert grown(decision) == {"small": 1}

    def test_does_not_count_on_a_new_node_that_would_soon_be_unneeded(self) -> None:
        """A small node with a single pod is below its group's threshold, and has room for another."""
        late = a_pod("late", node="l0", cpu="1", created=NOW - timedelta(minutes=1))
        world = a_cluster(pods=[late])
        assert grown(decide_on(world)[0]) == {"small": 1}
        large, small = world.groups
        lazy = replace(small, options=replace(small.options, scale_down_utilization_threshold=0.5))
        decision, _ = decide_on(replace(world, groups=(large, lazy)))
        assert decision.nodes["l0"].detail.startswith("pods like those that came lately would find less room;")


def test_room_that_pods_of_unneeded_nodes_move_to_is_not_counted_on_twice() -> None:
    """The node of no group has four cpus left: three for the pod of the unneeded node, or for those of the other."""
    facts = [*groups(small_price=None), a_group("other", size=1, template=LARGE)]
    nodes = {
        "": [a_node("keeper", cpu="8", memory="32Gi")],
        "large": [a_large()],
        "other": [a_node("o0", cpu="8", memory="32Gi", provider_id="fake://other-0")],
    }
    kept = a_pod("kept", node="keeper", cpu="4")
    free = a_world(groups=facts, nodes=nodes, pods=[kept, *pods_on("l0")])
    _, memory = decide_on(free)
    assert [list(each.nodes) for each in memory.consolidation.replacements] == [["l0"]]
    taken = a_world(groups=facts, nodes=nodes, pods=[kept, *pods_on("l0"), *pods_on("o0", 1, cpu="3")])
    decision, memory = decide_on(taken)
    assert decision.nodes["o0"].reason is Reason.NOT_LONG_ENOUGH
    assert memory.consolidation.replacements == ()


class Keep(Plugin):
    @hookimpl
    def veto_scale_down(self, node, group):
        return "it is my favourite"


class LetNobodyGo(Plugin):
    @hookimpl
    def adjust_candidates(self, nodes, now):
        return []


@pytest.mark.parametrize(
    ("plugin", "why"),
    [
        (Keep, "a plugin vetoed it (keep: it is my favourite)"),
        (LetNobodyGo, "taken off the list by a processor (a hook)"),
    ],
)
def test_plugins_that_keep_nodes_keep_them_from_being_replaced(plugin, why) -> None:
    policy = a_policy(settings(), hooks={"keep": plugin(plugin.Config())})
    decision, memory = decide_on(a_cluster(), policy=policy)
    assert decision.quiet
    assert decision.nodes["l0"].detail.startswith(f"{why};")
    assert memory.consolidation.replacements == ()


def fits(pods, rooms):
    """Tell whether *pods*, by what they ask for, can all be put into *rooms*; every way is tried."""
    if not pods:
        return True
    cpu, memory = pods[0]
    tried = set()
    for index, (free_cpu, free_memory) in enumerate(rooms):
        if (free_cpu, free_memory) not in tried and cpu <= free_cpu and memory <= free_memory:
            tried.add((free_cpu, free_memory))
            left = [*rooms[:index], (free_cpu - cpu, free_memory - memory), *rooms[index + 1 :]]
            if fits(pods[1:], left):
                return True
    return False


SIZES = {"one": (4, 0.21), "two": (8, 0.4), "three": (16, 0.75)}


def a_random_world(chance):
    """Up to seven nodes of three sizes with pods, some of which must not move."""
    nodes = {size: [] for size in SIZES}
    pods, free = [], {}
    for number in range(chance.randint(2, 7)):
        size = chance.choice(list(SIZES))
        cpu, _ = SIZES[size]
        name = f"n{number}"
        node = a_node(name, cpu=str(cpu), memory=f"{4 * cpu}Gi", provider_id=f"fake://{size}-{len(nodes[size])}")
        nodes[size].append(node)
        free[name] = (1000 * cpu, 4096 * cpu)
        for index in range(chance.randint(1, 5)):
            asked = chance.choice([500, 1000, 1500, 3000]), chance.choice([1024, 3072, 8192])
            left = free[name][0] - asked[0], free[name][1] - asked[1]
            if min(left) < 0:
                continue
            free[name] = left
            owner = "" if chance.random() < 0.05 else f"ReplicaSet/{chance.choice('abc')}"
            pods.append(a_pod(f"p{number}-{index}", node=name, cpu=f"{asked[0]}m", memory=f"{asked[1]}Mi", owner=owner))
    facts = [
        a_group(
            size,
            size=len(nodes[size]),
            price=price,
            options=BUSY,
            template=a_template(cpu=str(cpu), memory=f"{4 * cpu}Gi"),
        )
        for size, (cpu, price) in SIZES.items()
    ]
    return a_world(groups=facts, nodes=nodes, pods=pods), free


def test_in_random_worlds_what_is_begun_is_cheaper_and_has_room_for_every_pod_that_may_move() -> None:
    begun = Counter()
    for seed in range(150):
        world, free = a_random_world(Random(seed))
        decision, memory = decide_on(world, consolidation={"threshold": 0.3})
        for replacement in memory.consolidation.replacements:
            begun[bool(replacement.group), len(replacement.nodes) > 1] += 1
            leaving = [row for name in replacement.nodes for row in world.cluster.pods_on(name)]
            assert all(row.owner for row in leaving), seed
            before = sum(SIZES[world.group_of[name]][1] for name in replacement.nodes)
            cpu, price = SIZES.get(replacement.group, (0, 0.0))
            assert replacement.saving == pytest.approx(before - replacement.count * price), seed
            assert replacement.saving >= 0.1 * before, seed
            rooms = [left for name, left in free.items() if name not in replacement.nodes]
            rooms += [(1000 * cpu, 4096 * cpu)] * replacement.count
            asked = [(row.pod_class.requests["cpu"], row.pod_class.requests["memory"] >> 20) for row in leaving]
            assert fits(sorted(asked, reverse=True), rooms), seed
        assert bool(decision.grow) == any(each.group for each in memory.consolidation.replacements)
    assert all(begun[key] > 3 for key in [(True, True), (True, False), (False, True), (False, False)]), begun
