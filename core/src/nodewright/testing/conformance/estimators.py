"""The conformance suite of estimators."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from nodewright.api import Estimate, Estimator, GroupFacts, PodSet, Simulation
from nodewright.plugins.results import instance_of
from nodewright.testing.builders import a_daemon_set, a_group, a_node, a_pod, a_template, keeping_apart, pods_like
from nodewright.testing.conformance.strategy import answered, homeless, keys_of, left_alone, reborn
from nodewright.testing.conformance.suite import Suite, requires
from nodewright.testing.contexts import a_simulation

#: More nodes than any of these pods need.
_ENOUGH = 50


def _by_template(request: pytest.FixtureRequest) -> str:
    estimator: Estimator = request.getfixturevalue("estimator")
    return "" if estimator.by_template else "the estimator does not declare that it goes by templates alone"


class EstimatorConformance(Suite):
    """All that the core relies on in an estimator. A subclass overrides the fixture ``estimator``.

    Nodes of these tests have 4 CPUs, 16 GiB and room for 110 pods.
    """

    @pytest.fixture
    def estimator(self) -> Estimator:
        """The estimator under test."""
        raise NotImplementedError("override the fixture `estimator`: it returns a new one, configured as by users")

    def test_it_finds_nodes_for_all_pods(self, estimator: Estimator) -> None:
        """Where no limit is in the way, every pod is helped: each of them fits an empty node."""
        pods = _mixture()
        left = keys_of(pods) - keys_of(_estimate(estimator, pods).pods)
        assert not left, f"with as many nodes as it likes it does not help {', '.join(sorted(left))}"

    def test_it_stays_within_the_limit(self, estimator: Estimator) -> None:
        """An estimate never has more nodes than it may."""
        for limit in (1, 2, 3):
            nodes = _estimate(estimator, _mixture(), limit=limit).nodes
            assert nodes <= limit, f"it wants {nodes} nodes where the limit is {limit}"

    def test_it_helps_as_far_as_the_limit_allows(self, estimator: Estimator) -> None:
        """A limit that is too low for all pods is used for some of them."""
        estimate = _estimate(estimator, [_pods("1500m", 5)], limit=1)
        assert keys_of(estimate.pods), "one node has room for some of these pods, but it helps none"

    def test_it_helps_pods_that_it_was_given(self, estimator: Estimator) -> None:
        """An estimate is about the pods that it was given, and no others."""
        pods = _mixture()
        others = keys_of(_estimate(estimator, pods).pods) - keys_of(pods)
        assert not others, f"it helps {', '.join(sorted(others))}, not one of the pods it was given"

    def test_it_helps_each_pod_once(self, estimator: Estimator) -> None:
        """No pod is in an estimate twice, also if two sets are alike."""
        alike = [pods_like(a_pod(name, cpu="1"), 3) for name in ("web", "shop")]
        helped = [key for pods in _estimate(estimator, alike).pods for key in pods.keys]
        assert len(helped) == len(set(helped)), f"it helps some pods more than once: {helped}"

    def test_no_pods_need_no_nodes(self, estimator: Estimator) -> None:
        """For no pods it estimates no nodes."""
        nodes = _estimate(estimator, []).nodes
        assert nodes == 0, f"it wants {nodes} nodes for no pods"

    def test_no_node_stays_empty(self, estimator: Estimator) -> None:
        """There are never more nodes than pods that they help."""
        for pods in (_mixture(), [_pods("3", 4)], [_pods("100m", 1)]):
            estimate = _estimate(estimator, pods)
            helped = len(keys_of(estimate.pods))
            assert estimate.nodes <= helped, f"it wants {estimate.nodes} nodes for {helped} pods"

    def test_the_pods_fit_the_nodes(self, estimator: Estimator) -> None:
        """Put onto so many new nodes in the estimate's order, first fit, all its pods find a place."""
        _assert_holds(_estimate(estimator, _mixture()), a_simulation())

    def test_pods_that_come_with_nodes_need_room_too(self, estimator: Estimator) -> None:
        """What DaemonSets take of new nodes is not there for others."""
        cluster = a_simulation(daemon_sets=[a_daemon_set("logs", cpu="1500m")])
        _assert_holds(_estimate(estimator, [_pods("1", 8)], cluster), cluster)

    def test_pods_that_keep_apart_get_a_node_each(self, estimator: Estimator) -> None:
        """What pods demand of each other counts, not resources alone."""
        apart = [pods_like(keeping_apart(a_pod("lonely", cpu="100m")), 3)]
        _assert_holds(_estimate(estimator, apart), a_simulation())

    def test_nodes_of_today_are_none_of_its_business(self, estimator: Estimator) -> None:
        """Whatever room there is on nodes that exist, an estimate is about new ones."""
        cluster = a_simulation(nodes=[a_node("empty", cpu="64", memory="256Gi")])
        _assert_holds(_estimate(estimator, [_pods("3", 4)], cluster), cluster)

    def test_scarce_resources_count(self, estimator: Estimator) -> None:
        """GPUs and other extended resources are as scarce as CPUs."""
        group = a_group("gpus", max_size=_ENOUGH, template=a_template(cpu="32", memory="64Gi", gpus=2))
        pods = [pods_like(a_pod("training", cpu="1", gpus=1), 5)]
        _assert_holds(_estimate(estimator, pods, group=group), a_simulation(), group)

    def test_pods_that_ask_for_nothing_are_no_error(self, estimator: Estimator) -> None:
        """Pods without requests take but one of the places that a node has for pods."""
        pods = [pods_like(a_pod("idle", cpu="0", memory="0"), 3)]
        _assert_holds(_estimate(estimator, pods), a_simulation())

    def test_nodes_have_places_for_so_many_pods(self, estimator: Estimator) -> None:
        """A node takes no more pods than it has places for, however little they ask for."""
        pods = [pods_like(a_pod("tiny", cpu="1m", memory="1Mi"), 250)]
        _assert_holds(_estimate(estimator, pods), a_simulation())

    def test_more_pods_never_need_fewer_nodes(self, estimator: Estimator) -> None:
        """Of pods that are all alike, more need as many nodes or more."""
        nodes = [_estimate(estimator, [_pods("900m", count)]).nodes for count in range(1, 14)]
        assert nodes == sorted(nodes), f"for 1, 2, 3 ... pods that are all alike it wants {nodes} nodes"

    def test_a_higher_limit_never_helps_fewer_pods(self, estimator: Estimator) -> None:
        """With more nodes allowed, as many pods are helped or more."""
        pods = [_pods("900m", 20)]
        helped = [len(keys_of(_estimate(estimator, pods, limit=limit).pods)) for limit in range(1, 8)]
        assert helped == sorted(helped), f"with limits of 1, 2, 3 ... nodes it helps {helped} pods"

    def test_the_same_question_gets_the_same_answer(self, estimator: Estimator) -> None:
        """Asked again at once, it answers the same."""
        first, again = (_told(_estimate(estimator, _mixture())) for _ in range(2))
        assert first == again, f"it estimated {first} at first and {again} when asked again"

    def test_what_it_was_asked_before_makes_no_difference(self, estimator: Estimator) -> None:
        """One that has estimated before answers like one that has not: nothing is kept between calls."""
        for earlier in ([_pods("3", 4)], [_pods("100m", 30)]):
            _estimate(estimator, earlier, limit=2)
        experienced = _told(_estimate(estimator, _mixture()))
        fresh = _told(_estimate(reborn(estimator), _mixture()))
        assert experienced == fresh, f"it estimated {experienced} after other questions, else {fresh}"

    def test_what_it_is_given_stays_as_it_is(self, estimator: Estimator) -> None:
        """Neither the group nor the pods are changed."""
        pods, group = _mixture(), _group()
        with left_alone({"the pods": pods, "the group": group}):
            _estimate(estimator, pods, group=group)

    @requires(_by_template)
    def test_groups_with_one_template_share_an_estimate(self, estimator: Estimator) -> None:
        """If it declares `by_template`, nothing else of a group counts."""
        group = _group()
        other = replace(
            group, id="other", provider="elsewhere", min_size=3, target_size=5, hourly_price=9.0, instances=()
        )
        one, another = (_told(_estimate(estimator, _mixture(), group=each)) for each in (group, other))
        assert one == another, f"it declares to go by the template, but for a group of other sizes {one} is {another}"


