"""Filter and place: pending pods onto existing nodes, and simulated nodes that are added and taken back."""

import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from msgspec import structs
from nodewright.api import Pod, PodSet
from nodewright.cluster import Cluster
from nodewright.config.model import ScaleUp
from nodewright.decision.demand.pending import in_turn
from nodewright.scheduling import ClusterSimulation
from nodewright.testing.builders import a_pod, pods_like

from bench.check import Ledger
from bench.measure import Case, Figure, duration, median_of, timed
from bench.shapes import Shape

_ROOT = Path(__file__).resolve().parent.parent


def place_all(cluster: Cluster, sets: list[PodSet]) -> Mapping[str, str]:
    """Place all sets and take them back; return the node by pod key."""
    placed: dict[str, str] = {}
    with ClusterSimulation(cluster).fork() as simulation:
        for pods in sets:
            placed |= simulation.place(pods)
    return placed


def _place_only(cluster: Cluster, sets: list[PodSet]) -> None:
    with ClusterSimulation(cluster).fork() as simulation:
        for pods in sets:
            pods.without(simulation.place(pods))


def _measured(shape: Shape) -> Figure:
    world = shape.world()
    cluster = world.cluster
    sets = in_turn(cluster, ScaleUp())
    placed = place_all(cluster, sets)
    _check(cluster, placed)
    grouping = median_of(lambda: in_turn(cluster, ScaleUp()))
    seconds = median_of(lambda: _place_only(cluster, sets))
    note = f"{len(placed)} of {shape.pending} placed; gathering the sets {duration(grouping)}"
    return Figure(seconds=seconds, note=note)


def _compared(shape: Shape) -> Figure:
    sys.path.insert(0, str(_ROOT / "tests"))
    oracle_of = import_module("oracle").Oracle
    cluster = shape.world().cluster
    sets = in_turn(cluster, ScaleUp())
    placed = place_all(cluster, sets)
    _check(cluster, placed)
    seconds = median_of(lambda: _place_only(cluster, sets))
    running = [(row, row.pod_class.pod) for rows in map(cluster.pods_on, cluster.nodes) for row in rows]
    oracle = oracle_of(cluster.nodes.values(), [_on(pod, row.key, row.node) for row, pod in running])
    pods = [_pending(cluster)[key] for same in sets for key in same.keys]
    by_oracle: dict[str, str] = {}
    reference = timed(lambda: by_oracle.update(oracle.place(pods)))
    note = f"{len(placed)} of {shape.pending} in {len(sets)} sets placed, by the oracle {len(by_oracle)}"
    return Figure(seconds=seconds, reference=reference, note=note)


def _check(cluster: Cluster, placed: Mapping[str, str]) -> None:
    pending = _pending(cluster)
    running = [(row.pod_class.pod, row.node) for row in cluster.pods.values() if row.node]
    ledger = Ledger(cluster.nodes.values(), running)
    ledger.place(pending, placed)
    wrong = [*ledger.broken(), *ledger.placeable(pod for key, pod in pending.items() if key not in placed)]
    assert not wrong, f"{len(wrong)} mistakes, the first: {wrong[0]}"


def _pending(cluster: Cluster) -> dict[str, Pod]:
    return {key: row.pending for key, row in cluster.pending.items() if row.pending is not None}


def _on(pod: Pod, key: str, node: str) -> Pod:
    name = key.partition("/")[2]
    metadata, spec = structs.replace(pod.metadata, name=name), structs.replace(pod.spec, node_name=node)
    return structs.replace(pod, metadata=metadata, spec=spec)


def _fork() -> Figure:
    cluster = Shape(nodes=5_000, groups=10, pending=0, load=0.75).cluster()
    simulation = ClusterSimulation(cluster)
    pods = pods_like(a_pod("tried", cpu="2"), 10)
    before = cluster.table.free.copy()

    def attempt() -> None:
        for _ in range(100):
            with simulation.fork() as fork:
                fork.remove_nodes(["node-00007"])
                assert len(fork.place(pods)) == len(pods)

    seconds = median_of(attempt) / 100
    assert (cluster.table.free == before).all(), "something was not taken back"
    return Figure(seconds=seconds, note="fork, take out a node with 30 pods, place 10 pods, revert")


def _shape(kind: str) -> Shape:
    return Shape(nodes=5_000, groups=10, pending=50_000, apps=200, kind=kind, load=0.75)


def _small(kind: str, nodes: int, pending: int) -> Shape:
    return Shape(nodes=nodes, groups=10, pending=pending, kind=kind, load=0.75)


CASES = [
    Case(name="filter-and-place plain", run=lambda: _measured(_shape("plain")), bar=0.025),
    Case(name="filter-and-place constrained", run=lambda: _measured(_shape("mixed")), bar=0.120),
    Case(name="oracle plain", run=lambda: _compared(_small("plain", 200, 1_000)), bar_ratio=100),
    Case(name="oracle constrained", run=lambda: _compared(_small("mixed", 60, 600)), bar_ratio=100),
    # So few that each pod is a set of its own, in the order in which they came; no bar is set for that.
    Case(name="oracle constrained, one by one", run=lambda: _compared(_small("mixed", 60, 300))),
    Case(name="fork and revert", run=_fork, bar=0.001),
]
