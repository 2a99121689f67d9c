"""What the expander plans, and for whom it does not."""

import subprocess
import sys
from dataclasses import replace
from datetime import timedelta

import pytest
from msgspec.structs import replace as replace_struct
from nodewright.api import GroupOptions, PricingModel
from nodewright.cluster import Cluster
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.objects.affinity import Affinity, PodAffinity, PodAffinityTerm, TopologySpreadConstraint
from nodewright.objects.node import HOSTNAME, ZONE
from nodewright.objects.pod import ContainerPort
from nodewright.objects.selector import LabelSelector
from nodewright.plugins import Registry
from nodewright.scheduling import ClusterSimulation
from nodewright.testing import EPOCH, a_group, a_node, a_pod, a_template, an_expander_context, an_option, pods_like
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


def decided(groups, pending, nodes=None, **config):
    """What groups grow by, and the notices."""
    policy = a_policy(expanders={"least-cost": LeastCost(LeastCost.Config.model_validate(config))})
    decision, _, _ = decide(a_world(groups=groups, nodes=nodes, pods=pending), Memory(), policy, NOW)
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


def test_several_groups_are_bought_together_where_that_is_cheapest() -> None:
    # Ten pods of a CPU: a large node of 8 for 0.39 and a small one of 2 for 0.1 make 0.49.
    # Five small ones cost 0.5, two large ones 0.78.
    groups = [group("small", cpu="2", price=0.1), group("large", cpu="8", price=0.39)]
    grown, told = decided(groups, pods(10, cpu="1", memory="1Gi"), currency="USD")
    assert grown == {"small": 1, "large": 1}
    assert told == ["2 nodes for 0.49 USD an hour, proven to be the cheapest"]


def test_packings_that_first_fit_would_miss_are_kept() -> None:
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


def test_pods_that_repel_each_other_get_a_node_each() -> None:
    term = PodAffinityTerm(
        topology_key="kubernetes.io/hostname", label_selector=LabelSelector(match_labels={"app": "db"})
    )
    apart = Affinity(pod_anti_affinity=PodAffinity(required=(term,)))
    pending = [with_spec(pod, affinity=apart) for pod in pods(3, cpu="500m", memory="1Gi", labels={"app": "db"})]
    groups = [group("small", cpu="1", price=0.1), group("large", cpu="16", price=0.2)]
    assert decided(groups, pending)[0] == {"small": 3}


def spread_over(key, count, **fields):
    rule = TopologySpreadConstraint(
        topology_key=key, label_selector=LabelSelector(match_labels={"app": "db"}), **fields
    )
    return [
        with_spec(pod, topology_spread_constraints=(rule,))
        for pod in pods(count, "db", cpu="1", memory="1Gi", labels={"app": "db"})
    ]


def in_zone(zone, *, cpu="4", price=1.0, **fields):
    return a_group(zone, template=a_template(cpu=cpu, memory="256Gi", zone=zone), price=price, max_size=50, **fields)


def full_node(zone):
    return a_node(f"full-{zone}", zone=zone, pods=0, labels={HOSTNAME: f"full-{zone}"})


def test_pods_spread_over_zones_are_bought_nodes_for_in_all_of_them_at_once() -> None:
    groups = [in_zone("a", price=0.3), in_zone("b", price=0.2), in_zone("c", price=0.1)]
    nodes = {"": [full_node(zone) for zone in "abc"]}
    # With a skew of one, ten pods are three in each zone, and one more in any: one node of four CPUs each.
    grown, told = decided(groups, spread_over(ZONE, 10), nodes)
    assert grown == {"a": 1, "b": 1, "c": 1}
    assert told == ["3 nodes for 0.6 an hour, proven to be the cheapest"]
    # A skew of four lets the cheapest zone have eight of sixteen.
    grown, _ = decided(groups, spread_over(ZONE, 16, max_skew=4), nodes)
    assert grown == {"a": 1, "b": 1, "c": 2}


def test_a_zone_that_cannot_grow_holds_the_others_down() -> None:
    groups = [in_zone("a"), in_zone("b", price=0.5)]
    nodes = {"": [full_node(zone) for zone in "abc"]}
    # Nothing is offered in c: it stays at none, and a and b get two each.
    grown, _ = decided(groups, spread_over(ZONE, 10, max_skew=2), nodes)
    assert grown == {"a": 1, "b": 1}


def test_without_nodes_elsewhere_a_single_zone_may_have_all() -> None:
    groups = [in_zone("a", price=0.3), in_zone("b", price=0.1)]
    assert decided(groups, spread_over(ZONE, 8))[0] == {"b": 2}
    # Unless there have to be two.
    assert decided(groups, spread_over(ZONE, 8, min_domains=2))[0] == {"a": 1, "b": 1}


