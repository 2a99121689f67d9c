"""Metrics that plugins have of their own, beside the core's."""

from collections.abc import Iterable, Mapping, Sequence

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector

from nodewright.plugins.faults import Faults


class PluginMetrics(Collector):
    """Shows the metrics of the plugins in use after the core's own, each name once.

    One thread changes which plugins, any may collect.
    """

    def __init__(self, core: Collector | CollectorRegistry) -> None:
        self._core = core
        self._faults: Faults | None = None
        self._collectors: tuple[tuple[str, Collector], ...] = ()

    def show(self, collectors: Mapping[str, Sequence[Collector]], faults: Faults) -> None:
        """Show these *collectors*, by plugin, instead of all before; whatever fails in them is noted in *faults*."""
        self._faults = faults
        distinct: dict[int, tuple[str, Collector]] = {}
        for name, own in collectors.items():
            for each in own:
                distinct.setdefault(id(each), (name, each))
        self._collectors = tuple(distinct.values())

    def collect(self) -> Iterable[Metric]:
        """Return what the core has to tell, and then what the plugins have."""
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
                if metric.name in taken:
                    problem = ValueError(f"its metric {metric.name} is left out: the name is taken")
                    faults.note(name, "collect", problem)
                else:
                    taken.add(metric.name)
                    yield metric


def _collected(collector: Collector) -> tuple[Metric, ...]:
    return tuple(collector.collect())
