"""Whether the core sees a world as the oracle does."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from msgspec import structs
from nodewright.api import GroupFacts, NodeTemplate
from nodewright.objects import Node
from nodewright.objects.node import HOSTNAME
from nodewright.scheduling import ClusterSimulation
from nodewright.scheduling.reasons import texts
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


def disagreements_in_forks(world: World, random: Random) -> Iterator[str]:
    """What the core gets wrong when it imagines nodes away and others into being."""
    simulation = ClusterSimulation(new_cluster(world))
    gone, like = random.choice(world.nodes), random.choice(world.nodes)
    with simulation.fork():
        with simulation.fork():
            simulation.remove_nodes([gone.name])
            smaller = _without(world, gone)
            yield from _compare("without a node", verdicts(smaller, simulation), judgements(smaller, smaller.oracle()))
            added = simulation.add_nodes(_group_of(like), 2)
            larger = replace(smaller, nodes=(*smaller.nodes, *(_another(like, name) for name in added)))
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


def _group_of(node: Node) -> GroupFacts:
    """A group of nodes like *node*, but for its own name."""
    labels = {key: value for key, value in node.metadata.labels.items() if key != HOSTNAME}
    template = NodeTemplate(
        labels=labels, taints=node.spec.taints, capacity=node.capacity, allocatable=node.allocatable
    )
    return a_group("group", template=template)


def _another(node: Node, name: str) -> Node:
    """A new node of that group; its name is its hostname."""
    return Node(
        metadata=structs.replace(node.metadata, name=name, labels=node.metadata.labels | {HOSTNAME: name}),
        spec=structs.replace(node.spec, unschedulable=False),
        status=node.status,
    )
