"""Taking nodes out of a simulation one by one, with the pods that have to move."""

from contextlib import contextmanager

from msgspec.structs import replace
from nodewright.cluster import Cluster
from nodewright.objects import LabelSelector
from nodewright.objects.affinity import Affinity, PodAffinity, PodAffinityTerm
from nodewright.objects.node import HOSTNAME, ZONE
from nodewright.scheduling import ClusterSimulation
from nodewright.scheduling.relocation import Relocation
from nodewright.testing.builders import a_node, a_pod, pods_like


def a_host(name, **fields):
    return a_node(name, labels={HOSTNAME: name}, **fields)


def near(app, pod, key=HOSTNAME):
    """The same pod, which runs only where a pod of *app* does."""
    term = PodAffinityTerm(topology_key=key, label_selector=LabelSelector(match_labels={"app": app}))
    return replace(pod, spec=replace(pod.spec, affinity=Affinity(pod_affinity=PodAffinity(required=(term,)))))


@contextmanager
def relocating(*nodes, pods=(), leaving, pending=()):
    """A relocation in a fork, once *pending* sets of pods are placed."""
    cluster = Cluster()
    for node in nodes:
        cluster.put_node(node)
    for pod in pods:
        cluster.put_pod(pod)
    simulation = ClusterSimulation(cluster)
    with simulation.fork():
        for pod_set in pending:
            assert len(simulation.place(pod_set)) == len(pod_set)
        yield Relocation(simulation, leaving), cluster, simulation


def take_out(relocation, cluster, node, wished=()):
    """Take *node* out with all of its pods that run; returns where they went, or who has no place."""
    relocated = relocation.remove(node, cluster.pods_on(node), wished)
    if relocated.homeless is not None:
        return relocated.homeless.key
    return {tenant.key: move.node for move in relocated.moves for tenant in move.tenants}


def test_two_nodes_do_not_count_on_the_same_room() -> None:
    nodes = [a_node("a", cpu="2"), a_node("b", cpu="2"), a_node("full", cpu="2")]
    pods = [a_pod("of-a", node="a", cpu="1"), a_pod("of-b", node="b", cpu="1"), a_pod("x", node="full", cpu="1")]
    with relocating(*nodes, pods=pods, leaving=["a", "b"]) as (relocation, cluster, _):
        assert take_out(relocation, cluster, "a") == {"default/of-a": "full"}
        assert take_out(relocation, cluster, "b") == "default/of-b"


def test_pods_rather_move_to_nodes_that_stay_and_among_them_to_the_fullest() -> None:
    nodes = [a_node(name, cpu="4") for name in ("a", "b", "roomy", "fuller")]
    pods = [a_pod("of-a", node="a", cpu="1"), a_pod("x", node="fuller", cpu="2"), a_pod("y", node="b", cpu="3")]
    with relocating(*nodes, pods=pods, leaving=["a", "b"]) as (relocation, cluster, _):
        assert relocation.preference == ["fuller", "roomy", "b", "a"]
        assert take_out(relocation, cluster, "a") == {"default/of-a": "fuller"}


def test_pods_that_find_no_room_on_nodes_that_stay_move_to_the_one_that_is_tried_last() -> None:
    nodes = [a_node("a", cpu="1"), a_node("b", cpu="1"), a_node("c", cpu="1")]
    pods = [a_pod("of-a", node="a", cpu="1")]
    with relocating(*nodes, pods=pods, leaving=["a", "b", "c"]) as (relocation, cluster, _):
        assert take_out(relocation, cluster, "a") == {"default/of-a": "c"}


def test_pods_move_to_the_nodes_that_they_wish_for_if_there_is_room() -> None:
    nodes = [a_node(name, cpu="2") for name in ("a", "first", "second", "third")]
    pods = [a_pod(f"of-a-{number}", node="a", cpu="500m") for number in range(4)] + [
        a_pod("x", node="first", cpu="500m"),
        a_pod("y", node="third", cpu="500m"),
        a_pod("z", node="third", cpu="500m"),
    ]
    with relocating(*nodes, pods=pods, leaving=["a"]) as (relocation, cluster, _):
        homes = take_out(relocation, cluster, "a", wished=[("gone", 1), ("third", 3), ("second", 1)])
        assert list(homes.values()) == ["third", "third", "first", "first"]


def test_the_largest_pods_find_their_places_first() -> None:
    nodes = [a_node("a"), a_node("b", cpu="2"), a_node("c", cpu="2", memory="1Gi")]
    small = a_pod("small", node="a", cpu="500m", memory="512Mi")
    large = a_pod("large", node="a", cpu="2", memory="2Gi")
    with relocating(*nodes, pods=[small, large], leaving=["a"]) as (relocation, cluster, _):
        assert take_out(relocation, cluster, "a") == {"default/large": "b", "default/small": "c"}


def test_a_pod_that_came_from_another_node_moves_on_with_the_next_one() -> None:
    nodes = [a_node("a", cpu="2"), a_node("b", cpu="2"), a_node("c", cpu="4")]
    pods = [a_pod("of-a", node="a", cpu="1"), a_pod("of-b", node="b", cpu="1"), a_pod("x", node="c", cpu="2")]
    with relocating(*nodes, pods=pods, leaving=["a", "b"]) as (relocation, cluster, _):
        assert take_out(relocation, cluster, "a", wished=[("b", 1)]) == {"default/of-a": "b"}
        assert [guest.key for guest in relocation.guests("b")] == ["default/of-a"]
        assert take_out(relocation, cluster, "b") == {"default/of-b": "c", "default/of-a": "c"}


