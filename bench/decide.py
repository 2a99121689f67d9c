"""A whole decision, on the shapes that Cluster Autoscaler's figures are known of."""

from math import ceil

from nodewright.decide import decide
from nodewright.memory import Memory
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy

from bench.measure import Case, Figure, duration, median_of
from bench.shapes import Shape

#: Shape, with seconds that one loop of Cluster Autoscaler took on a like machine and the nodes that it added.
_KNOWN: list[tuple[Shape, float | None, int | None]] = [
    (Shape(nodes=1_000, groups=10, pending=1_000), 0.63, 55),
    (Shape(nodes=1_000, groups=10, pending=5_000), 2.1, 273),
    (Shape(nodes=1_000, groups=50, pending=1_000), 2.4, 55),
    (Shape(nodes=5_000, groups=10, pending=1_000), 4.1, 55),
    (Shape(nodes=5_000, groups=10, pending=5_000), 7.3, 273),
    (Shape(nodes=15_000, groups=10, pending=1_000), 15.8, 55),
    (Shape(nodes=15_000, groups=10, pending=5_000), 25.5, 273),
    (Shape(nodes=1_000, groups=10, pending=1_000, kind="anti"), 25.9, 100),
    (Shape(nodes=1_000, groups=10, pending=1_000, kind="spread"), 18.6, 100),
    (Shape(nodes=1_000, groups=10, pending=1_000, kind="zonespread"), 2.9, 10),
    (Shape(nodes=1_000, groups=50, pending=1_000, kind="anti"), 124, 100),
    (Shape(nodes=5_000, groups=10, pending=1_000, kind="anti"), 155, None),
    (Shape(nodes=5_000, groups=10, pending=1_000, kind="spread"), 168, None),
    (Shape(nodes=5_000, groups=10, pending=1_000, kind="zonespread"), 26.1, 9),
    (Shape(nodes=15_000, groups=10, pending=1_000, kind="anti"), None, None),
    (Shape(nodes=1_000, groups=10, pending=1_000, kind="mixed"), None, None),
    (Shape(nodes=1_000, groups=10, pending=0, kind="down"), 0.31, None),
    (Shape(nodes=5_000, groups=10, pending=0, kind="down"), 1.4, None),
    (Shape(nodes=15_000, groups=10, pending=0, kind="down"), 7.9, None),
    (Shape(nodes=1_000, groups=10, pending=0), None, None),
    (Shape(nodes=5_000, groups=10, pending=0), None, None),
]
_QUICK_NODES = 1_000
#: No group grows by more nodes in one loop.
_MOST_NODES = 1_000


def _decision(shape: Shape, known: float | None, nodes: int | None) -> Figure:
    world, policy, memory = shape.world(), a_policy(), Memory()
    decision, remembered = decide(world, memory, policy, EPOCH)
    grown = sum(grow.count for grow in decision.grow)
    helped = sum(len(grow.pods) for grow in decision.grow)
    assert set(decision.pods) == {pod.key for pod in shape.pending_pods()}, "a pod has no verdict"
    assert set(decision.nodes) == set(world.cluster.nodes), "a node has no verdict"
    if shape.pending:
        _check_growth(shape, grown, helped)
    seconds = median_of(lambda: decide(world, memory, policy, EPOCH), runs=3)
    unneeded = remembered.unneeded_since
    assert all(shape.is_idle(world.cluster.nodes[name]) for name in unneeded), "a busy node is unneeded"
    note = f"{grown} nodes for {helped} pods" if shape.pending else f"{len(unneeded)} nodes unneeded"
    if known is not None:
        note += f"; CA {duration(known)}, {known / seconds:.0f} times as long" + (f", {nodes} nodes" if nodes else "")
    return Figure(seconds=seconds, note=note)


def _check_growth(shape: Shape, grown: int, helped: int) -> None:
    """Compare with what plain arithmetic says."""
    milli = [pod.requests["cpu"] for pod in shape.pending_pods()]
    if shape.kind in ("plain", "anti"):
        assert helped == shape.pending or grown == _MOST_NODES, f"{helped} of {shape.pending} pods are helped"
        share = helped / shape.pending
        assert grown >= ceil(sum(milli) * share / 16_000), "the new nodes can't hold the pods"
    if shape.kind == "anti":
        assert grown >= shape.pending // shape.apps, "two pods of one app share a node"
    assert 0 < grown <= shape.pending
    assert helped > 0


def _case(shape: Shape, known: float | None, nodes: int | None, bar: float | None = None) -> Case:
    name = f"decide {shape.kind if shape.pending or shape.kind == 'down' else 'quiet'}"
    name += f" {shape.nodes}/{shape.pending}/{shape.groups}"
    slow = shape.nodes > _QUICK_NODES or shape.groups > 10
    return Case(name=name, run=lambda: _decision(shape, known, nodes), slow=slow, bar=bar)


CASES = [
    *(_case(*each) for each in _KNOWN),
    _case(Shape(nodes=1_000, groups=1, pending=50_000, apps=1), None, None, bar=0.1),
]
