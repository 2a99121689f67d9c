"""Whether the core sees a world as the oracle does."""

from collections.abc import Iterator

from nodewright.cluster import Cluster
from nodewright.objects import Pod
from nodewright.scheduling import ClusterSimulation
from nodewright.scheduling.reasons import texts

from .oracle import Oracle
from .worlds import World

Said = tuple[str, ...] | None


def cluster_of(world: World) -> Cluster:
    """The core's cluster for *world*, filled once."""
    cluster = Cluster()
    for namespace in world.namespaces:
        cluster.put_namespace(namespace)
    for storage_class in world.storage_classes:
        cluster.put_storage_class(storage_class)
    for volume in world.volumes:
        cluster.put_volume(volume)
    for claim in world.claims:
        cluster.put_claim(claim)
    for csi_node in world.csi_nodes:
        cluster.put_csi_node(csi_node)
    for node in world.nodes:
        cluster.put_node(node)
    for pod in world.running:
        cluster.put_pod(pod)
    return cluster


def disagreements(world: World) -> Iterator[str]:
    """What the core gets wrong about *world*, one sentence each: verdicts, placements, and verdicts afterwards."""
    cluster = cluster_of(world)
    simulation = ClusterSimulation(cluster)
    oracle = world.oracle()
    with simulation.fork():
        before = verdicts(world, simulation)
    yield from _compare("at first", before, judgements(world, oracle))
    with simulation.fork():
        yield from _place(world, simulation, oracle)
        yield from _compare("after placing", verdicts(world, simulation), judgements(world, oracle))
    with simulation.fork():
        yield from _compare("after the fork", verdicts(world, simulation), before)


def verdicts(world: World, simulation: ClusterSimulation) -> dict[tuple[str, str], Said]:
    """What the core says to each kind of pending pod and each node."""
    found = {}
    for pods in world.pod_sets:
        for node in world.nodes:
            verdict = simulation.why_not(pods, node.name)
            found[pods.pod.key, node.name] = None if verdict is None else texts(verdict)
    return found


def judgements(world: World, oracle: Oracle) -> dict[tuple[str, str], Said]:
    """What the oracle says to them."""
    found = {}
    for pod, *_ in world.pending:
        for node in world.nodes:
            refusal = oracle.refusal(pod, node.name)
            found[pod.key, node.name] = None if refusal is None else refusal.reasons
    return found


def _compare(when: str, core: dict[tuple[str, str], Said], right: dict[tuple[str, str], Said]) -> Iterator[str]:
    for pair, expected in right.items():
        if core[pair] != expected:
            yield f"{when}, {' on '.join(pair)}: the core says {core[pair]}, but it is {expected}"


def _place(world: World, simulation: ClusterSimulation, oracle: Oracle) -> Iterator[str]:
    """Place all pending pods, the important ones first, and let the oracle judge each step."""
    sets = sorted(zip(world.pending, world.pod_sets, strict=True), key=lambda each: -(each[1].pod.spec.priority or 0))
    for pods, pod_set in sets:
        placement = simulation.place(pod_set)
        rest = list(pods)
        for key, node in placement.items():
            pod = next(pod for pod in rest if pod.key == key)
            rest.remove(pod)
            refusal = oracle.refusal(pod, node)
            if refusal is not None:
                yield f"the core puts {key} on {node}, but {refusal.filter} says {refusal.reasons}"
            oracle.bind(pod, node)
        if rest:
            yield from _overlooked(rest[0], world, oracle)
    yield from oracle.violations()


def _overlooked(pod: Pod, world: World, oracle: Oracle) -> Iterator[str]:
    for node in world.nodes:
        if oracle.refusal(pod, node.name) is None:
            yield f"the core places no more pods like {pod.key}, but one would fit on {node.name}"
