"""The core's cluster for a world: fresh, or come to it by detours."""

from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any, TypeVar

from msgspec.structs import replace
from nodewright.cluster import Cluster
from nodewright.objects import Node, Pod
from nodewright.scheduling import ClusterSimulation

from .worlds import NODE_THAT_HAS_GONE, World

#: What happens to one object, in order.
Story = list[Callable[[], Any]]
T = TypeVar("T", bound=Node | Pod)


def new_cluster(world: World) -> Cluster:
    """A cluster into which every object of *world* was put once, in order."""
    cluster = Cluster()
    for story in _arrivals(cluster, world):
        for step in story:
            step()
    return cluster


def lived_cluster(world: World, random: Random) -> Cluster:
    """A cluster that looks like *world* in the end, after a life.

    Objects came in any order, some were something else before, others have gone again; and somebody looked in
    between, so that there was something to keep up to date.
    """
    cluster = Cluster()
    stories = [
        *(([was] if random.random() < 0.3 else []) + story for was, story in _with_pasts(cluster, world, random)),
        *_passers_by(cluster, world, random),
        *([partial(_look, cluster, world)] for _ in range(3)),
    ]
    order = [index for index, story in enumerate(stories) for _ in story]
    random.shuffle(order)
    next_steps = [iter(story) for story in stories]
    for index in order:
        next(next_steps[index])()
    return cluster


def _arrivals(cluster: Cluster, world: World) -> Iterator[Story]:
    puts: list[tuple[Callable[[Any], None], tuple[Any, ...]]] = [
        (cluster.put_namespace, world.namespaces),
        (cluster.put_storage_class, world.storage_classes),
        (cluster.put_volume, world.volumes),
        (cluster.put_claim, world.claims),
        (cluster.put_csi_node, world.csi_nodes),
        (cluster.put_node, world.nodes),
        (cluster.put_pod, world.running),
        (cluster.put_pod, tuple(pod for pods in world.pending for pod in pods)),
    ]
    for put, things in puts:
        yield from ([partial(put, each)] for each in things)


def _with_pasts(cluster: Cluster, world: World, random: Random) -> Iterator[tuple[Callable[[], Any], Story]]:
    """Each arrival, and before it that of another object under the same name."""
    for story in _arrivals(cluster, world):
        put, arrival = story[0].func, story[0].args[0]
        kind = [other.args[0] for (other,) in _arrivals(cluster, world) if other.func == put]
        yield partial(put, _renamed(random.choice(kind), arrival)), story


def _passers_by(cluster: Cluster, world: World, random: Random) -> Iterator[Story]:
    """Nodes and pods that came and went."""
    node, pod = random.choice(world.nodes), random.choice([*world.running, world.pending[0][0]])
    passing = _named(node, NODE_THAT_HAS_GONE)
    yield [partial(cluster.put_node, passing), partial(cluster.drop_node, passing.name)]
    for name, home in (("one", node.name), ("another", passing.name), ("waiting", "")):
        here = _named(replace(pod, spec=replace(pod.spec, node_name=home)), name)
        yield [partial(cluster.put_pod, here), partial(cluster.drop_pod, here.key)]


def _renamed(thing: T, like: T) -> T:
    metadata = replace(thing.metadata, name=like.metadata.name, namespace=like.metadata.namespace)
    return replace(thing, metadata=metadata)


def _named(thing: T, name: str) -> T:
    return replace(thing, metadata=replace(thing.metadata, name=name))


def _look(cluster: Cluster, world: World) -> None:
    """Ask and place whatever can be asked and placed now, and forget it."""
    simulation = ClusterSimulation(cluster)
    with simulation.fork():
        for pods in world.pod_sets:
            for node in cluster.nodes:
                simulation.why_not(pods, node)
            simulation.place(pods)
