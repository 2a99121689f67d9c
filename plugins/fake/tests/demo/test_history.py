"""The figures of a demo, against figures worked out by hand."""

from datetime import timedelta

import pytest
from nodewright_fake.demo.scene import NodeState

# The first pod fits on the machine that is there; the second has to wait for one of `more`.
SCENARIO = """
zones: [eu-a]
instanceTypes:
  small: {cpu: 2, memory: 4Gi, price: 3.6, spotPrice: 1.8}
groups:
  - {name: base, zone: eu-a, instanceType: small, min: 1, max: 1}
  - {name: more, zone: eu-a, instanceType: small, spot: true, max: 3, bootTime: 30s, readyTime: 10s, deleteTime: 20s}
workloads:
  daemonSets:
    - {name: agent, cpu: 100m, memory: 100Mi}
  deployments:
    - {name: web, replicas: 1, cpu: 1500m, memory: 1Gi}
story:
  - {at: 60s, scale: {deployment: web, replicas: 2}}
  - {at: 60s, cloud: {resize: {group: more, desired: 1}}}
  - {at: 160s, cloud: {resize: {group: more, desired: 0}}}
  - {at: 310s, cloud: {reclaim: {machine: base-1}}}
"""


@pytest.fixture(scope="module")
def play(begin):
    """The scenes of the story by seconds, and what it came to after five minutes."""
    play = begin(SCENARIO, autoscaler=False)
    play.scenes = dict(zip(range(10, 301, 10), play.go_on(300), strict=True))
    play.summary = play.stage.summary()
    return play


def test_a_pod_waits_from_its_creation_until_it_has_a_node(play) -> None:
    # Created at 60 s, the node was ordered then, registered at 90 s and ready at 100 s.
    assert play.summary.waits == (40.0,)


def test_a_pod_that_finds_a_node_at_once_does_not_count_as_waiting(play) -> None:
    assert play.summary.placed_at_once == 1


def test_a_pod_that_lost_its_node_waits_anew(play) -> None:
    # The machine was gone at 180 s.
    assert play.summary.still_waiting == 1
    assert play.scenes[240].longest_wait == timedelta(seconds=60)
    assert [(waiting.workload, waiting.pods) for waiting in play.scenes[240].waiting] == [("web", 1)]


def test_pods_of_daemon_sets_neither_wait_nor_count_as_load(play) -> None:
    assert play.summary.placed_at_once + len(play.summary.waits) == 2
    assert [node.pods for node in play.scenes[120].nodes] == [1, 1]
    assert play.scenes[120].running == 4


def test_node_hours_and_cost_run_from_boot_to_the_end_of_the_machine(play) -> None:
    base, more = play.summary.bills
    assert (base.group, base.hours, base.cost) == ("base", pytest.approx(300 / 3600), pytest.approx(0.3))
    # From 90 s to 180 s.
    assert (more.group, more.hours, more.cost) == ("more", pytest.approx(0.025), pytest.approx(0.045))
    assert play.summary.hours == pytest.approx(390 / 3600)
    assert play.summary.cost == pytest.approx(0.345)


def test_the_static_cluster_keeps_the_machines_of_the_dearest_moment(play) -> None:
    assert play.summary.peak_rate == pytest.approx(5.4)
    assert play.summary.static_cost == pytest.approx(0.45)
    assert play.summary.saved == pytest.approx(1 - 0.345 / 0.45)


def test_nodes_are_counted_at_the_start_at_the_peak_and_at_the_end(play) -> None:
    summary = play.summary
    assert (summary.first_nodes, summary.peak_nodes, summary.last_nodes) == (1, 2, 1)


def test_what_the_cloud_takes_back_is_a_failure_that_is_told(play) -> None:
    list(play.go_on(10))
    assert [(trouble.what, trouble.times) for trouble in play.stage.summary().troubles] == [
        ("machines taken back by the cloud", 1)
    ]
    assert "the cloud took base-1 back" in [line.text for line in play.stage.log.after(0)]


@pytest.mark.parametrize(
    ("second", "state"),
    [(70, NodeState.ORDERED), (90, NodeState.JOINING), (110, NodeState.READY), (170, NodeState.LEAVING)],
)
def test_a_machine_goes_through_its_states(play, second, state) -> None:
    (machine,) = [node for node in play.scenes[second].nodes if node.group == "more"]
    assert machine.state is state


def test_a_node_is_as_full_as_its_pods_ask_for(play) -> None:
    node = play.scenes[120].nodes[0]
    assert node.cpu == pytest.approx(1.6 / 2)
    assert node.memory == pytest.approx((1024 + 100) / 4096)


def test_a_group_shows_what_it_has_and_what_it_is_asked_for(play) -> None:
    def size(second):
        group = play.scenes[second].groups[1]
        return group.nodes, group.wanted, str(group.state)

    assert [size(second) for second in (50, 80, 120, 170, 200)] == [
        (0, 0, "steady"),
        (0, 1, "growing"),
        (1, 1, "steady"),
        (1, 0, "shrinking"),
        (0, 0, "steady"),
    ]


def test_the_money_of_the_moment_is_shown(play) -> None:
    assert play.scenes[50].hourly_cost == pytest.approx(3.6)
    assert play.scenes[120].hourly_cost == pytest.approx(5.4)
    assert play.scenes[120].cost == pytest.approx(0.12 + 0.015)


def test_malformed_objects_are_not_shown(begin) -> None:
    play = begin(SCENARIO, autoscaler=False)
    pod = {"metadata": {"name": "odd", "namespace": "default"}, "spec": {"containers": [{"name": "a"}]}}
    pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "lots"}}
    play.world.store.create("pods", pod)
    node = {"metadata": {"name": "odd"}, "status": {"allocatable": {"cpu": "plenty"}}}
    play.world.store.create("nodes", node)
    scene = play.stage.scene()
    assert "odd" not in [node.name for node in scene.nodes]
    assert "odd" not in [waiting.workload for waiting in scene.waiting]
