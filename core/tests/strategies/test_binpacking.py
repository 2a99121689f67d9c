"""Binpacking: how many nodes an estimate needs, and for which pods."""

from collections.abc import Sequence

from msgspec.structs import replace
from nodewright.api import Estimate, Pod, PodSet
from nodewright.objects import LabelSelector
from nodewright.objects.affinity import Affinity, PodAffinity, PodAffinityTerm, TopologySpreadConstraint
from nodewright.objects.node import HOSTNAME
from nodewright.strategies.binpacking import Binpacking
from nodewright.testing.builders import a_group, a_pod, a_template, keeping_apart, pods_like
from nodewright.testing.contexts import a_simulation


def estimate(pods: Sequence[PodSet], *, limit: int = 50, gpus: int = 0) -> Estimate:
    """An estimate for nodes of 8 CPUs and 32 GiB."""
    group = a_group(max_size=limit, template=a_template(cpu="8", memory="32Gi", gpus=gpus))
    with a_simulation().fork() as simulation:
        return Binpacking(Binpacking.Config()).estimate(group, pods, simulation, limit)


def helped(found: Estimate) -> dict[str, int]:
    """How many pods of each name."""
    counts: dict[str, int] = {}
    for pods in found.pods:
        counts[pods.pod.metadata.name] = counts.get(pods.pod.metadata.name, 0) + len(pods)
    return counts


def keeping_together(pod: Pod) -> Pod:
    labels = {"app": pod.metadata.name}
    term = PodAffinityTerm(topology_key=HOSTNAME, label_selector=LabelSelector(match_labels=labels))
    affinity = Affinity(pod_affinity=PodAffinity(required=(term,)))
    return replace(pod, metadata=replace(pod.metadata, labels=labels), spec=replace(pod.spec, affinity=affinity))


def spread_over_nodes(pod: Pod, skew: int) -> Pod:
    labels = {"app": pod.metadata.name}
    rule = TopologySpreadConstraint(
        max_skew=skew, topology_key=HOSTNAME, label_selector=LabelSelector(match_labels=labels)
    )
    return replace(
        pod,
        metadata=replace(pod.metadata, labels=labels),
        spec=replace(pod.spec, topology_spread_constraints=(rule,)),
    )


def test_small_pods_that_keep_apart_share_their_nodes_with_larger_ones() -> None:
    large, lonely = pods_like(a_pod("large", cpu="2"), 8), pods_like(keeping_apart(a_pod("lonely", cpu="1")), 4)
    found = estimate([large, lonely])
    assert (found.nodes, helped(found)) == (4, {"large": 8, "lonely": 4})


def test_pods_that_need_gpus_share_their_nodes_with_larger_ones() -> None:
    large, trained = pods_like(a_pod("large", cpu="2"), 12), pods_like(a_pod("trained", cpu="1", gpus=1), 8)
    found = estimate([large, trained], gpus=2)
    assert (found.nodes, helped(found)) == (4, {"large": 12, "trained": 8})


def test_pods_that_keep_together_get_a_node_with_room_for_all() -> None:
    large, friends = pods_like(a_pod("large", cpu="5"), 2), pods_like(keeping_together(a_pod("friends", cpu="2")), 4)
    assert helped(estimate([large, friends])) == {"large": 2, "friends": 4}


def test_nodes_that_were_no_help_for_some_pods_do_not_count_for_the_spread_of_others() -> None:
    friends = pods_like(keeping_together(a_pod("friends", cpu="3500m")), 12)
    spread = pods_like(spread_over_nodes(a_pod("spread", cpu="100m"), 2), 8)
    found = estimate([friends, spread])
    assert (found.nodes, helped(found)) == (1, {"friends": 2, "spread": 8})


def test_where_not_all_can_be_helped_the_larger_pods_are() -> None:
    large, small = pods_like(a_pod("large", cpu="5"), 2), pods_like(a_pod("small", cpu="2"), 8)
    assert helped(estimate([small, large], limit=2)) == {"large": 2, "small": 2}


def test_many_sets_that_each_keep_apart_fill_their_nodes_evenly() -> None:
    sets = [pods_like(keeping_apart(a_pod(f"web-{number}", cpu="1")), 20) for number in range(30)]
    found = estimate(sets, limit=200)
    assert (found.nodes, sum(helped(found).values())) == (75, 600)
