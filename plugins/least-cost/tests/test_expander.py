"""What the expander plans, and for whom it does not."""

from dataclasses import replace
from datetime import timedelta

import pytest
from msgspec.structs import replace as replace_struct
from nodewright.api import PricingModel
from nodewright.decide import decide
from nodewright.memory import Memory
from nodewright.objects.affinity import Affinity, PodAffinity, PodAffinityTerm, TopologySpreadConstraint
from nodewright.objects.selector import LabelSelector
from nodewright.plugins import Registry
from nodewright.testing import EPOCH, a_group, a_pod, a_template, an_expander_context, an_option, pods_like
from nodewright.testing.worlds import a_policy, a_world
from nodewright_least_cost.expander import LeastCost

NOW = EPOCH + timedelta(hours=1)


class In(PricingModel):
    """A cloud that bills in some currency."""

    def __init__(self, currency):
        self.currency = currency

    def node_price(self, template, start, end):
        return None

    def pod_price(self, pod, start, end):
        return None


def group(name, *, cpu, price, **fields):
    return a_group(name, template=a_template(cpu=cpu, memory="256Gi"), price=price, max_size=50, **fields)


def pods(count, name="web", **fields):
    return [a_pod(f"{name}-{number}", owner=f"ReplicaSet/{name}", **fields) for number in range(count)]


def with_spec(pod, **fields):
    return replace_struct(pod, spec=replace_struct(pod.spec, **fields))


def decided(groups, pending, **config):
    """What groups grow by, and the notices."""
    policy = a_policy(expanders={"least-cost": LeastCost(LeastCost.Config.model_validate(config))})
    decision, _ = decide(a_world(groups=groups, pods=pending), Memory(), policy, NOW)
    assert not policy.faults.counts
    return {grow.group: grow.count for grow in decision.grow}, [notice.message for notice in decision.notices]


