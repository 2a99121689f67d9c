"""Whether the core sees a world as the oracle does."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from msgspec import structs
from nodewright.api import NodeTemplate
from nodewright.objects import CSINode, Node, ObjectMeta, Pod
from nodewright.objects.node import HOSTNAME
from nodewright.objects.volume import CSINodeSpec, DriverLimit, NodeDriver
from nodewright.scheduling import ClusterSimulation
from nodewright.scheduling.filters import texts
from nodewright.testing.builders import a_group

from .lives import lived_cluster, new_cluster
from .oracle import Oracle
from .worlds import World

Said = dict[tuple[str, str], tuple[str, ...] | None]


def disagreements(world: World) -> Iterator[str]:
    """What the core gets wrong about *world*, one sentence each: verdicts, placements, and verdicts afterwards."""
    simulation = ClusterSimulation(new_cluster(world))
    oracle = world.oracle()
    with simulation.fork():
        before = verdicts(world, simulation)
        yield from _compare("at first", before, judgements(world, oracle))
        yield from _place(world, simulation, oracle)
        yield from _compare("after placing", verdicts(world, simulation), judgements(world, oracle))
    with simulation.fork():
        yield from _compare("when that is taken back", verdicts(world, simulation), before)


def disagreements_after_a_life(world: World, random: Random) -> Iterator[str]:
    """What the core gets wrong about *world* if it came to it by detours."""
    simulation = ClusterSimulation(lived_cluster(world, random))
    with simulation.fork():
        yield from _compare("after a life", verdicts(world, simulation), judgements(world, world.oracle()))


def disagreements_in_forks(world: World, random: Random, *, furnished: bool = False) -> Iterator[str]:
    """What the core gets wrong when it imagines nodes away and others into being.

    New nodes are empty and attach any number of volumes, unless they are *furnished* like the node that they are
    made after.
    """
    simulation = ClusterSimulation(new_cluster(world))
    gone, like = random.choice(world.nodes), random.choice(world.nodes)
    with simulation.fork():
        with simulation.fork():
            simulation.remove_nodes([gone.name])
            smaller = _without(world, gone)
            yield from _compare("without a node", verdicts(smaller, simulation), judgements(smaller, smaller.oracle()))
            template = _template(like, world) if furnished else _bare_template(like)
            added = simulation.add_nodes(a_group("group", template=template), 2)
            larger = _with(smaller, like, added, template)
            oracle = larger.oracle()
            yield from _compare("with new nodes", verdicts(larger, simulation), judgements(larger, oracle))
            yield from _place(larger, simulation, oracle)
            yield from _compare("with pods on them", verdicts(larger, simulation), judgements(larger, oracle))
        yield from _compare("with all that taken back", verdicts(world, simulation), judgements(world, world.oracle()))


def verdicts(world: World, simulation: ClusterSimulation) -> Said:
    """What the core says to each kind of pending pod and each node."""
    said: Said = {}
    for pods in world.pod_sets:
        for node in world.nodes:
            verdict = simulation.why_not(pods, node.name)
            said[pods.pod.key, node.name] = None if verdict is None else texts(verdict)
    return said


def judgements(world: World, oracle: Oracle) -> Said:
    """What the oracle says to them."""
    said: Said = {}
    for pod, *_ in world.pending:
        for node in world.nodes:
            refusal = oracle.refusal(pod, node.name)
            said[pod.key, node.name] = None if refusal is None else refusal.reasons
    return said


def _compare(when: str, core: Said, right: Said) -> Iterator[str]:
    for pair, expected in right.items():
        if core[pair] != expected:
            yield f"{when}, {' on '.join(pair)}: the core says {core[pair]}, but it is {expected}"


def _place(world: World, simulation: ClusterSimulation, oracle: Oracle) -> Iterator[str]:
    """Place all pending pods, the important ones first, and let the oracle judge each step."""
    sets = sorted(zip(world.pending, world.pod_sets, strict=True), key=lambda each: -(each[1].pod.spec.priority or 0))
    for pods, pod_set in sets:
        rest = {pod.key: pod for pod in pods}
        for key, node in simulation.place(pod_set).items():
            refusal = oracle.refusal(rest[key], node)
            if refusal is not None:
                yield f"the core puts {key} on {node}, but {refusal.filter} says {refusal.reasons}"
            oracle.bind(rest.pop(key), node)
        for pod in list(rest.values())[:1]:
            for each in world.nodes:
                if oracle.refusal(pod, each.name) is None:
                    yield f"the core places no more pods like {pod.key}, but one would fit on {each.name}"
    yield from oracle.violations()


def _without(world: World, gone: Node) -> World:
    nodes = tuple(node for node in world.nodes if node is not gone)
    running = tuple(pod for pod in world.running if pod.spec.node_name != gone.name)
    return replace(world, nodes=nodes, running=running)


def _with(world: World, like: Node, names: Sequence[str], template: NodeTemplate) -> World:
    """The same world with nodes like one that is or was there, furnished as *template* says."""
    drivers = tuple(
        NodeDriver(name=driver, allocatable=DriverLimit(count=count)) for driver, count in template.csi_drivers.items()
    )
    return replace(
        world,
        nodes=(*world.nodes, *(_another(like, name) for name in names)),
        running=(*world.running, *(_moved(pod, name) for pod in template.pods for name in names)),
        csi_nodes=(
            *world.csi_nodes,
            *(CSINode(metadata=ObjectMeta(name=name), spec=CSINodeSpec(drivers=drivers)) for name in names),
        ),
    )


def _bare_template(node: Node) -> NodeTemplate:
    return NodeTemplate(
        labels={key: value for key, value in node.metadata.labels.items() if key != HOSTNAME},
        taints=node.spec.taints,
        unschedulable=node.spec.unschedulable,
        capacity=node.capacity,
        allocatable=node.allocatable,
    )


def _template(node: Node, world: World) -> NodeTemplate:
    """A template with the attach limits of *node* and some of its pods."""
    pods = [pod for pod in world.running if pod.spec.node_name == node.name and not pod.finished]
    limits = [each.spec.drivers for each in world.csi_nodes if each.metadata.name == node.name]
    counts = {driver.name: driver.allocatable for drivers in limits for driver in drivers}
    return replace(
        _bare_template(node),
        pods=tuple(_moved(pod, "") for pod in pods if pod.metadata.deletion_timestamp is None)[:2],
        csi_drivers={name: limit.count for name, limit in counts.items() if limit and limit.count is not None},
    )


def _another(node: Node, name: str) -> Node:
    """A new node like *node*; its name is its hostname."""
    labels = node.metadata.labels | {HOSTNAME: name}
    return structs.replace(node, metadata=structs.replace(node.metadata, name=name, labels=labels))


def _moved(pod: Pod, node: str) -> Pod:
    return structs.replace(pod, spec=structs.replace(pod.spec, node_name=node))
