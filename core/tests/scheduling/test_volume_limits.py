"""Filter NodeVolumeLimits."""

from hypothesis import given, settings
from hypothesis import strategies as st
from nodewright.cluster import Cluster
from nodewright.scheduling import ClusterSimulation
from nodewright.testing.builders import a_node, a_pod, pods_like
from nodewright.testing.storage import DRIVER, a_claim, a_csi_node, a_storage_class, a_volume, with_claims

FULL = ("node(s) exceed max volume count",)


def disks(*names):
    """A claim and an attached volume of each name."""
    return [a_claim(name, volume=name) for name in names] + [a_volume(name, claim=name, handle=name) for name in names]


def test_a_node_takes_as_many_volumes_as_its_driver_says(schedule) -> None:
    holder = with_claims(a_pod("holder", node="node-1"), "a")
    scheduler = schedule(a_node(), a_csi_node(limit=2), *disks("a", "b", "c"), holder)
    assert scheduler.refuses(with_claims(a_pod(), "b")) == ()
    assert scheduler.refuses(with_claims(a_pod(), "b", "c")) == FULL


def test_a_volume_that_is_attached_already_is_free(schedule) -> None:
    holder = with_claims(a_pod("holder", node="node-1"), "a")
    scheduler = schedule(a_node(), a_csi_node(limit=1), *disks("a", "b"), holder)
    assert scheduler.refuses(with_claims(a_pod(), "a")) == ()
    assert scheduler.refuses(with_claims(a_pod(), "a", "b")) == FULL


def test_without_a_limit_any_number_fits(schedule) -> None:
    holder = with_claims(a_pod("holder", node="node-1"), "a")
    scheduler = schedule(a_node("node-1"), a_node("node-2"), a_csi_node(limit=None), *disks("a", "b"), holder)
    assert scheduler.refuses(with_claims(a_pod(), "b"), "node-1") == ()
    assert scheduler.refuses(with_claims(a_pod(), "b"), "node-2") == ()


def test_a_driver_that_comes_or_goes_changes_the_limit(schedule) -> None:
    scheduler = schedule(a_csi_node(limit=0), a_node(), *disks("a"))
    assert scheduler.refuses(with_claims(a_pod(), "a")) == FULL
    scheduler.put(a_csi_node(limit=1))
    assert scheduler.refuses(with_claims(a_pod(), "a")) == ()
    scheduler.put(a_csi_node(limit=0))
    scheduler.cluster.drop_csi_node("node-1")
    assert scheduler.refuses(with_claims(a_pod(), "a")) == ()


def test_a_node_that_takes_the_row_of_one_with_limits_has_none(schedule) -> None:
    scheduler = schedule(a_csi_node("old", limit=0), a_node("old"), *disks("a"))
    scheduler.cluster.drop_node("old")
    scheduler.put(a_node("new"))
    assert scheduler.refuses(with_claims(a_pod(), "a"), "new") == ()


def test_a_volume_that_is_still_to_be_made_counts_for_the_driver_of_its_class(schedule) -> None:
    scheduler = schedule(a_node(), a_csi_node(limit=2), a_storage_class(), *(a_claim(name) for name in "abc"))
    assert scheduler.homes(with_claims(a_pod(), "a")) == ["node-1"]
    assert scheduler.refuses(with_claims(a_pod(), "b", "c")) == FULL
    assert scheduler.refuses(with_claims(a_pod(), "a", "b")) == ()


def test_pods_with_the_same_volumes_are_placed_many_at_once(schedule) -> None:
    nodes = [a_node(f"n{number}", cpu="2") for number in range(3)]
    limits = [a_csi_node("n0", limit=0), a_csi_node("n1", limit=1)]
    scheduler = schedule(*nodes, *limits, *disks("a"))
    assert scheduler.homes(with_claims(a_pod(cpu="1"), "a"), 9) == ["n1", "n1", "n2", "n2"]


def test_what_a_fork_attached_is_gone_after_it(schedule) -> None:
    scheduler = schedule(a_node(), a_csi_node(limit=1), *disks("a", "b"))
    with scheduler.simulation.fork():
        assert scheduler.homes(with_claims(a_pod(), "a")) == ["node-1"]
        assert scheduler.refuses(with_claims(a_pod(), "b")) == FULL
    assert scheduler.refuses(with_claims(a_pod(), "b")) == ()


NAMES = st.sampled_from(["a", "b", "c"])
NODES = st.sampled_from(["n0", "n1"])
PODS = st.sampled_from(["p0", "p1", "p2", "p3"])
HANDLES = st.sampled_from(["", "one", "two"])
CHANGES = st.one_of(
    st.tuples(st.just("put_node"), NODES),
    st.tuples(st.just("drop_node"), NODES),
    st.tuples(st.just("put_pod"), PODS, NODES, st.sets(NAMES)),
    st.tuples(st.just("drop_pod"), PODS),
    st.tuples(st.just("put_claim"), NAMES, NAMES | st.just("")),
    st.tuples(st.just("drop_claim"), NAMES),
    st.tuples(st.just("put_volume"), NAMES, HANDLES),
    st.tuples(st.just("drop_volume"), NAMES),
    st.tuples(st.just("put_storage_class")),
    st.tuples(st.just("drop_storage_class")),
    st.tuples(st.just("try"), NODES, st.sets(NAMES)),
)


def apply(cluster, change):
    match change:
        case ("put_node", name):
            cluster.put_node(a_node(name))
        case ("put_pod", name, node, claims):
            cluster.put_pod(with_claims(a_pod(name, node=node), *sorted(claims)))
        case ("put_claim", name, volume):
            cluster.put_claim(a_claim(name, volume=volume))
        case ("put_volume", name, handle):
            cluster.put_volume(a_volume(name, handle=handle))
        case ("put_storage_class",):
            cluster.put_storage_class(a_storage_class())
        case ("drop_storage_class",):
            cluster.drop_storage_class("waits")
        case ("drop_pod", name):
            cluster.drop_pod(f"default/{name}")
        case ("drop_claim", name):
            cluster.drop_claim(f"default/{name}")
        case ("try", node, claims):
            simulation = ClusterSimulation(cluster)
            with simulation.fork():
                simulation.place(pods_like(with_claims(a_pod("tried"), *sorted(claims)), 2))
                if node in cluster.nodes:
                    simulation.remove_nodes([node])
        case (drop, name):
            getattr(cluster, drop)(name)


def recounted(cluster, node):
    needs = [cluster.storage.needs(pod.pod_class) for pod in cluster.pods.values() if pod.node == node]
    return len({attachment for each in needs for attachment in each})


@given(st.lists(CHANGES, max_size=40))
@settings(max_examples=300, deadline=None)
def test_attached_volumes_are_what_a_recount_says(changes) -> None:
    cluster = Cluster()
    for change in changes:
        apply(cluster, change)
    counts = cluster.storage.attachments.counts(DRIVER)
    expected = {node: recounted(cluster, node) for node in cluster.nodes}
    assert {node: counts[cluster.table.rows[node]] for node in cluster.nodes} == expected
    assert counts.sum() == sum(expected.values())