def options(count=8):
    """Two options for the same pods, of a CPU each: small nodes of 2 and large nodes of 8."""
    same = pods_like(a_pod(cpu="1", memory="1Gi"), count)
    small, large = group("small", cpu="2", price=0.1), group("large", cpu="8", price=0.39)
    return [an_option(small, nodes=-(-count // 2), pods=[same]), an_option(large, nodes=-(-count // 8), pods=[same])]


def planned(expander, given, **context):
    plan = expander.plan(given, an_expander_context(**context))
    return plan and [(option.group.id, option.nodes, option.pod_count) for option in plan]


def test_several_groups_are_bought_together_where_that_is_cheapest():
    # Ten pods of a CPU: a large node of 8 for 0.39 and a small one of 2 for 0.1 make 0.49.
    # Five small ones cost 0.5, two large ones 0.78.
    groups = [group("small", cpu="2", price=0.1), group("large", cpu="8", price=0.39)]
    grown, told = decided(groups, pods(10, cpu="1", memory="1Gi"), currency="USD")
    assert grown == {"small": 1, "large": 1}
    assert told == ["2 nodes for 0.49 USD an hour, proven to be the cheapest"]


def test_packings_that_first_fit_would_miss_are_kept():
    # Biggest first makes 4.5 + 3.5, then 3.5 + 3 + 3, and needs a third node for 2.5.
    groups = [group("ten", cpu="10", price=1.0), group("huge", cpu="64", price=9.0)]
    pending = [
        *pods(1, "a", cpu="4500m"),
        *pods(2, "b", cpu="3500m"),
        *pods(2, "c", cpu="3"),
        *pods(1, "d", cpu="2500m"),
    ]
    # 4.5 + 3 + 2.5 and 3.5 + 3.5 + 3 fill two nodes to the last.
    assert decided(groups, pending)[0] == {"ten": 2}


def test_pods_that_repel_each_other_get_a_node_each():
    term = PodAffinityTerm(
        topology_key="kubernetes.io/hostname", label_selector=LabelSelector(match_labels={"app": "db"})
    )
    apart = Affinity(pod_anti_affinity=PodAffinity(required=(term,)))
    pending = [with_spec(pod, affinity=apart) for pod in pods(3, cpu="500m", memory="1Gi", labels={"app": "db"})]
    groups = [group("small", cpu="1", price=0.1), group("large", cpu="16", price=0.2)]
    assert decided(groups, pending)[0] == {"small": 3}


def test_pods_that_are_spread_are_left_to_a_later_round():
    rule = TopologySpreadConstraint(topology_key="zone", label_selector=LabelSelector(match_labels={"app": "db"}))
    spread = [with_spec(pod, topology_spread_constraints=(rule,)) for pod in pods(1, "db", cpu="1")]
    same = pods_like(spread[0], 1)
    given = [replace(option, pods=(*option.pods, same)) for option in options()]
    expander = LeastCost(LeastCost.Config())
    assert planned(expander, given) == [("large", 1, 8)]
    only = [replace(option, pods=(same,)) for option in given]
    assert planned(expander, only) is None
    # 4 x 0.1 against 0.39 for one pod
    assert [option.group.id for option in expander.best(only, an_expander_context())] == ["large"]


def test_groups_without_a_price_take_no_part():
    small, large = options()
    unknown = replace(large, group=replace(large.group, id="unknown", hourly_price=None))
    assert planned(LeastCost(LeastCost.Config()), [small, unknown]) == [("small", 4, 8)]


def test_without_any_price_all_options_are_kept_with_a_notice():
    given = [replace(option, group=replace(option.group, hourly_price=None)) for option in options()]
    expander, context = LeastCost(LeastCost.Config()), an_expander_context()
    assert expander.plan(given, context) is None
    assert expander.best(given, context) == given
    assert [notice.reason for notice in context.notices] == ["NoPrices"]


def test_a_single_option_needs_no_plan():
    assert planned(LeastCost(LeastCost.Config()), options()[:1]) is None


def test_prices_in_another_currency_do_not_count():
    small, large = options()
    abroad = replace(large, group=replace(large.group, provider="abroad"))
    pricing = {"fake": In("EUR"), "abroad": In("JPY")}
    expander = LeastCost(LeastCost.Config(currency="EUR"))
    context = an_expander_context(pricing=pricing)
    (only,) = expander.plan([abroad, small], context)
    assert only.group.id == "small"
    told = [notice.message for notice in context.notices if notice.warning]
    assert told == ["least-cost leaves out group large: its price is in JPY, not in EUR"]


def test_no_more_nodes_are_planned_than_options_and_the_cluster_have():
    small, large = options()
    expander = LeastCost(LeastCost.Config())
    # The large nodes are gone: all pods go onto small ones.
    assert planned(expander, [small, replace(large, nodes=0)]) == [("small", 4, 8)]
    # One node for the whole cluster: the one that serves all pods.
    cheap = replace(small, group=replace(small.group, hourly_price=0.01))
    assert planned(expander, [cheap, large]) == [("small", 4, 8)]
    assert planned(expander, [cheap, large], room=1) == [("large", 1, 8)]


def test_options_that_help_different_ones_of_the_same_pods_are_served_together():
    small, large = options(10)
    (same,) = small.pods
    first = replace(small, pods=(replace(same, keys=same.keys[:4]),), nodes=2)
    last = replace(large, pods=(replace(same, keys=same.keys[2:]),), nodes=1)
    plan = LeastCost(LeastCost.Config()).plan([first, last], an_expander_context())
    keys = [key for option in plan for pods in option.pods for key in pods.keys]
    assert sorted(keys) == sorted(same.keys)


def test_the_same_problem_has_the_same_plan():
    expander = LeastCost(LeastCost.Config())
    assert planned(expander, options(37)) == planned(expander, options(37))


@pytest.mark.parametrize("config", [{"timeLimit": 0}, {"timeLimit": 61}, {"gap": 1}, {"timelimit": 2}])
def test_settings_that_make_no_sense_are_refused(config):
    with pytest.raises(ValueError, match=next(iter(config))):
        LeastCost.Config.model_validate(config)


def test_it_is_found_by_its_name():
    assert isinstance(Registry().create("expanders", "least-cost", {"timeLimit": 1.5, "currency": "EUR"}), LeastCost)
