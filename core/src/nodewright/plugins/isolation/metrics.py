"""The metrics of a plugin in a process of its own: collected there, and served by Nodewright."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from prometheus_client import Metric
from prometheus_client.registry import Collector

#: Name, text, type, unit and samples of each metric; of a sample: name, labels, value and time.
Samples = tuple[tuple[str, str, str, str, tuple[tuple[str, dict[str, str], float, float | None], ...]], ...]


def samples_of(metrics: Iterable[Any]) -> Samples:
    """Return *metrics* as plain values. Exemplars are left out."""
    return tuple(
        (
            metric.name,
            metric.documentation,
            metric.type,
            getattr(metric, "unit", ""),
            tuple(
                (
                    each.name,
                    dict(each.labels),
                    float(each.value),
                    None if each.timestamp is None else float(each.timestamp),
                )
                for each in metric.samples
            ),
        )
        for metric in metrics
    )


class IsolatedCollector(Collector):
    """Stands for one collector of the plugin. *ask* collects there, or describes what would be collected."""

    def __init__(self, number: int, describes: bool, ask: Callable[[str, int], Samples]) -> None:
        self._number = number
        self._describes = describes
        self._ask = ask

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics as they are now."""
        return self._metrics("collect")

    def describe(self) -> Iterator[Metric]:
        """Yield the metrics without their values."""
        return self._metrics("describe" if self._describes else "collect")

    def _metrics(self, method: str) -> Iterator[Metric]:
        for name, text, kind, unit, samples in self._ask(method, self._number):
            metric = Metric(name, text, kind, unit)
            for sample in samples:
                metric.add_sample(*sample)
            yield metric
