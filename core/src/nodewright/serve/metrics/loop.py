"""Metrics of the loop: how long its parts take, when they last ran, and its errors by Cluster Autoscaler's types."""

import logging
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from time import monotonic

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric
from prometheus_client.core import SummaryMetricFamily
from prometheus_client.registry import Collector

from nodewright.api.decision import Decision, Outcome
from nodewright.api.errors import (
    AccessDeniedError,
    ApiServerError,
    CapacityError,
    ConfigurationError,
    GroupNotFoundError,
    PluginError,
    TemporaryError,
)
from nodewright.config.model import Settings
from nodewright.decision.findings import Findings
from nodewright.decision.memory import Memory
from nodewright.decision.world import World

_LEAST, _MOST, _NUMBER = 0.1, 1800.0, 150
_BUCKETS = [_LEAST * (_MOST / _LEAST) ** (index / (_NUMBER - 1)) for index in range(_NUMBER)]
_WINDOW_SECONDS = 3600.0
#: How many times of one function are remembered at most.
_REMEMBERED = 4096
_QUANTILES = (0.5, 0.9, 0.99)
#: A function that takes longer is logged.
_LONG_SECONDS = 5.0
#: Not logged, because waiting is its purpose.
_MAY_TAKE_LONG = ("loopWait",)
_CLOUD, _API = "cloudProviderError", "apiCallError"
_INTERNAL = "internalError"
#: The first match gives the type of an error.
_TYPES = (
    (ConfigurationError, "configurationError"),
    (GroupNotFoundError, "nodeGroupDoesNotExistError"),
    ((ApiServerError, AccessDeniedError), _API),
    (TemporaryError, "transientError"),
    ((PluginError, CapacityError), _CLOUD),
)
_BY_ACTION = {
    "grow": _CLOUD,
    "shrink": _CLOUD,
    "delete-instances": _CLOUD,
    "drain": _API,
    "restore": _API,
}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class LoopResult:
    """What one loop saw and decided. Read it before the loop goes on, as the cluster in it changes."""

    world: World
    decision: Decision
    #: Memory after the decision.
    memory: Memory
    settings: Settings
    findings: Findings


class FunctionMetrics:
    """Durations and last start of the parts of a loop, by Cluster Autoscaler's names. Written on the loop's thread."""

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
    """A summary with quantiles of the last hour, which the library's own summary does not have."""

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


class ErrorMetrics:
    """Counts errors, each type at most once per loop. Written on the loop's thread."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._errors = Counter(
            "cluster_autoscaler_errors",
            "Loops with an error, by its type.",
            ("type",),
            registry=registry,
        )
        for kind in (*(name for _, name in _TYPES), _INTERNAL, "unexpectedScaleDownStateError"):
            self._errors.labels(kind)
        self._counted: set[str] = set()

    def begin(self) -> None:
        """Begin another loop."""
        self._counted.clear()

    def note(self, error: Exception) -> None:
        """Count the error that ended a loop."""
        self._count(next((name for kinds, name in _TYPES if isinstance(error, kinds)), _INTERNAL))

    def note_loop(self, loop: LoopResult) -> None:
        """Count clouds that could not be read or did not answer."""
        if any(facts.error for facts in loop.world.groups):
            self._count(_CLOUD)

    def note_outcomes(self, outcomes: Iterable[Outcome]) -> None:
        """Count actions that failed. A refused eviction is no error."""
        for outcome in outcomes:
            if not outcome.ok and outcome.action in _BY_ACTION:
                self._count(_BY_ACTION[outcome.action])

    def _count(self, kind: str) -> None:
        if kind not in self._counted:
            self._counted.add(kind)
            self._errors.labels(kind).inc()
