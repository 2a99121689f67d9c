"""The panel: gauges that a loop sets all at once, so that no scrape sees a mixture of two loops."""

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector


class Panel(Collector):
    """Shows what it was last given. One thread gives, any may collect."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._shown: tuple[Metric, ...] = ()
        registry.register(self)

    def show(self, gauges: Iterable[Metric]) -> None:
        """Show *gauges* instead of all that was shown before."""
        self._shown = tuple(gauges)

    def collect(self) -> Iterable[Metric]:
        """Return what is shown."""
        return self._shown


class Lasting:
    """Counts by label, in which what is counted no more is zero from then on: no scrape misses its end."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def filled(self, counts: Mapping[str, int]) -> dict[tuple[str, ...], int]:
        """Return *counts* with zeros for all else that was ever counted."""
        self._known |= counts.keys()
        return {(label,): counts.get(label, 0) for label in sorted(self._known)}


def gauge(name: str, text: str, value: float) -> Metric:
    """Return a gauge without labels."""
    return GaugeMetricFamily(name, text, value=float(value))


def gauges(name: str, text: str, labels: Iterable[str], values: Mapping[tuple[str, ...], float]) -> Metric:
    """Return a gauge with *values* by the values of its *labels*."""
    family = GaugeMetricFamily(name, text, labels=tuple(labels))
    for label_values, value in values.items():
        family.add_metric(label_values, float(value))
    return family
