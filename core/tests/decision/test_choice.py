"""How expanders choose: chains, plans, notices and prices."""

from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace as struct_replace
from nodewright.api import (
    Decision,
    Expander,
    GroupOptions,
    Notice,
    Option,
    Plugin,
    PodSet,
    PricingModel,
    Reason,
    hookimpl,
)
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.objects.affinity import TopologySpreadConstraint
from nodewright.objects.node import ZONE
from nodewright.objects.selector import LabelSelector
from nodewright.strategies.expanders import LeastWaste, Random
from nodewright.strategies.price import Price
from nodewright.strategies.priority import CONFIG_MAP, Priority
from nodewright.testing import EPOCH, a_group, a_node, a_pod, a_template
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
FOUR_CPUS = a_template(cpu="4", memory="64Gi")


class Chooser(Expander):
    """Answers with what a function makes of the options; remembers what it was asked."""

    def __init__(self, answer, plan=lambda options, context: None):
        super().__init__(self.Config())
        self.answer, self.make_plan = answer, plan
        self.asked = []

    def plan(self, options, context):
        return self.make_plan(options, context)

    def best(self, options, context):
        self.asked.append([option.group.id for option in options])
        return self.answer(options)


def planner(plan):
    return Chooser(lambda options: options[-1:], plan)


def everything(options):
    return options


def pods(count, **fields):
    return [a_pod(f"web-{number}", **fields) for number in range(count)]


def two_groups(count=8, **fields):
    groups = [a_group(name, template=FOUR_CPUS, price=price, **fields) for name, price in (("a", 1.0), ("b", 2.0))]
    return a_world(groups=groups, pods=pods(count, cpu="1"))


def decision_of(world, *expanders, hooks=None, settings=None):
    named = {f"{number}-{type(each).__name__.lower()}": each for number, each in enumerate(expanders)}
    policy = a_policy(settings, expanders=named, hooks=hooks)
    decision, _, _ = decide(world, Memory(), policy, NOW)
    return decision, policy


def grown(decision):
    return {grow.group: (grow.count, len(grow.pods)) for grow in decision.grow}


def split(options, context):
    """Half of the pods for each of two groups."""
    ((first,), (second,)) = (option.pods for option in options)
    return [
        replace(options[0], nodes=1, pods=(PodSet(pod=first.pod, keys=first.keys[:4]),)),
        replace(options[1], nodes=1, pods=(PodSet(pod=second.pod, keys=second.keys[4:]),)),
    ]


def test_a_chain_goes_on_until_one_option_is_left() -> None:
    first, second, third = Chooser(everything), Chooser(lambda options: options[1:]), Chooser(everything)
    decision, _ = decision_of(two_groups(), first, second, third)
    assert (first.asked, second.asked, third.asked) == ([["a", "b"]], [["a", "b"]], [])
    assert grown(decision) == {"b": (2, 8)}


def test_a_single_option_is_shown_to_the_first_expander_only() -> None:
    first, second = Chooser(everything), Chooser(everything)
    decision, _ = decision_of(a_world(groups=[a_group("a")], pods=pods(1)), first, second)
    assert (first.asked, second.asked) == ([["a"]], [])
    assert grown(decision) == {"a": (1, 1)}


def test_nothing_grows_if_an_expander_keeps_nothing() -> None:
    last = Chooser(everything)
    decision, policy = decision_of(two_groups(), Chooser(lambda options: []), last)
    assert grown(decision) == {}
    assert last.asked == []
    assert not policy.faults.counts


def test_an_expander_that_fails_has_kept_all_options() -> None:
    decision, policy = decision_of(two_groups(), Chooser(lambda options: 1 / 0), Chooser(lambda options: options[1:]))
    assert grown(decision) == {"b": (2, 8)}
    assert policy.faults.counts == {("0-chooser", "best"): 1}
    (grow,) = decision.grow
    assert grow.verdict.detail == "best of 2 options by 1-chooser (0-chooser failed)"


def test_ties_fall_by_the_seed() -> None:
    groups = [a_group(f"group-{number}") for number in range(8)]

    def chosen(seed, *expanders):
        decision, _ = decision_of(a_world(groups=groups, pods=pods(1)), *expanders, settings=Settings(seed=seed))
        return decision.grow[0].group

    waste, chance = LeastWaste(LeastWaste.Config()), Random(Random.Config())
    assert [chosen(seed, waste) for seed in range(20)] == [chosen(seed, waste) for seed in range(20)]
    assert len({chosen(seed, waste) for seed in range(50)}) > 4
    assert len({chosen(seed, waste, chance) for seed in range(50)}) > 4


