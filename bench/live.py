"""The real process in a large cluster: time to the first decision, CPU and memory, time from pod to node."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from statistics import median
from time import monotonic, sleep

from bench.churn import Churn
from bench.measure import Case, Figure, duration
from bench.process import Process
from bench.served import PER_NODE, ServedCluster

_RATE = 200.0
_SAMPLES = 25
_STEADY_SECONDS = 60.0
_PATIENCE = 120.0
#: After the first nodes have come and all is told, nothing of the start is left to be done.
_REST_SECONDS = 15.0
_PAUSE_SECONDS = 6.0

_MOST_START, _MOST_MEMORY, _MOST_SHARE, _MOST_WAIT = 60.0, 700e6, 0.40, 1.5


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The figures of one process."""

    #: Seconds until it ordered its first node, and how much CPU time it had used by then.
    start: float
    work: float
    #: Bytes: the most that it ever had, and what it has while changes come.
    peak: int
    memory: int
    #: Of one core, while changes come.
    share: float
    #: Seconds from each pod that fits nowhere to the order of its node, sorted.
    waits: list[float]
    #: Of one core, while those pods come, too.
    busy_share: float


def measure(
    nodes: int, *, rate: float, seconds: float, samples: int, rest: float = _REST_SECONDS, pause: float = _PAUSE_SECONDS
) -> Measured:
    """Run ``nodewright run`` with default settings in a cluster of so many nodes, and return its figures.

    Before the steady state it has *rest* seconds, and before each pod that needs a node up to *pause*.
    Raises `AssertionError` if it did anything else than to order one node for each pod that needs one.
    """
    with ServedCluster(nodes) as cluster:
        cluster.want_node("first")
        with Process(cluster.configuration, cluster.kubeconfig) as process:
            _until_ordered(cluster, 1, process)
            start, work = monotonic() - process.began, process.cpu_seconds
            _settle(cluster, "first", process)
            with Churn(cluster.store, cluster.first_nodes, rate) as churn:
                sleep(rest)
                share = _share(process, churn, seconds, rate)
                memory = process.memory
                before, began = process.cpu_seconds, monotonic()
                waits = _waits(cluster, process, samples, pause)
                busy_share = (process.cpu_seconds - before) / (monotonic() - began)
            peak = process.peak
        ordered = len(cluster.orders)
    complaints = [line for line in process.told.splitlines() if " WARNING " in line or " ERROR " in line]
    assert not complaints, complaints[0]
    assert ordered == samples + 1, f"{ordered} nodes were ordered for {samples + 1} pods"
    return Measured(
        start=start, work=work, peak=peak, memory=memory, share=share, waits=sorted(waits), busy_share=busy_share
    )


def _live(nodes: int, *, seconds: float = _STEADY_SECONDS, samples: int = _SAMPLES) -> Figure:
    if sys.platform != "linux":
        return Figure(seconds=0, skipped="what a process takes is read as Linux tells it")
    found = measure(nodes, rate=_RATE, seconds=seconds, samples=samples)
    figures = (
        ("start to first order", found.start, _MOST_START, duration),
        ("peak memory", found.peak, _MOST_MEMORY, _megabytes),
        (f"share of a core with {_RATE:g} changes/s", found.share, _MOST_SHARE, _percent),
        ("unschedulable pod to order, median", median(found.waits), _MOST_WAIT, duration),
    )
    spread = " ".join(f"{wait:.2f}" for wait in found.waits)
    return Figure(
        seconds=found.work,
        peak=found.peak,
        note=f"CPU of the process to the first order; {nodes * PER_NODE} pods",
        lines=[
            *(f"{name}: {shown(value)} (bar {shown(bar)})" for name, value, bar, shown in figures),
            f"memory in the steady state: {_megabytes(found.memory)}",
            f"share of a core while nodes are needed again and again: {_percent(found.busy_share)}",
            f"pods waited, each in seconds: {spread}",
        ],
        wrong=[f"{name} over {shown(bar)}" for name, value, bar, shown in figures if value > bar],
    )


def _share(process: Process, churn: Churn, seconds: float, rate: float) -> float:
    """Return the share of one core that the process uses at the given rate of changes."""
    work, changes, began = process.cpu_seconds, churn.changes, monotonic()
    sleep(seconds)
    passed = monotonic() - began
    made = (churn.changes - changes) / passed
    assert made > 0.95 * rate, f"only {made:.0f} changes a second were made"
    return (process.cpu_seconds - work) / passed


def _waits(cluster: ServedCluster, process: Process, samples: int, pause: float) -> list[float]:
    """Return the seconds between a pod that fits nowhere and the order of its node, for several pods."""
    chance = Random(0)
    waits = []
    for number in range(samples):
        # In any phase of the loop.
        sleep(chance.uniform(0, pause))
        began = cluster.want_node(f"waiting-{number}")
        _until_ordered(cluster, number + 2, process)
        waits.append((cluster.orders[-1] - began).total_seconds())
        _settle(cluster, f"waiting-{number}", process)
    return waits


def _settle(cluster: ServedCluster, pod: str, process: Process) -> None:
    """Wait for the node that was ordered last, and let the pod run on it."""
    _until(lambda: _newest(cluster) is not None, process)
    node = _newest(cluster)
    assert node is not None
    cluster.bind(pod, node)


def _until_ordered(cluster: ServedCluster, count: int, process: Process) -> None:
    _until(lambda: len(cluster.orders) >= count, process)


def _newest(cluster: ServedCluster) -> str | None:
    ordered = [entry.machine for entry in cluster.cloud.history if entry.event == "ordered"]
    return ordered[-1] if cluster.store.find("nodes", ordered[-1]) else None


def _until(holds: Callable[[], bool], process: Process) -> None:
    end = monotonic() + _PATIENCE
    while not holds():
        assert process.alive, "the autoscaler has ended"
        assert monotonic() < end, "it never came to that"
        sleep(0.01)


def _megabytes(size: float) -> str:
    return f"{size / 1e6:.0f} MB"


def _percent(share: float) -> str:
    return f"{share:.0%}"


CASES = [
    Case(name="live 6000", run=lambda: _live(200, seconds=20, samples=10)),
    Case(name="live 150000", run=lambda: _live(5_000), slow=True),
]
