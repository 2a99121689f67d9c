"""How long the parts of a loop take, and when they last ran, by Cluster Autoscaler's names for them."""

import logging
from collections import deque
from collections.abc import Iterable
from datetime import datetime
from threading import Lock
from time import monotonic

from prometheus_client import CollectorRegistry, Gauge, Histogram, Metric
from prometheus_client.core import SummaryMetricFamily
from prometheus_client.registry import Collector

_LEAST, _MOST, _NUMBER = 0.1, 1800.0, 150
_BUCKETS = [_LEAST * (_MOST / _LEAST) ** (index / (_NUMBER - 1)) for index in range(_NUMBER)]
_WINDOW_SECONDS = 3600.0
#: So many times of one function are remembered at most.
_REMEMBERED = 4096
_QUANTILES = (0.5, 0.9, 0.99)
#: What takes longer is logged.
_LONG_SECONDS = 5.0
#: Not worth a line: to wait is what it is for.
_MAY_TAKE_LONG = ("loopWait",)

_log = logging.getLogger(__name__)


class FunctionMetrics:
    """Durations and last times of what a loop consists of. Written on the loop's thread."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._durations = Histogram(
            "cluster_autoscaler_function_duration_seconds",
            "Time of the parts of a loop.",
            ("function",),
            buckets=_BUCKETS,
            registry=registry,
        )
        self._quantiles = _Quantiles(registry)
        self._activity = Gauge(
            "cluster_autoscaler_last_activity",
            "When each part of a loop last began, in seconds since 1970.",
            ("activity",),
            registry=registry,
        )

    def took(self, function: str, seconds: float) -> None:
        """Note how long a part of a loop took."""
        if seconds > _LONG_SECONDS and function not in _MAY_TAKE_LONG:
            _log.info("%s took %.1f s", function, seconds)
        self._durations.labels(function).observe(seconds)
        self._quantiles.observe(function, seconds)

    def ran(self, activity: str, at: datetime) -> None:
        """Note when a part of a loop began."""
        self._activity.labels(activity).set(int(at.timestamp()))


class _Quantiles(Collector):
    """A summary of the last hour; the library's own has no quantiles."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._lock = Lock()
        self._recent: dict[str, deque[tuple[float, float]]] = {}
        self._totals: dict[str, tuple[int, float]] = {}
        registry.register(self)

    def observe(self, function: str, seconds: float) -> None:
        with self._lock:
            self._recent.setdefault(function, deque(maxlen=_REMEMBERED)).append((monotonic(), seconds))
            count, total = self._totals.get(function, (0, 0.0))
            self._totals[function] = count + 1, total + seconds

    def collect(self) -> Iterable[Metric]:
        oldest = monotonic() - _WINDOW_SECONDS
        with self._lock:
            totals = dict(self._totals)
            recent = {name: [each for at, each in times if at >= oldest] for name, times in self._recent.items()}
        family = SummaryMetricFamily(
            "cluster_autoscaler_function_duration_quantile_seconds",
            "Quantiles of the time of the parts of a loop, over the last hour.",
            labels=("function",),
        )
        for function, (count, total) in totals.items():
            times = sorted(recent[function])
            for quantile in _QUANTILES:
                value = times[min(len(times) - 1, int(quantile * len(times)))] if times else float("nan")
                family.add_sample(family.name, {"function": function, "quantile": str(quantile)}, value)
            family.add_metric((function,), count_value=count, sum_value=total)
        return (family,)