def test_a_plan_grows_several_groups_at_once_and_ends_the_chain() -> None:
    last = Chooser(everything)
    decision, policy = decision_of(two_groups(), planner(split), last)
    assert grown(decision) == {"a": (1, 4), "b": (1, 4)}
    assert last.asked == []
    assert {verdict.reason for verdict in decision.pods.values()} == {Reason.HELPED}
    assert [(each.group, each.nodes, each.pods) for each in decision.options] == [("a", 1, 4), ("b", 1, 4)]
    assert decision.grow[0].verdict.detail == "part of the plan of 0-chooser for 2 options"
    assert not policy.faults.counts


def test_without_a_plan_the_expander_chooses() -> None:
    decision, _ = decision_of(two_groups(), planner(lambda options, context: None))
    assert grown(decision) == {"b": (2, 8)}


def test_of_a_plan_only_what_holds_in_simulation_is_taken() -> None:
    def optimist(options, context):
        return [replace(options[0], nodes=1), replace(options[1], nodes=2, pods=())]

    decision, _ = decision_of(two_groups(), planner(optimist))
    # The plan has one node of four CPUs for eight pods of one CPU each, and nodes for no pod. The rest is left over.
    assert grown(decision) == {"a": (2, 8)}
    assert [(each.group, each.round) for each in decision.options if each.verdict.reason is Reason.CHOSEN] == [
        ("a", 1),
        ("a", 2),
    ]


def test_parts_of_a_plan_for_one_group_are_one_growth() -> None:
    def in_two_parts(options, context):
        (same,) = options[0].pods
        return [
            replace(options[0], nodes=1, pods=(PodSet(pod=same.pod, keys=same.keys[:4]),)),
            replace(options[0], nodes=1, pods=(PodSet(pod=same.pod, keys=same.keys[4:]),)),
        ]

    decision, _ = decision_of(two_groups(), planner(in_two_parts))
    assert grown(decision) == {"a": (2, 8)}


def test_pods_spread_over_the_groups_of_a_plan_rise_in_all_of_them_together() -> None:
    zones = [a_group(zone, zone=zone) for zone in ("east", "west")]
    full = [a_node(f"full-{zone}", zone=zone, cpu="1", pods=0) for zone in ("east", "west")]
    rule = TopologySpreadConstraint(topology_key=ZONE, label_selector=LabelSelector(match_labels={"app": "db"}))
    spread = [
        struct_replace(pod, spec=struct_replace(pod.spec, topology_spread_constraints=(rule,)))
        for pod in (a_pod(f"db-{number}", cpu="1", labels={"app": "db"}) for number in range(8))
    ]

    def half_and_half(options, context):
        (same,) = context.pending
        return [
            replace(options[0], nodes=1, pods=(replace(same, keys=same.keys[:4]),)),
            replace(options[1], nodes=1, pods=(replace(same, keys=same.keys[4:]),)),
        ]

    world = a_world(groups=zones, nodes={"": full}, pods=spread)
    decision, policy = decision_of(world, planner(half_and_half))
    # An option alone may put no more than one of them into its zone.
    assert grown(decision) == {"east": (1, 4), "west": (1, 4)}
    assert not policy.faults.counts


def test_a_plan_keeps_the_limits_of_the_cluster_and_of_the_loop() -> None:
    few_nodes = Settings.model_validate({"limits": {"nodes": {"max": 1}}})
    decision, _ = decision_of(two_groups(), planner(lambda options, context: None), settings=few_nodes)
    assert grown(decision) == {"b": (1, 4)}

    seen = []
    decision, _ = decision_of(
        two_groups(), planner(lambda options, context: seen.append(context.room) or options[:1]), settings=few_nodes
    )
    assert seen == [1]
    assert grown(decision) == {"a": (1, 4)}

    one_by_one = Settings.model_validate({"scaleUp": {"optionsPerLoop": 1}})
    decision, _ = decision_of(two_groups(), planner(split), settings=one_by_one)
    assert grown(decision) == {"a": (1, 4)}


@pytest.mark.parametrize(
    "plan",
    [
        lambda options, context: [replace(options[0], nodes=options[0].limit + 1)],
        lambda options, context: [replace(options[0], nodes=0)],
        lambda options, context: [options[0], options[0]],
        lambda options, context: [options[0], replace(options[1], nodes=1)],
        lambda options, context: [replace(options[0], group=a_group("c"))],
        lambda options, context: [replace(options[0], pods=(PodSet(pod=a_pod("x"), keys=("default/x",)),))],
        lambda options, context: ["a"],
        lambda options, context: 1 / 0,
    ],
    ids=["more-nodes", "no-node", "twice", "pods-twice", "other-group", "other-pods", "no-option", "raises"],
)
def test_a_plan_that_breaks_the_contract_is_a_fault_and_the_expander_chooses(plan) -> None:
    decision, policy = decision_of(two_groups(), planner(plan))
    assert grown(decision) == {"b": (2, 8)}
    assert policy.faults.counts == {("0-chooser", "plan"): 1}