def test_pods_spread_over_nodes_are_evenly_on_them() -> None:
    groups = [in_zone("a", cpu="4", price=0.4), in_zone("b", cpu="8", price=0.9)]
    # Nobody holds them down: full nodes of the cheaper kind.
    assert decided(groups, spread_over(HOSTNAME, 8))[0] == {"a": 2}
    # A node that has none and takes none does: one on each.
    assert decided(groups, spread_over(HOSTNAME, 8), {"": [full_node("a")]})[0] == {"a": 8}


def with_affinity(count, key, *, anti=False, name="db"):
    term = PodAffinityTerm(topology_key=key, label_selector=LabelSelector(match_labels={"app": name}))
    terms = PodAffinity(required=(term,))
    affinity = Affinity(pod_anti_affinity=terms) if anti else Affinity(pod_affinity=terms)
    return [with_spec(pod, affinity=affinity) for pod in pods(count, name, cpu="1", memory="1Gi", labels={"app": name})]


def test_pods_that_want_a_zone_for_themselves_get_one_each() -> None:
    groups = [in_zone("a", price=0.3), in_zone("b", price=0.2), in_zone("c", price=0.1)]
    plain = pods(3, cpu="1", memory="1Gi")
    grown, told = decided(groups, [*with_affinity(2, ZONE, anti=True), *plain])
    assert grown == {"b": 1, "c": 1}
    assert told == ["2 nodes for 0.3 an hour, proven to be the cheapest"]


def test_pods_that_want_to_be_together_are_in_one_zone() -> None:
    # Six pods need two nodes of four CPUs; one of each zone would be cheaper if both had only one.
    groups = [in_zone("a", price=0.3), replace(in_zone("b", price=0.1), max_size=1)]
    assert decided(groups, with_affinity(6, ZONE))[0] == {"a": 2}
    assert decided(groups, pods(6, cpu="1", memory="1Gi"))[0] == {"a": 1, "b": 1}


def test_pods_that_want_to_be_on_one_node_get_one_that_is_large_enough() -> None:
    groups = [in_zone("a", cpu="4", price=0.1), in_zone("b", cpu="8", price=0.3)]
    assert decided(groups, with_affinity(6, HOSTNAME))[0] == {"b": 1}


def test_pods_that_repel_each_other_do_not_share_a_node() -> None:
    term = PodAffinityTerm(topology_key=HOSTNAME, label_selector=LabelSelector(match_labels={"app": "db"}))
    shy = Affinity(pod_anti_affinity=PodAffinity(required=(term,)))
    webs = [with_spec(pod, affinity=shy) for pod in pods(2, cpu="1", memory="1Gi")]
    dbs = pods(2, "db", cpu="1", memory="1Gi", labels={"app": "db"})
    assert decided([in_zone("a", price=0.3), in_zone("b", price=0.1)], [*webs, *dbs])[0] == {"b": 2}


def test_pods_with_the_same_host_port_do_not_share_a_node() -> None:
    def with_port(pod):
        (container,) = pod.spec.containers
        port = ContainerPort(host_port=80)
        return with_spec(pod, containers=(replace_struct(container, ports=(port,)),))

    webs = [with_port(pod) for pod in [*pods(1, cpu="1"), *pods(1, "db", cpu="2")]]
    assert decided([in_zone("a", price=0.3), in_zone("b", price=0.1)], webs)[0] == {"b": 2}


def test_all_pods_that_wait_are_planned_for_even_if_an_option_alone_helps_few() -> None:
    rule = TopologySpreadConstraint(topology_key=ZONE, label_selector=LabelSelector(match_labels={"app": "db"}))
    waiting = pods_like(with_spec(a_pod(cpu="1", labels={"app": "db"}), topology_spread_constraints=(rule,)), 8)
    one = replace(waiting, keys=waiting.keys[:1])
    cluster = Cluster()
    for zone in "ab":
        cluster.put_node(full_node(zone))
    given = [replace(an_option(in_zone(zone), nodes=1, pods=[one]), limit=50) for zone in "ab"]
    plan = planned(LeastCost(LeastCost.Config()), given, simulation=ClusterSimulation(cluster), pending=[waiting])
    assert sorted(plan) == [("a", 1, 4), ("b", 1, 4)]


def test_siblings_do_not_lend_each_other_nodes_twice() -> None:
    small = in_zone("a", price=0.1)
    few = [replace(small, id=name, max_size=2) for name in ("first", "second")]
    same = pods_like(a_pod(cpu="1", memory="1Gi"), 40)
    # Each option counts on what the other group can grow by, too.
    given = [
        replace(an_option(group, nodes=4, pods=[same]), limit=4, similar=(other.id,))
        for group, other in (few, few[::-1])
    ]
    plan = planned(LeastCost(LeastCost.Config()), given)
    assert sorted(plan) == [("first", 2, 8), ("second", 2, 8)]