def _group() -> GroupFacts:
    return a_group("workers", max_size=_ENOUGH, price=0.2, zone="eu-a")


def _pods(cpu: str, count: int) -> PodSet:
    return pods_like(a_pod(f"cpu-{cpu}", cpu=cpu), count)


def _mixture() -> list[PodSet]:
    """Small and large pods, that take several nodes."""
    return [
        pods_like(a_pod("small", cpu="250m", memory="256Mi"), 9),
        pods_like(a_pod("wide", cpu="2500m", memory="1Gi", owner="Job/wide"), 3),
        pods_like(a_pod("tall", cpu="500m", memory="9Gi", owner="StatefulSet/tall"), 2),
    ]


def _estimate(
    estimator: Estimator,
    pods: Sequence[PodSet],
    cluster: Simulation | None = None,
    *,
    group: GroupFacts | None = None,
    limit: int = _ENOUGH,
) -> Estimate:
    """Ask as the core does: with a simulation that is forgotten afterwards."""
    with (cluster or a_simulation()).fork() as fork:
        answer = estimator.estimate(group or _group(), pods, fork, limit)
    return answered("estimate", instance_of(Estimate), answer)


def _assert_holds(estimate: Estimate, cluster: Simulation, group: GroupFacts | None = None) -> None:
    with cluster.fork() as fork:
        nodes = fork.add_nodes(group or _group(), estimate.nodes) if estimate.nodes else ()
        left = homeless(fork, [(pods, nodes) for pods in estimate.pods])
    assert not left, f"it helps pods by {estimate.nodes} nodes that have no place for {', '.join(left)}"


def _told(estimate: Estimate) -> tuple[int, list[str]]:
    return estimate.nodes, sorted(keys_of(estimate.pods))
