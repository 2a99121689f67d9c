"""Metrics that plugins have of their own."""

from collections.abc import Iterable, Mapping, Sequence

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector

from nodewright.plugins.faults import Faults

#: Names that begin so are the core's.
_OURS = ("nodewright_", "cluster_autoscaler_")


class PluginMetrics(Collector):
    """Shows the metrics of the plugins in use, each name once. One thread changes which, any may collect."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._faults: Faults | None = None
        self._collectors: tuple[tuple[str, Collector], ...] = ()
        registry.register(self)

    def show(self, collectors: Mapping[str, Sequence[Collector]], faults: Faults) -> None:
        """Show these *collectors*, by plugin, instead of all before; whatever fails in them is noted in *faults*."""
        self._faults = faults
        distinct: dict[int, tuple[str, Collector]] = {}
        for name, own in collectors.items():
            for each in own:
                distinct.setdefault(id(each), (name, each))
        self._collectors = tuple(distinct.values())

    def collect(self) -> Iterable[Metric]:
        """Return what all of them have to tell."""
        if self._faults is None:
            return
        taken: set[str] = set()
        for name, collector in self._collectors:
            nothing: tuple[Metric, ...] = ()
            found = self._faults.call(name, "collect", _collected, collector, default=nothing)
            for metric in found:
                if metric.name in taken or metric.name.startswith(_OURS):
                    problem = ValueError(f"its metric {metric.name} is left out: the name is taken")
                    self._faults.note(name, "collect", problem)
                else:
                    taken.add(metric.name)
                    yield metric


def _collected(collector: Collector) -> tuple[Metric, ...]:
    return tuple(collector.collect())
