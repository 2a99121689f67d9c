"""Series: gauges that change once per loop, and labels whose values are bounded."""

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from nodewright.api.provider import GpuConfig

_MOST_VALUES = 64
_OTHER = "other"

#: Labels about GPUs. Some metrics have ``dra_drivers`` after them.
GPU_LABELS = ("gpu_resource_name", "gpu_name")


class LoopGauges(Collector):
    """Shows the gauges of one loop, so that no scrape mixes two loops. One thread shows, any thread may collect."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._shown: tuple[Metric, ...] = ()
        registry.register(self)

    def show(self, gauges: Iterable[Metric]) -> None:
        """Replace everything shown so far by *gauges*."""
        self._shown = tuple(gauges)

    def collect(self) -> Iterable[Metric]:
        """Return the gauges that were shown last."""
        return self._shown


class ZeroFilled:
    """Counts by label in which a label, once seen, stays and goes to zero: a scrape sees that the count has ended."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def fill(self, counts: Mapping[str, int]) -> dict[tuple[str, ...], int]:
        """Return *counts*, with a zero for every other label seen before."""
        self._known |= counts.keys()
        return {(label,): counts.get(label, 0) for label in sorted(self._known)}


class BoundedLabel:
    """A label with at most 64 values, whatever clouds and plugins send; any further value becomes ``other``."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = set(known)

    def of(self, value: str) -> str:
        """Return *value*, or ``other`` if it is new and there are too many already."""
        if value not in self._known:
            if len(self._known) >= _MOST_VALUES:
                return _OTHER
            self._known.add(value)
        return value


def gpu_values(gpu: GpuConfig | None) -> tuple[str, str, str]:
    """Return the values of `GPU_LABELS` and of ``dra_drivers``; all are empty for nodes without GPUs."""
    return (gpu.resource, gpu.type, gpu.dra_driver) if gpu else ("", "", "")


def gauge(name: str, text: str, value: float) -> Metric:
    """Return a gauge without labels."""
    return GaugeMetricFamily(name, text, value=float(value))


def gauges(name: str, text: str, labels: Iterable[str], values: Mapping[tuple[str, ...], float]) -> Metric:
    """Return a gauge with *labels*; *values* has its series by the labels' values."""
    family = GaugeMetricFamily(name, text, labels=tuple(labels))
    for label_values, value in values.items():
        family.add_metric(label_values, float(value))
    return family
