"""Metrics of the process: its build, its lease and watches, stored memory, a dry run, and what plugins add."""

import platform
from collections.abc import Callable, Iterable, Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Info, Metric, ProcessCollector, generate_latest
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector

from nodewright import __version__
from nodewright.plugins.faults import Faults
from nodewright.serve.metrics.series import gauges


class ProcessMetrics:
    """The process's version, memory and CPU time, whether it leads, and the watches that fail.

    Each scrape calls *leading* and *troubles* on the server's threads, so both must return at once. The process sets
    them once it knows the answers.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        #: Whether this process leads; None if it takes no part in leader election.
        self.leading: Callable[[], bool] | None = lambda: True
        #: The trouble with each watched kind; empty for a kind without any.
        self.troubles: Callable[[], Mapping[str, str]] = dict
        ProcessCollector(registry=registry)
        Info("nodewright_build", "The version that runs.", registry=registry).info(
            {"version": __version__, "python_version": platform.python_version()}
        )
        registry.register(_Live(self))


class _Live(Collector):
    """The gauges that are computed at each scrape."""

    def __init__(self, process: ProcessMetrics) -> None:
        self._process = process

    def collect(self) -> Iterable[Metric]:
        leading = self._process.leading
        yield gauges(
            "nodewright_leader",
            "Whether this process holds the lease, or needs none.",
            (),
            {} if leading is None else {(): leading()},
        )
        yield gauges(
            "nodewright_watch_trouble",
            "Whether the watch of a kind of objects fails at the moment.",
            ("kind",),
            {(kind,): bool(trouble) for kind, trouble in self._process.troubles().items()},
        )


class MemoryMetrics:
    """Results of writing memory to its store. Safe to use from any thread."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._writes = Counter(
            "nodewright_memory_writes",
            "Attempts to store memory, by whether they succeeded.",
            ("outcome",),
            registry=registry,
        )
        for outcome in ("ok", "failed"):
            self._writes.labels(outcome=outcome)
        self._bytes = Gauge("nodewright_memory_bytes", "Size of the memory that was stored last.", registry=registry)
        self._shed = Gauge(
            "nodewright_memory_shed", "Parts of memory that the store has no room for.", registry=registry
        )

    def note(self, *, ok: bool, size: int, shed: int) -> None:
        """Note an attempt to store *size* bytes, after *shed* parts were left out for lack of room."""
        self._writes.labels(outcome="ok" if ok else "failed").inc()
        if ok:
            self._bytes.set(size)
            self._shed.set(shed)


class ShadowMetrics:
    """Counts agreements and differences with the other autoscaler. For dry runs only, as others compare nothing.

    All kinds start at 0, so that an alert on an increase sees the first one.
    """

    def __init__(self, registry: CollectorRegistry, *, agreements: Iterable[str], differences: Iterable[str]) -> None:
        self._agreements = Counter(
            "nodewright_shadow_agreements",
            "How often the other autoscaler did what this one would have done, by kind.",
            ("kind",),
            registry=registry,
        )
        self._differences = Counter(
            "nodewright_shadow_differences",
            "How often the other autoscaler and this one differed, by kind.",
            ("kind",),
            registry=registry,
        )
        for kind in agreements:
            self._agreements.labels(kind=kind)
        for kind in differences:
            self._differences.labels(kind=kind)

    def agreed(self, kind: str) -> None:
        """Count an agreement."""
        self._agreements.labels(kind=kind).inc()

    def differed(self, kind: str) -> None:
        """Count a difference."""
        self._differences.labels(kind=kind).inc()


class PluginMetrics(Collector):
    """The core's metrics, then those of the plugins in use; each name appears once.

    One thread sets the plugins, any thread may collect.
    """

    def __init__(self, core: Collector | CollectorRegistry) -> None:
        self._core = core
        self._faults: Faults | None = None
        self._collectors: tuple[tuple[str, Collector], ...] = ()

    def show(self, collectors: Mapping[str, Sequence[Collector]], faults: Faults) -> None:
        """Replace the plugins' collectors by *collectors*, by plugin name; their failures are noted in *faults*."""
        self._faults = faults
        distinct: dict[int, tuple[str, Collector]] = {}
        for name, own in collectors.items():
            for each in own:
                distinct.setdefault(id(each), (name, each))
        self._collectors = tuple(distinct.values())

    def collect(self) -> Iterable[Metric]:
        """Return the core's metrics, then the plugins'."""
        taken: set[str] = set()
        for metric in self._core.collect():
            taken.add(metric.name)
            yield metric
        if self._faults is not None:
            yield from self._of_plugins(self._faults, taken)

    def _of_plugins(self, faults: Faults, taken: set[str]) -> Iterable[Metric]:
        for name, collector in self._collectors:
            nothing: tuple[Metric, ...] = ()
            found = faults.call(name, "collect", _collected, collector, default=nothing)
            for metric in found:
                if not faults.call(name, "collect", _writable, metric, default=False):
                    continue
                if metric.name in taken:
                    problem = ValueError(f"its metric {metric.name} is left out: the name is taken")
                    faults.note(name, "collect", problem)
                else:
                    taken.add(metric.name)
                    yield metric


def _collected(collector: Collector) -> tuple[Metric, ...]:
    return tuple(collector.collect())


def _writable(metric: object) -> bool:
    """Write *metric* in each format, and raise what keeps it from being written: it would spoil all the others."""
    if not isinstance(metric, Metric):
        raise TypeError(f"collect() returned {type(metric).__name__} instead of a metric")
    for write in (generate_latest, openmetrics.generate_latest):
        write(_Alone(metric))
    return True


class _Alone(Collector):
    """One metric."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    def collect(self) -> Iterable[Metric]:
        yield self._metric


def export_absent(registry: CollectorRegistry) -> None:
    """Add Cluster Autoscaler's metrics of what does not happen here, so that its dashboards and alerts find a 0."""
    Gauge(
        "cluster_autoscaler_overflowing_controllers_count",
        "Controllers whose pods differ too much to be handled together: 0, as there is no such limit.",
        registry=registry,
    )
    Gauge(
        "cluster_autoscaler_inconsistent_instances_migs_count",
        "Groups whose instances are listed in two ways that differ: 0, as there is only one list.",
        registry=registry,
    )
    for verb in ("created", "deleted"):
        groups = Counter(
            f"cluster_autoscaler_{verb}_node_groups",
            f"Node groups that the autoscaler {verb}: 0 in this version.",
            ("group_type",),
            registry=registry,
        )
        groups.labels("")
    Gauge(
        "cluster_autoscaler_skipped_pods_count",
        "Pods left out on request: no series in this version.",
        ("requestor",),
        registry=registry,
    )
    Gauge(
        "cluster_autoscaler_dra_node_template_resources_mismatch",
        "Device pools of nodes that differ from their template: no series in this version.",
        ("driver", "mismatch_type"),
        registry=registry,
    )
