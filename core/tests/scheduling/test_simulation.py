"""Placing pods in a copy of the cluster."""

from contextlib import suppress

import pytest
from nodewright.api import Reason, Taint, Toleration
from nodewright.cluster import Cluster
from nodewright.scheduling import ClusterSimulation
from nodewright.testing.builders import a_group, a_node, a_pod, a_template, pods_like

HOST = {"kubernetes.io/hostname": "host"}


def simulate(*nodes, pods=()):
    cluster = Cluster()
    for node in nodes:
        cluster.put_node(node)
    for pod in pods:
        cluster.put_pod(pod)
    return ClusterSimulation(cluster)


def test_equal_pods_fill_node_after_node() -> None:
    simulation = simulate(a_node("n0", cpu="2"), a_node("n1", cpu="2"))
    placed = simulation.place(pods_like(a_pod(cpu="1"), 5))
    assert list(placed.values()) == ["n0", "n0", "n1", "n1"]


def test_what_is_placed_stays_placed() -> None:
    simulation = simulate(a_node("n0", cpu="2"))
    simulation.place(pods_like(a_pod(cpu="1"), 1))
    assert len(simulation.place(pods_like(a_pod(cpu="1"), 5))) == 1


def test_a_fork_is_forgotten_unless_it_is_kept() -> None:
    simulation = simulate(a_node("n0", cpu="2"))
    with simulation.fork() as fork:
        fork.add_nodes(a_group(template=a_template(cpu="8")), 2)
        fork.place(pods_like(a_pod(cpu="1"), 9))
    assert simulation.size == 1
    with simulation.fork() as fork:
        fork.place(pods_like(a_pod(cpu="1"), 2))
        fork.keep()
    assert simulation.place(pods_like(a_pod(cpu="1"), 1)) == {}


def test_what_happens_in_a_fork_within_does_not_undo_its_keeping() -> None:
    simulation = simulate(a_node("n0", cpu="2"))
    with simulation.fork() as outer:
        outer.place(pods_like(a_pod(cpu="1"), 2))
        outer.keep()
        with outer.fork():
            pass
    assert simulation.place(pods_like(a_pod(cpu="1"), 1)) == {}


def test_a_fork_that_fails_keeps_neither_itself_nor_the_one_around_it() -> None:
    simulation = simulate(a_node("n0", cpu="2"))
    with simulation.fork() as outer:
        outer.place(pods_like(a_pod(cpu="1"), 1))
        with suppress(RuntimeError), outer.fork() as inner:
            inner.keep()
            raise RuntimeError
    assert len(simulation.place(pods_like(a_pod(cpu="1"), 2))) == 2


def test_a_kept_fork_within_a_forgotten_one_is_forgotten_with_it() -> None:
    simulation = simulate(a_node("n0", cpu="2"))
    with simulation.fork() as outer:
        with outer.fork() as inner:
            inner.place(pods_like(a_pod(cpu="1"), 2))
            inner.keep()
        assert outer.place(pods_like(a_pod(cpu="1"), 1)) == {}
    assert len(simulation.place(pods_like(a_pod(cpu="1"), 2))) == 2


@pytest.mark.parametrize(
    ("node", "pod", "reason"),
    [
        (a_node("n", unschedulable=True), a_pod(), Reason.NODE_UNSCHEDULABLE),
        (
            a_node("n", unschedulable=True),
            a_pod(tolerations=[Toleration(key="node.kubernetes.io/unschedulable", operator="Exists")]),
            None,
        ),
        (a_node("n", taints=[Taint(key="k")]), a_pod(), Reason.TAINT),
        (a_node("n", taints=[Taint(key="k")]), a_pod(tolerations=[Toleration(key="k", operator="Exists")]), None),
        (a_node("n", taints=[Taint(key="k", effect="PreferNoSchedule")]), a_pod(), None),
        (a_node("n", labels={"disk": "ssd"}), a_pod(node_selector={"disk": "ssd"}), None),
        (a_node("n"), a_pod(node_selector={"disk": "ssd"}), Reason.NODE_AFFINITY),
        (a_node("n", labels=HOST), a_pod(node_selector={"kubernetes.io/hostname": "host"}), None),
        (a_node("n", labels=HOST), a_pod(node_selector={"kubernetes.io/hostname": "n"}), Reason.NODE_AFFINITY),
        (a_node("n", cpu="1"), a_pod(cpu="2"), Reason.RESOURCES),
        (a_node("n", pods=0), a_pod(), Reason.RESOURCES),
        # The first filter that refuses is the one that is told of.
        (a_node("n", unschedulable=True, cpu="1", taints=[Taint(key="k")]), a_pod(cpu="2"), Reason.NODE_UNSCHEDULABLE),
    ],
)
def test_filters_refuse_with_their_reason(node, pod, reason) -> None:
    verdict = simulate(node).why_not(pods_like(pod, 1), "n")
    assert (verdict and verdict.reason) == reason
    assert bool(simulate(node).place(pods_like(pod, 1))) == (reason is None)


def test_an_over_committed_node_takes_nothing() -> None:
    simulation = simulate(a_node("n", cpu="1"), pods=[a_pod("greedy", node="n", cpu="3")])
    assert simulation.place(pods_like(a_pod(cpu="1"), 1)) == {}


def test_a_resource_that_no_node_has_fits_nowhere() -> None:
    simulation = simulate(a_node("n"))
    gpu = pods_like(a_pod(requests={"example.com/gpu": "1"}), 1)
    assert simulation.place(gpu) == {}
    assert str(simulation.why_not(gpu, "n")) == "Insufficient resources (Insufficient example.com/gpu)"
