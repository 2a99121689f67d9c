"""A whole decision, on the shapes for which Cluster Autoscaler's figures are known."""

from dataclasses import dataclass
from math import ceil

from nodewright.api import Reason
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy

from bench.measure import Case, Figure, duration, median_of
from bench.shapes import Shape


@dataclass(frozen=True, kw_only=True)
class _Known:
    """A shape's figures: Cluster Autoscaler's on a similar machine, and our bars."""

    shape: Shape
    #: Seconds of one of its loops, the nodes that it added, and its peak memory in bytes.
    seconds: float | None = None
    added: int | None = None
    peak: float | None = None
    #: How many times as fast we want to be, and with what part of the memory.
    times: float | None = None
    part: float = 1.0
    #: Or, where nothing is known: the most seconds.
    most: float | None = None


_THIRD, _FOURTH = 1 / 3, 1 / 4
_KNOWN = [
    _Known(shape=Shape(nodes=1_000, groups=10, pending=1_000), seconds=0.63, added=55, peak=0.347e9, times=40),
    _Known(shape=Shape(nodes=1_000, groups=10, pending=5_000), seconds=2.1, added=273, peak=0.427e9, times=40),
    _Known(shape=Shape(nodes=1_000, groups=50, pending=1_000), seconds=2.4, added=55, peak=0.385e9, times=40),
    _Known(
        shape=Shape(nodes=5_000, groups=10, pending=1_000), seconds=4.1, added=55, peak=1.36e9, times=40, part=1 / 3
    ),
    _Known(
        shape=Shape(nodes=5_000, groups=10, pending=5_000), seconds=7.3, added=273, peak=1.78e9, times=40, part=1 / 3
    ),
    _Known(
        shape=Shape(nodes=15_000, groups=10, pending=1_000), seconds=15.8, added=55, peak=3.94e9, times=40, part=1 / 4
    ),
    _Known(
        shape=Shape(nodes=15_000, groups=10, pending=5_000), seconds=25.5, added=273, peak=4.64e9, times=40, part=1 / 4
    ),
    _Known(shape=Shape(nodes=1_000, groups=10, pending=1_000, kind="anti"), seconds=25.9, added=100, times=400),
    _Known(shape=Shape(nodes=1_000, groups=10, pending=1_000, kind="spread"), seconds=18.6, added=100, times=400),
    _Known(shape=Shape(nodes=1_000, groups=10, pending=1_000, kind="zonespread"), seconds=2.9, added=10, times=50),
    _Known(shape=Shape(nodes=1_000, groups=50, pending=1_000, kind="anti"), seconds=124, added=100, times=400),
    _Known(shape=Shape(nodes=5_000, groups=10, pending=1_000, kind="anti"), seconds=155, times=400),
    _Known(shape=Shape(nodes=5_000, groups=10, pending=1_000, kind="spread"), seconds=168, times=400),
    _Known(shape=Shape(nodes=5_000, groups=10, pending=1_000, kind="zonespread"), seconds=26.1, added=9, times=50),
    _Known(shape=Shape(nodes=15_000, groups=10, pending=1_000, kind="anti"), most=0.4),
    _Known(shape=Shape(nodes=1_000, groups=10, pending=1_000, kind="mixed")),
    _Known(shape=Shape(nodes=1_000, groups=10, pending=0, kind="down"), seconds=0.31, times=10),
    _Known(shape=Shape(nodes=5_000, groups=10, pending=0, kind="down"), seconds=1.4, times=10),
    _Known(shape=Shape(nodes=15_000, groups=10, pending=0, kind="down"), seconds=7.9, times=10),
    _Known(shape=Shape(nodes=15_000, groups=10, pending=0, kind="down", idle=(1, 15)), most=0.5),
    _Known(shape=Shape(nodes=1_000, groups=30, pending=2_000, kind="mixed", apps=40)),
    _Known(shape=Shape(nodes=1_000, groups=1, pending=50_000, apps=1), most=0.1),
    _Known(shape=Shape(nodes=1_000, groups=10, pending=0)),
    _Known(shape=Shape(nodes=5_000, groups=10, pending=0)),
]
_QUICK_NODES = 1_000
#: No group grows by more nodes in one loop.
_MOST_NODES = 1_000


def _decision(known: _Known) -> Figure:
    shape = known.shape
    world, policy, memory = shape.world(), a_policy(), Memory()
    decision, remembered, _ = decide(world, memory, policy, EPOCH)
    grown = sum(grow.count for grow in decision.grow)
    helped = sum(len(grow.pods) for grow in decision.grow)
    assert set(decision.pods) == {pod.key for pod in shape.pending_pods()}, "a pod has no verdict"
    assert set(decision.nodes) == set(world.cluster.nodes), "a node has no verdict"
    if shape.pending:
        _check_growth(shape, grown, helped)
    seconds = median_of(lambda: decide(world, memory, policy, EPOCH))
    unneeded = remembered.unneeded.since
    assert all(shape.is_idle(world.cluster.nodes[name]) for name in unneeded), "a busy node is unneeded"
    note = f"{grown} nodes for {helped} pods" if shape.pending else f"{len(unneeded)} nodes unneeded"
    if shape.kind == "down":
        idle = [name for name, node in world.cluster.nodes.items() if shape.is_idle(node)]
        reasons = {decision.nodes[name].reason for name in idle}
        assert Reason.NOT_EXAMINED not in reasons, "there was no time for all candidates"
        note = f"{len(unneeded)} of {len(idle)} candidates could go"
    if known.seconds is not None:
        note += f"; CA {duration(known.seconds)}, {known.seconds / seconds:.0f} times as long"
        note += f", {known.added} nodes" if known.added else ""
    return Figure(seconds=seconds, note=note)


def _check_growth(shape: Shape, grown: int, helped: int) -> None:
    """Compare with plain arithmetic."""
    milli = [pod.requests["cpu"] for pod in shape.pending_pods()]
    assert helped == shape.pending or grown == _MOST_NODES, f"{helped} of {shape.pending} pods are helped"
    share = helped / shape.pending
    assert grown >= ceil(sum(milli) * share / 16_000), "the new nodes can't hold the pods"
    if shape.kind == "anti":
        assert grown >= shape.pending // shape.apps, "two pods of one app share a node"
    assert 0 < grown <= shape.pending


def _case(known: _Known) -> Case:
    shape = known.shape
    name = f"decide {shape.kind if shape.pending or shape.kind == 'down' else 'quiet'}"
    name += f" {shape.nodes}/{shape.pending}/{shape.groups}"
    if shape.kind == "down" and shape.idle != Shape.idle:
        few, of = shape.idle
        name += f", {shape.nodes * few // of} idle"
    return Case(
        name=name,
        run=lambda: _decision(known),
        slow=shape.nodes > _QUICK_NODES or shape.groups > 10,
        bar=known.seconds / known.times if known.seconds and known.times else known.most,
        bar_peak=None if known.peak is None else int(known.peak * known.part),
    )


CASES = [_case(known) for known in _KNOWN]