def test_a_plan_takes_groups_that_are_used_whole_whole_and_within_all_limits() -> None:
    whole = two_groups(max_size=3, options=GroupOptions(zero_or_max_node_scaling=True))
    decision, _ = decision_of(whole, planner(split))
    assert grown(decision) == {"b": (3, 8)}

    def both(options, context):
        return [replace(each, pods=part.pods) for each, part in zip(options, split(options, context), strict=True)]

    decision, _ = decision_of(whole, planner(both))
    assert grown(decision) == {"a": (3, 4), "b": (3, 4)}
    for limits in ({"nodes": {"max": 5}}, {"cpu": {"max": 20}}):
        decision, _ = decision_of(whole, planner(both), settings=Settings.model_validate({"limits": limits}))
        assert [grow.count for grow in decision.grow] == [3]


def test_vetoes_take_single_groups_out_of_a_plan() -> None:
    class NoB(Plugin):
        @hookimpl
        def veto_scale_up(self, option: Option) -> str | None:
            return "not b" if option.group.id == "b" else None

    decision, _ = decision_of(two_groups(), planner(split), hooks={"no-b": NoB(NoB.Config())})
    # The pods that the plan had for b are left to the next round.
    assert grown(decision) == {"a": (2, 8)}
    assert [(each.group, str(each.verdict.reason), each.round) for each in decision.options] == [
        ("a", "Chosen", 1),
        ("b", "Vetoed", 1),
        ("a", "Chosen", 2),
        ("b", "NotChosen", 2),
    ]


def test_what_an_expander_tries_in_simulation_leaves_no_trace() -> None:
    def vandal(options, context):
        for option in options:
            fresh = context.simulation.add_nodes(option.group, 2)
            context.simulation.place(option.pods[0], on=fresh)
            assert context.simulation.free(fresh[0])["cpu"] in (0, 4000)

    decision, policy = decision_of(two_groups(), planner(vandal))
    assert grown(decision) == {"b": (2, 8)}
    assert not policy.faults.counts


def test_notices_are_part_of_the_decision_and_survive_json() -> None:
    priority = Priority(Priority.Config())
    decision, _ = decision_of(two_groups(), priority)
    assert decision.notices == (
        Notice(
            reason="PriorityConfigMapInvalid",
            message=f"there is no ConfigMap {CONFIG_MAP}; all options are kept",
            config_map=CONFIG_MAP,
        ),
    )
    assert msgspec.json.decode(msgspec.json.encode(decision), type=Decision) == decision


def test_priorities_come_from_the_world() -> None:
    world = replace(two_groups(), config_maps={CONFIG_MAP: {"priorities": "{1: [a], 2: [b]}"}})
    decision, _ = decision_of(world, Priority(Priority.Config()))
    assert grown(decision) == {"b": (2, 8)}
    assert decision.notices == ()


def test_a_price_that_raises_is_unknown_and_a_fault_of_its_provider() -> None:
    class Broken(PricingModel):
        def node_price(self, template, start, end):
            raise AssertionError("the core has asked already")

        def pod_price(self, pod, start, end):
            raise KeyError("no such price")

    world = replace(two_groups(), pricing={"fake": Broken()})
    decision, policy = decision_of(world, Price(Price.Config()), Chooser(lambda options: options[1:]))
    assert grown(decision) == {"b": (2, 8)}
    assert [notice.reason for notice in decision.notices] == ["NoPrices"]
    assert policy.faults.counts == {("fake", "pod_price"): 2}


def test_an_option_that_a_hook_took_off_is_told_as_such() -> None:
    class OnlyA(Plugin):
        @hookimpl
        def adjust_options(self, options):
            return [option for option in options if option.group.id == "a"]

    policy = a_policy()
    policy.hooks.register("only-a", OnlyA(OnlyA.Config()))
    decision, _, _ = decide(two_groups(), Memory(), policy, NOW)
    assert decision.grow[0].verdict.detail == "the only option"
    assert {option.group: option.verdict.reason for option in decision.options} == {
        "a": Reason.CHOSEN,
        "b": Reason.FILTERED,
    }
