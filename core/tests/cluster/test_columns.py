"""The columns stay right whatever changes in whatever order."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from nodewright.cluster import Cluster
from nodewright.cluster.waiting import sort_of
from nodewright.objects import Condition
from nodewright.objects.pod import PodStatus
from nodewright.testing.builders import a_node, a_pod

NODES = st.sampled_from(["n0", "n1", "n2", "n3"])
PODS = st.sampled_from([f"p{number}" for number in range(8)])
CHANGES = st.one_of(
    st.tuples(st.just("put_node"), NODES, st.integers(1, 8)),
    st.tuples(st.just("drop_node"), NODES),
    st.tuples(st.just("put_pod"), PODS, NODES | st.just(""), st.integers(1, 3), st.booleans()),
    st.tuples(st.just("judge_pod"), PODS, st.sampled_from(["", "Unschedulable"]), NODES | st.just("")),
    st.tuples(st.just("drop_pod"), PODS),
)


def apply(cluster, change):
    match change:
        case ("put_node", name, cpu):
            cluster.put_node(a_node(name, cpu=str(cpu)))
        case ("drop_node", name):
            cluster.drop_node(name)
        case ("put_pod", name, node, cpu, gpu):
            cluster.put_pod(a_pod(name, node=node, cpu=str(cpu), requests={"example.com/gpu": "1"} if gpu else {}))
        case ("judge_pod", name, reason, nominated):
            told = (Condition(type="PodScheduled", status="False", reason=reason),)
            status = PodStatus(conditions=told, nominated_node_name=nominated)
            cluster.put_pod(replace(a_pod(name), status=status))
        case ("drop_pod", name):
            cluster.drop_pod(f"default/{name}")


def recounted(cluster, node, resource):
    free = cluster.nodes[node].allocatable.get(resource, 0)
    return free - sum(pod.pod_class.requests.get(resource, 0) for pod in cluster.pods.values() if pod.node == node)


@given(st.lists(CHANGES, max_size=40))
@settings(max_examples=300, deadline=None)
def test_free_room_is_what_a_recount_says(changes) -> None:
    cluster = Cluster()
    for change in changes:
        apply(cluster, change)
    table = cluster.table
    for name in cluster.nodes:
        for resource, dimension in table.dimensions.items():
            assert table.free[dimension, table.rows[name]] == recounted(cluster, name, resource)
        assert {pod.key for pod in cluster.pods_on(name)} == {
            pod.key for pod in cluster.pods.values() if pod.node == name
        }
    assert set(cluster.pending) == {key for key, pod in cluster.pods.items() if not pod.node}
    waiting, nominated = cluster.waiting, cluster.waiting.nominated
    assert {key: sort for sort, turns in waiting.sorts.items() for key in turns} == {
        key: sort_of(row) for key, row in cluster.pending.items() if key not in nominated
    }
    assert nominated.keys() == {key for key, row in cluster.pending.items() if row.pending.status.nominated_node_name}
    assert all(list(turns.values()) == sorted(turns.values()) and turns for turns in waiting.sorts.values())


def test_equal_pods_and_equal_nodes_share_one_class() -> None:
    cluster = Cluster()
    for number in range(3):
        cluster.put_node(a_node(f"n{number}", labels={"kubernetes.io/hostname": f"n{number}", "pool": "a"}))
        cluster.put_pod(a_pod(f"p{number}"))
    assert len({id(cluster.table.node_class(row)) for row in range(3)}) == 1
    assert len({id(pod.pod_class) for pod in cluster.pods.values()}) == 1


def test_nodes_are_told_apart_by_the_labels_that_constraints_look_at() -> None:
    cluster = Cluster()
    for number in range(3):
        cluster.put_node(a_node(f"n{number}", labels={"disk": f"d{number % 2}", "instance-id": f"i-{number}"}))
    assert len({cluster.table.class_of[row] for row in range(3)}) == 1
    cluster.put_pod(a_pod("p", node_selector={"disk": "d0"}))
    assert len({cluster.table.class_of[row] for row in range(3)}) == 2


def test_classes_of_pods_that_are_gone_are_forgotten_and_nothing_else_changes() -> None:
    cluster = Cluster()
    cluster.put_node(a_node("n", cpu="1000"))
    kept = a_pod("kept", node="n", labels={"app": "kept"})
    cluster.put_pod(kept)
    for number in range(9000):
        job = a_pod("job", node="n", labels={"job": str(number)})
        cluster.put_pod(job)
        cluster.drop_pod(job.key)
        cluster.tidy()
    assert len(cluster.pod_classes.known) < 5000
    row = cluster.pods[kept.key]
    assert cluster.pod_classes.known[row.pod_class.index] is row.pod_class
    assert cluster.tally.of(row.pod_class)[0] == 1
    cluster.drop_pod(kept.key)
    assert cluster.tally.of(row.pod_class)[0] == 0


def test_a_finished_pod_takes_no_room() -> None:
    from msgspec.structs import replace

    cluster = Cluster()
    cluster.put_node(a_node("n", cpu="4"))
    pod = a_pod("p", node="n", cpu="3")
    cluster.put_pod(pod)
    cluster.put_pod(replace(pod, status=replace(pod.status, phase="Succeeded")))
    assert cluster.table.free[0, 0] == 4000


def test_a_class_that_is_left_out_neither_takes_room_nor_is_counted_until_the_fork_ends() -> None:
    cluster = Cluster()
    cluster.put_node(a_node("n", cpu="4"))
    for pod in (a_pod("low", cpu="1", priority=-11, node="n"), a_pod("web", cpu="1", node="n")):
        cluster.put_pod(pod)
    low = cluster.pods["default/low"].pod_class
    row = cluster.table.rows["n"]
    with cluster.fork():
        cluster.leave_out(low)
        assert cluster.table.free[0, row] == 3000
        assert [pod.key for pod in cluster.pods_on("n")] == ["default/web"]
        assert cluster.tally.total([low])[row] == 0
        cluster.hide_node("n")
    assert cluster.table.free[0, row] == 2000
    assert len(cluster.pods_on("n")) == 2
    assert cluster.tally.total([low])[row] == 1


def test_guests_of_a_node_are_those_of_forks_that_stand() -> None:
    cluster = Cluster()
    cluster.put_node(a_node("n"))
    row = cluster.table.rows["n"]
    guest = cluster.pod_classes.of(a_pod())
    with cluster.fork():
        cluster.take(guest, ["default/first"], np.array([row]))
        with cluster.fork():
            cluster.take(guest, ["default/second"], np.array([row]))
            assert cluster.guests(row) == [(guest, "default/first"), (guest, "default/second")]
        assert cluster.guests(row) == [(guest, "default/first")]
        cluster.take(guest, ["default/third"], np.array([row]))
        assert cluster.guests(row) == [(guest, "default/first"), (guest, "default/third")]
    assert cluster.guests(row) == []