def test_groups_that_are_used_whole_are_left_to_a_later_round() -> None:
    small, large = options()
    settings = GroupOptions(zero_or_max_node_scaling=True, allow_non_atomic_scale_up_to_max=True)
    assert planned(
        LeastCost(LeastCost.Config()), [small, replace(large, group=replace(large.group, options=settings))]
    ) == [("small", 4, 8)]
    whole = replace(large, group=replace(large.group, options=GroupOptions(zero_or_max_node_scaling=True)))
    assert planned(LeastCost(LeastCost.Config()), [small, whole]) == [("small", 4, 8)]
    assert planned(LeastCost(LeastCost.Config()), [whole]) is None


def test_groups_without_a_price_take_no_part() -> None:
    small, large = options()
    unknown = replace(large, group=replace(large.group, id="unknown", hourly_price=None))
    assert planned(LeastCost(LeastCost.Config()), [small, unknown]) == [("small", 4, 8)]


def test_without_any_price_all_options_are_kept_with_a_notice() -> None:
    given = [replace(option, group=replace(option.group, hourly_price=None)) for option in options()]
    expander, context = LeastCost(LeastCost.Config()), an_expander_context()
    assert expander.plan(given, context) is None
    assert expander.best(given, context) == given
    assert [notice.reason for notice in context.notices] == ["NoPrices"]


def test_a_single_option_is_planned_for_too_as_first_fit_is_not_always_the_cheapest() -> None:
    # Biggest first makes 4+4, 3+3+3 and 3 of them; 4+3+3 and 4+3+3 will do.
    sizes = ["4", "4", "3", "3", "3", "3"]
    waiting = [a_pod(f"pod-{number}", cpu=cpu, owner=f"ReplicaSet/{cpu}") for number, cpu in enumerate(sizes)]
    assert decided([group("only", cpu="10", price=1.0)], waiting)[0] == {"only": 2}


def test_prices_in_another_currency_do_not_count() -> None:
    small, large = options()
    abroad = replace(large, group=replace(large.group, provider="abroad"))
    pricing = {"fake": In("EUR"), "abroad": In("JPY")}
    expander = LeastCost(LeastCost.Config(currency="EUR"))
    context = an_expander_context(pricing=pricing)
    (only,) = expander.plan([abroad, small], context)
    assert only.group.id == "small"
    told = [notice.message for notice in context.notices if notice.warning]
    assert told == ["least-cost leaves out group large: its price is in JPY, not in EUR"]


def test_no_more_nodes_are_planned_than_options_and_the_cluster_have() -> None:
    small, large = options()
    expander = LeastCost(LeastCost.Config())
    # The large nodes are gone: all pods go onto small ones.
    assert planned(expander, [small, replace(large, nodes=0)]) == [("small", 4, 8)]
    # One node for the whole cluster: the one that serves all pods.
    cheap = replace(small, group=replace(small.group, hourly_price=0.01))
    assert planned(expander, [cheap, large]) == [("small", 4, 8)]
    assert planned(expander, [cheap, large], room=1) == [("large", 1, 8)]


def test_options_that_help_different_ones_of_the_same_pods_are_served_together() -> None:
    small, large = options(10)
    (same,) = small.pods
    first = replace(small, pods=(replace(same, keys=same.keys[:4]),), nodes=2)
    last = replace(large, pods=(replace(same, keys=same.keys[2:]),), nodes=1)
    plan = LeastCost(LeastCost.Config()).plan([first, last], an_expander_context())
    keys = [key for option in plan for pods in option.pods for key in pods.keys]
    assert sorted(keys) == sorted(same.keys)


def test_the_same_problem_has_the_same_plan() -> None:
    expander = LeastCost(LeastCost.Config())
    assert planned(expander, options(37)) == planned(expander, options(37))


@pytest.mark.parametrize("config", [{"timeLimit": 0}, {"timeLimit": 61}, {"gap": 1}, {"timelimit": 2}])
def test_settings_that_make_no_sense_are_refused(config) -> None:
    with pytest.raises(ValueError, match=next(iter(config))):
        LeastCost.Config.model_validate(config)


def test_the_solver_is_loaded_only_when_there_is_something_to_solve() -> None:
    code = "import sys; import nodewright_least_cost.expander; sys.exit('highspy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_it_is_found_by_its_name() -> None:
    assert isinstance(Registry().create("expanders", "least-cost", {"timeLimit": 1.5, "currency": "EUR"}), LeastCost)
