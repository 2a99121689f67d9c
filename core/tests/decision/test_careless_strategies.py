"""Strategies and hooks that lie about types, or change what they get, are named; decisions are as without them."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import (
    Estimate,
    Estimator,
    Expander,
    Notice,
    PendingPodsProcessor,
    Plugin,
    PodSet,
    PricingModel,
    Reason,
    ScaleDownCandidatesProcessor,
    hookimpl,
)
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.strategies.binpacking import Binpacking
from nodewright.strategies.expanders import LeastWaste
from nodewright.testing import EPOCH, a_group, a_node, a_pod, a_template, pods_like
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)


TEMPLATE = a_template(cpu="4", labels={"team": "web"})


def a_needy_world():
    """A world with two groups, and pods for which one of them has to grow."""

    return a_world(
        groups=[a_group("a", size=1, template=TEMPLATE), a_group("b", template=TEMPLATE)],
        nodes={"a": [a_node("n", cpu="4", labels={"team": "web"})]},
        pods=[a_pod("runs", cpu="3", node="n"), *(a_pod(f"web-{number}", cpu="3") for number in range(2))],
    )


def decided(policy):
    return decide(a_needy_world(), Memory(), policy, NOW).decision


def faults(policy):
    return set(policy.faults.counts)


class Estimating(Estimator):
    """Answers with what a function makes of its arguments."""

    def __init__(self, answer):
        super().__init__(self.Config())
        self.answer = answer

    def estimate(self, group, pods, simulation, limit):
        return self.answer(pods, simulation, limit)


class Choosing(Expander):
    """Has a plan, or a choice, that a function makes."""

    def __init__(self, best=lambda options, context: options, plan=lambda options, context: None):
        super().__init__(self.Config())
        self.best_of, self.plan_of = best, plan

    def plan(self, options, context):
        return self.plan_of(options, context)

    def best(self, options, context):
        return self.best_of(options, context)


class Sieving(PendingPodsProcessor):
    """Answers with what a function makes of the pods."""

    def __init__(self, answer):
        super().__init__(self.Config())
        self.answer = answer

    def process(self, pods, context):
        return self.answer(pods, context)


class Skipping(ScaleDownCandidatesProcessor):
    """Answers with what a function makes of the nodes."""

    def __init__(self, answer):
        super().__init__(self.Config())
        self.answer = answer

    def process(self, nodes, context):
        return self.answer(nodes, context)


FOREIGN = pods_like(a_pod("foreign"), 1)


@pytest.mark.parametrize(
    "answer",
    [
        lambda pods, simulation, limit: Estimate(nodes="3", pods=pods),
        lambda pods, simulation, limit: Estimate(nodes=True, pods=pods),
        lambda pods, simulation, limit: Estimate(nodes=1.0, pods=pods),
        lambda pods, simulation, limit: Estimate(nodes=-1, pods=pods),
        lambda pods, simulation, limit: Estimate(nodes=limit + 1, pods=pods),
        lambda pods, simulation, limit: Estimate(nodes=1, pods=None),
        lambda pods, simulation, limit: Estimate(nodes=1, pods=(FOREIGN,)),
        lambda pods, simulation, limit: Estimate(nodes=1, pods=(*pods, *pods)),
        lambda pods, simulation, limit: Estimate(nodes=1, pods=(PodSet(pod=pods[0].pod, keys=(1,)),)),
        lambda pods, simulation, limit: simulation.fork().__enter__() and Estimate(nodes=1, pods=pods),
    ],
)
def test_an_estimate_that_is_none_is_the_fault_of_the_estimator_and_not_used(answer) -> None:
    policy = a_policy(estimator=Estimating(answer))
    assert decided(policy) == decided(a_policy())
    assert faults(policy) == {("binpacking", "estimate")}


def test_an_estimate_for_some_of_the_pods_is_taken() -> None:
    policy = a_policy(estimator=Estimating(lambda pods, simulation, limit: Estimate(nodes=1, pods=pods[:1])))
    assert decided(policy).grow != ()
    assert faults(policy) == set()


@pytest.mark.parametrize(
    "plan",
    [
        lambda option: replace(option, nodes="1"),
        lambda option: replace(option, nodes=True),
        lambda option: replace(option, similar=("nowhere",)),
        lambda option: replace(option, pods=None),
        lambda option: replace(option, pods=(PodSet(pod=None, keys=option.pods[0].keys),)),
        lambda option: replace(option, group="a"),
    ],
)
def test_a_plan_of_wrong_types_is_no_plan(plan) -> None:
    policy = a_policy(expanders={"planner": Choosing(plan=lambda options, context: [plan(options[0])])})
    assert decided(policy).grow != ()
    assert faults(policy) == {("planner", "plan")}


@pytest.mark.parametrize(
    "answer",
    [
        lambda pods, context: [PodSet(pod=pods[0].pod, keys=(1,))],
        lambda pods, context: [PodSet(pod=pods[0].pod, keys="web-0")],
        lambda pods, context: [PodSet(pod="web", keys=pods[0].keys)],
        lambda pods, context: [FOREIGN],
        lambda pods, context: pods.clear(),
    ],
)
def test_sets_of_pods_of_wrong_types_leave_the_list_as_it_was(answer) -> None:
    policy = a_policy()
    sound = decided(policy)
    policy = replace(policy, pending_pods={"sieve": Sieving(answer), **policy.pending_pods})
    assert decided(policy) == sound
    assert faults(policy) == {("sieve", "process")}


def test_what_a_processor_that_failed_had_placed_is_gone() -> None:
    def place_and_fail(pods, context):
        context.simulation.add_nodes(context.groups[0], 5)
        raise LookupError("too late")

    policy = a_policy()
    sound = decided(policy)
    policy = replace(policy, pending_pods={"sieve": Sieving(place_and_fail), **policy.pending_pods})
    assert decided(policy) == sound


def test_what_a_processor_places_stays_placed() -> None:
    def place(pods, context):
        nodes = context.simulation.add_nodes(context.groups[0], 1)
        placed = {key for each in pods for key in context.simulation.place(each, on=nodes)}
        return [left for each in pods if (left := each.without(placed))]

    policy = a_policy()
    policy = replace(policy, pending_pods={"sieve": Sieving(place), **policy.pending_pods})
    assert sum(len(growth.pods) for growth in decided(policy).grow) == 1


def test_a_simulation_that_a_strategy_keeps_can_do_nothing_later() -> None:
    kept = []

    def keep(options, context):
        kept.append(context.simulation)
        return options

    decided(a_policy(expanders={"keeper": Choosing(keep)}))
    with pytest.raises(RuntimeError, match="lent for one call"):
        kept[0].add_nodes(a_group("a", template=a_template()), 1)


@pytest.mark.parametrize("reason", ["Filtered", None])
def test_a_processor_without_a_proper_reason_has_filtered(reason) -> None:
    sieve = Sieving(lambda pods, context: [])
    sieve.reason = reason
    policy = replace(a_policy(), pending_pods={"sieve": sieve})
    assert {verdict.reason for verdict in decided(policy).pods.values()} == {Reason.FILTERED}
    assert faults(policy) == {("sieve", "reason")}


def test_an_attribute_that_can_not_be_read_counts_as_its_default() -> None:
    class Riddle:
        def __get__(self, strategy, kind):
            raise LookupError("no answer")

    class Estimate(Estimating):
        by_template = Riddle()

    class Choose(Choosing):
        asks_outside = Riddle()

    class Sieve(Sieving):
        adds_pods = Riddle()

    def ask(pods, simulation, limit):
        return Binpacking(Binpacking.Config()).estimate(a_group("a", template=TEMPLATE), pods, simulation, limit)

    policy = a_policy(estimator=Estimate(ask), expanders={"choose": Choose()})
    policy = replace(policy, pending_pods={"sieve": Sieve(lambda pods, context: pods), **policy.pending_pods})
    assert decided(policy).grow != ()
    assert faults(policy) == {("binpacking", "by_template"), ("choose", "asks_outside"), ("sieve", "adds_pods")}


@pytest.mark.parametrize(
    "report",
    [
        lambda context: context.notice(3, "x"),
        lambda context: context.notice("NoPrices", None),
        lambda context: context.notices.append("no prices"),
        lambda context: context.notices.append(Notice(reason="NoPrices", message=None)),
    ],
)
def test_a_notice_is_made_of_text(report) -> None:
    def best(options, context):
        report(context)
        return options

    policy = a_policy(expanders={"teller": Choosing(best), "least-waste": LeastWaste(LeastWaste.Config())})
    decision = decided(policy)
    assert decision.notices == ()
    assert faults(policy) == {("teller", "best")}


def test_an_expander_can_not_take_back_what_another_reported() -> None:
    def tell(options, context):
        context.notice("First", "said")
        return options

    policy = a_policy(
        expanders={
            "teller": Choosing(tell),
            "eraser": Choosing(lambda options, context: context.notices.clear() or options),
        }
    )
    assert [notice.reason for notice in decided(policy).notices] == ["First"]


def test_an_expander_can_not_change_the_prices_that_others_see() -> None:
    class Free(PricingModel):
        def node_price(self, template, start, end):
            return 0.0

        pod_price = node_price

    def change(options, context):
        context.pricing["fake"].currency = "EUR"
        return options

    policy = a_policy(expanders={"changer": Choosing(change)})
    decide(replace(a_needy_world(), pricing={"fake": Free()}), Memory(), policy, NOW)
    assert faults(policy) == {("changer", "best")}


def _change(mapping):
    mapping["team"] = "changed"


class Meddler(Plugin):
    """Changes what each hook gives to it."""

    @hookimpl
    def adjust_groups(self, groups):
        _change(groups[0].template.labels)

    @hookimpl
    def adjust_template(self, group, template):
        _change(template.allocatable)

    @hookimpl
    def adjust_pending_pods(self, pods, now):
        _change(pods[0].pod.metadata.labels)

    @hookimpl
    def adjust_estimate(self, group, pods, estimate):
        _change(estimate.pods[0].pod.requests)

    @hookimpl
    def adjust_options(self, options):
        _change(options[0].group.template.labels)

    @hookimpl
    def veto_scale_up(self, option):
        _change(option.pods[0].pod.spec.node_selector)

    @hookimpl
    def on_decision(self, decision):
        _change(decision.pods)


def test_a_hook_that_changes_what_it_is_given_is_named_and_changes_nothing() -> None:
    policy = a_policy(hooks={"meddler": Meddler(Meddler.Config())})
    decision = decided(policy)
    policy.hooks.on_decision(decision)
    assert decision == decided(a_policy())
    implemented = {name for name in vars(Meddler) if not name.startswith("_")}
    assert faults(policy) == {("meddler", hook) for hook in implemented}


@pytest.mark.parametrize("change", [lambda nodes: nodes.clear(), lambda nodes: _change(nodes[0].metadata.labels)])
def test_a_processor_that_changes_the_nodes_it_is_given_is_named(change) -> None:
    policy = replace(
        a_policy(), scale_down_candidates={"skipper": Skipping(lambda nodes, context: change(nodes) or nodes)}
    )
    idle = a_world(groups=[a_group("a", size=2, template=a_template(cpu="4"))], nodes={"a": [a_node("n"), a_node("m")]})
    decide(idle, Memory(), policy, NOW)
    assert faults(policy) == {("skipper", "process")}


@pytest.mark.parametrize(
    "changes", [{"max_size": "5"}, {"options": None}, {"pools": [1]}, {"hourly_price": float("nan")}]
)
def test_groups_of_wrong_types_from_a_hook_change_nothing(changes) -> None:
    class Adjusting(Plugin):
        @hookimpl
        def adjust_groups(self, groups):
            return [replace(group, **changes) for group in groups]

    policy = a_policy(hooks={"adjusting": Adjusting(Adjusting.Config())})
    assert decided(policy) == decided(a_policy())
    assert faults(policy) == {("adjusting", "adjust_groups")}


@pytest.mark.parametrize("changes", [{"allocatable": {"cpu": "4"}}, {"labels": {"a": 1}}, {"pods": ["agent"]}])
def test_a_template_of_wrong_types_from_a_hook_changes_nothing(changes) -> None:
    class Adjusting(Plugin):
        @hookimpl
        def adjust_template(self, template):
            return replace(template, **changes)

    policy = a_policy(hooks={"adjusting": Adjusting(Adjusting.Config())})
    assert decided(policy) == decided(a_policy())
    assert faults(policy) == {("adjusting", "adjust_template")}
