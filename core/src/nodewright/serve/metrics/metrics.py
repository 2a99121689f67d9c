"""All metrics of one autoscaler."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from time import perf_counter

from prometheus_client import CollectorRegistry, Counter, Histogram, Metric
from prometheus_client.exposition import choose_encoder, generate_latest
from prometheus_client.registry import Collector

from nodewright.api.clock import Clock
from nodewright.api.decision import Decision, Outcome
from nodewright.decision.memory import Memory
from nodewright.decision.world import World
from nodewright.serve.metrics.cluster import (
    ClusterGauges,
    column_gauges,
    cost_gauges,
    difference_gauge,
    group_gauges,
    pause_gauge,
)
from nodewright.serve.metrics.loop import ErrorMetrics, FunctionMetrics, LoopResult
from nodewright.serve.metrics.process import MemoryMetrics, PluginMetrics, ProcessMetrics, export_absent
from nodewright.serve.metrics.scale_down import ScaleDownMetrics
from nodewright.serve.metrics.scale_up import ScaleUpMetrics
from nodewright.serve.metrics.series import LoopGauges

_SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
#: Cluster Autoscaler's names of the activities that begin with a part of a loop.
_ACTIVITIES = {"scaleUp": ("autoscaling", "scaleUp"), "findUnneeded": ("scaleDown",)}

_log = logging.getLogger(__name__)


class Metrics:
    """All metrics, in a registry of their own. Written on the loop's thread, read on any thread; nothing raises."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = 0.0
        self.registry = CollectorRegistry()
        self.process = ProcessMetrics(self.registry)
        self.memory = MemoryMetrics(self.registry)
        self._phases = {
            phase: Histogram(name, text, buckets=_SECONDS, registry=self.registry)
            for phase, name, text in (
                (
                    "observe",
                    "nodewright_observe_seconds",
                    "Time to apply changes of the cluster and to read the clouds.",
                ),
                ("decide", "nodewright_decision_seconds", "Time to decide."),
                ("act", "nodewright_act_seconds", "Time to carry out a decision."),
                ("loop", "nodewright_loop_seconds", "Time of a whole loop that succeeded: observe, decide and act."),
            )
        }
        self.plugin_faults = Counter(
            "nodewright_plugin_faults",
            "Failures of plugins, by plugin and by the method or hook that failed.",
            ("plugin", "where"),
            registry=self.registry,
        )
        self.events_dropped = Counter(
            "nodewright_events_dropped",
            "Events dropped because the API server accepts them more slowly than they arise.",
            registry=self.registry,
        )
        self._functions = FunctionMetrics(self.registry)
        self._errors = ErrorMetrics(self.registry)
        self._scale_up = ScaleUpMetrics(self.registry)
        self._scale_down = ScaleDownMetrics(self.registry)
        self._cluster = ClusterGauges()
        export_absent(self.registry)
        self._loop_gauges = LoopGauges(self.registry)
        #: The metrics that plugins add.
        self.plugins = PluginMetrics(self.registry)

    def begin_loop(self) -> None:
        """Note that a loop begins."""
        self._began = perf_counter()
        self._errors.begin()
        self._functions.ran("main", self._clock.now())

    def took(self, seconds: Mapping[str, float]) -> None:
        """Note how many *seconds* parts took: observe, decide, act, or a function as Cluster Autoscaler names it."""
        for part, spent in seconds.items():
            if part in self._phases:
                self._phases[part].observe(spent)
            else:
                self._functions.took(part, spent)
            for activity in _ACTIVITIES.get(part, ()):
                self._functions.ran(activity, self._clock.now())

    def note_loop(self, loop: LoopResult, before: Memory) -> None:
        """Take up the result of a loop that began with the memory *before*."""
        try:
            self._errors.note_loop(loop)
            self._scale_up.note_loop(loop, before)
            self._scale_down.note_loop(loop)
            self._loop_gauges.show(self._gauges(loop))
        except Exception:
            # A plugin may have put anything into the result, and metrics must not stop the loop.
            _log.exception("the metrics of this loop could not be updated")

    def note_orders(self, decision: Decision, world: World) -> None:
        """Take up the orders that are about to be placed."""
        self._scale_up.note_orders(decision, world)

    def note_outcomes(self, outcomes: tuple[Outcome, ...]) -> None:
        """Count outcomes, which may belong to the decision of an earlier loop."""
        self._errors.note_outcomes(outcomes)
        self._scale_up.note_outcomes(outcomes)
        self._scale_down.note_outcomes(outcomes)

    def end_loop(self, seconds: float) -> None:
        """Note that a loop has succeeded, *seconds* after it began."""
        self._phases["loop"].observe(seconds)
        self._functions.took("main", seconds)
        self._functions.ran("mainSuccessful", self._clock.now())

    def note_failure(self, error: Exception) -> None:
        """Note that a loop has failed with *error*."""
        self._functions.took("main", perf_counter() - self._began)
        self._errors.note(error)

    def exposition(self, accept: str) -> tuple[bytes, str]:
        """Return all metrics in the format that an ``Accept`` header asks for, and its content type."""
        encode, content_type = choose_encoder(accept)
        return encode(_WithoutTimes(self.plugins)), content_type

    def render(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(_WithoutTimes(self.plugins))

    def _gauges(self, loop: LoopResult) -> Iterator[Metric]:
        per_group = loop.settings.metrics.per_group
        yield from self._cluster.of(loop)
        yield from self._scale_down.gauges(loop)
        yield from cost_gauges(loop, per_group=per_group)
        yield from column_gauges(loop.world.cluster)
        yield difference_gauge(loop)
        yield pause_gauge(loop)
        if per_group:
            yield from group_gauges(loop)


class _WithoutTimes(Collector):
    """Leaves out the series with each counter's creation time, which Cluster Autoscaler does not have."""

    def __init__(self, metrics: Collector) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        for family in self._metrics.collect():
            plain = copy(family)
            plain.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield plain
