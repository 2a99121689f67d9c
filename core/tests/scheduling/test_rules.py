"""The rules of pods about their neighbours, as strategies are told them."""

from msgspec.structs import replace
from nodewright.api import RuleKind, Taint
from nodewright.cluster import Cluster
from nodewright.objects.affinity import Affinity, PodAffinity, PodAffinityTerm, TopologySpreadConstraint
from nodewright.objects.node import ZONE
from nodewright.objects.selector import LabelSelector
from nodewright.scheduling import ClusterSimulation
from nodewright.testing.builders import a_node, a_pod, a_template, pods_like

DB = LabelSelector(match_labels={"app": "db"})


def a_db(name="db", *, affinity=None, spread=(), **fields):
    pod = a_pod(name, labels={"app": "db"}, **fields)
    return replace(pod, spec=replace(pod.spec, affinity=affinity, topology_spread_constraints=spread))


def rules_of(pod, *, nodes=(), pods=()):
    cluster = Cluster()
    for node in nodes:
        cluster.put_node(node)
    for each in pods:
        cluster.put_pod(each)
    return ClusterSimulation(cluster).rules(pods_like(pod, 1))


def test_spread_counts_selected_pods_in_every_domain_with_a_node_that_counts() -> None:
    rule = TopologySpreadConstraint(topology_key=ZONE, label_selector=DB, max_skew=3, min_domains=2)
    pod = a_db(spread=(rule,), node_selector={"disk": "fast"})
    fast = {"disk": "fast"}
    nodes = [a_node("a", zone="a", labels=fast), a_node("b", zone="b", labels=fast), a_node("c", zone="c")]
    (spread,) = rules_of(pod, nodes=nodes, pods=[a_db("there", node="a"), a_pod("other", node="b")])
    assert (spread.kind, spread.key, spread.max_skew, spread.min_domains) == (RuleKind.SPREAD, ZONE, 3, 2)
    assert spread.counts == {"a": 1, "b": 0}
    assert spread.selects(pod)
    assert not spread.selects(a_pod())


def test_new_nodes_count_for_a_spread_if_the_pod_is_drawn_to_them_and_minds_no_taint_that_is_to_count() -> None:
    rule = TopologySpreadConstraint(topology_key=ZONE, label_selector=DB)
    (lenient,) = rules_of(a_db(spread=(rule,), node_selector={"disk": "fast"}))
    (strict,) = rules_of(a_db(spread=(replace(rule, node_taints_policy="Honor", node_affinity_policy="Ignore"),)))
    tainted = a_template(taints=[Taint(key="gpu", effect="NoSchedule")], labels={"disk": "fast"})
    assert (lenient.covers(tainted), lenient.covers(a_template())) == (True, False)
    assert (strict.covers(tainted), strict.covers(a_template())) == (False, True)


def test_affinity_and_anti_affinity_count_selected_pods_by_domain() -> None:
    near = PodAffinityTerm(topology_key=ZONE, label_selector=DB)
    far = PodAffinityTerm(topology_key="rack", label_selector=LabelSelector(match_labels={"app": "web"}))
    affinity = Affinity(pod_affinity=PodAffinity(required=(near,)), pod_anti_affinity=PodAffinity(required=(far,)))
    nodes = [a_node("a", zone="a", labels={"rack": "1"}), a_node("b", zone="b")]
    web = a_pod("web", labels={"app": "web"}, node="a")
    apart, together = rules_of(a_db(affinity=affinity), nodes=nodes, pods=[web, a_db("x", node="b")])
    assert (apart.kind, apart.key, apart.counts) == (RuleKind.APART, "rack", {"1": 1})
    assert (together.kind, together.key, together.counts) == (RuleKind.TOGETHER, ZONE, {"b": 1})
    assert apart.selects(web)
    assert not apart.selects(a_db())
    assert together.selects(a_db())


def test_pods_without_constraints_have_no_rules() -> None:
    assert rules_of(a_pod(), nodes=[a_node()]) == []