def test_a_pending_pod_that_was_placed_in_the_decision_moves_on() -> None:
    nodes = [a_node("a", cpu="1"), a_node("b", cpu="1")]
    with relocating(*nodes, pending=[pods_like(a_pod("new", cpu="1"), 1)], leaving=["a"]) as (relocation, cluster, _):
        assert take_out(relocation, cluster, "a") == {"default/new-0": "b"}


def test_a_node_whose_pods_have_no_place_takes_part_as_if_nobody_had_asked() -> None:
    nodes = [a_node("a", cpu="3"), a_node("b", cpu="2"), a_node("c", cpu="2")]
    pods = [a_pod("small", node="a", cpu="1"), a_pod("large", node="a", cpu="2"), a_pod("of-b", node="b", cpu="2")]
    with relocating(*nodes, pods=pods, leaving=["a", "b"]) as (relocation, cluster, _):
        assert take_out(relocation, cluster, "a") == "default/small"
        assert take_out(relocation, cluster, "b") == {"default/of-b": "c"}


def test_a_node_that_could_not_go_still_takes_pods() -> None:
    nodes = [a_node("a", cpu="4"), a_node("b", cpu="2")]
    pods = [a_pod("of-a", node="a", cpu="3"), a_pod("of-b", node="b", cpu="1")]
    with relocating(*nodes, pods=pods, leaving=["a", "b"]) as (relocation, cluster, _):
        assert take_out(relocation, cluster, "a") == "default/of-a"
        assert take_out(relocation, cluster, "b") == {"default/of-b": "a"}


def test_a_pod_that_looks_at_others_finds_those_that_moved_before() -> None:
    nodes = [a_host("a"), a_host("b"), a_host("c", cpu="2"), a_host("d", cpu="3")]
    pods = [a_pod("web", node="a", labels={"app": "web"}), near("web", a_pod("shadow", node="b", cpu="2"))]
    with relocating(*nodes, pods=pods, leaving=["a", "b"]) as (relocation, cluster, _):
        assert take_out(relocation, cluster, "a", wished=[("d", 1)]) == {"default/web": "d"}
        assert take_out(relocation, cluster, "b") == {"default/shadow": "d"}


def test_a_pod_that_looks_at_others_does_not_find_those_that_have_moved_on() -> None:
    nodes = [a_node("a"), a_node("b"), a_node("c", zone="eu-c"), a_node("next-to-c", cpu="2", zone="eu-c")]
    nodes.append(a_node("d", zone="eu-d"))
    pods = [a_pod("web", node="a", labels={"app": "web"}), near("web", a_pod("shadow", node="b"), key=ZONE)]
    with relocating(*nodes, pods=pods, leaving=["a", "c", "b"]) as (relocation, cluster, simulation):
        # Where pods are is counted when somebody asks, and kept up to date from then on.
        assert simulation.why_not(pods_like(near("web", a_pod("follower"), key=ZONE), 1), "d") is not None
        assert take_out(relocation, cluster, "a", wished=[("c", 1)]) == {"default/web": "c"}
        assert take_out(relocation, cluster, "c", wished=[("d", 1)]) == {"default/web": "d"}
        assert take_out(relocation, cluster, "b") == {"default/shadow": "d"}


def test_a_pod_that_looks_at_others_does_not_find_those_of_its_own_node() -> None:
    nodes = [a_host("a"), a_host("b")]
    pods = [a_pod("web", node="a", labels={"app": "web"}), near("web", a_pod("shadow", node="a"))]
    with relocating(*nodes, pods=pods, leaving=["a"]) as (relocation, cluster, _):
        assert take_out(relocation, cluster, "a") == "default/shadow"


def test_when_the_fork_ends_all_is_as_it_was() -> None:
    nodes = [a_host("a", cpu="2"), a_host("b", cpu="2"), a_host("c", cpu="2")]
    pods = [
        a_pod("web", node="a", cpu="1", labels={"app": "web"}),
        near("web", a_pod("shadow", node="b", cpu="1")),
    ]
    with relocating(*nodes, pods=pods, leaving=["a", "b"]) as (relocation, cluster, simulation):
        assert take_out(relocation, cluster, "a") == {"default/web": "c"}
        assert take_out(relocation, cluster, "b") == {"default/shadow": "c"}
        assert simulation.free("c")["cpu"] == 0
    assert [simulation.free(name)["cpu"] for name in "abc"] == [1000, 1000, 2000]
    assert simulation.size == 3
    follower = near("web", a_pod("follower"))
    assert [simulation.why_not(pods_like(follower, 1), name) is None for name in "abc"] == [True, False, False]


def test_all_of_it_can_be_done_again_in_the_columns_once_its_fork_has_ended() -> None:
    nodes = [a_host("a"), a_host("b"), a_host("c", cpu="3500m"), a_host("d", cpu="2")]
    pods = [
        a_pod("of-a", node="a", cpu="1"),
        near("db", a_pod("of-b", node="b", cpu="1")),
        a_pod("db", node="c", cpu="500m", labels={"app": "db"}),
        a_pod("of-d", node="d", cpu="500m"),
    ]
    with relocating(*nodes, pods=pods, leaving=["a", "b", "d"]) as (relocation, cluster, simulation):
        with simulation.fork():
            assert take_out(relocation, cluster, "a", wished=[("d", 1)]) == {"default/of-a": "d"}
            assert take_out(relocation, cluster, "b") == {"default/of-b": "c"}
            assert take_out(relocation, cluster, "d") == {"default/of-d": "c", "default/of-a": "c"}
        assert simulation.free("c")["cpu"] == 3000
        relocation.repeat()
        assert simulation.free("c")["cpu"] == 500
        assert {key for pods in simulation.guests("c") for key in pods.keys} == {f"default/of-{name}" for name in "abd"}
        assert not simulation.place(pods_like(a_pod("new", cpu="600m"), 1))
