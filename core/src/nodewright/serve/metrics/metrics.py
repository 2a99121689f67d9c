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
from nodewright.serve.metrics.absent import export_absent
from nodewright.serve.metrics.cluster import ClusterGauges
from nodewright.serve.metrics.columns import column_gauges
from nodewright.serve.metrics.cost import cost_gauges
from nodewright.serve.metrics.errors import ErrorMetrics
from nodewright.serve.metrics.functions import FunctionMetrics
from nodewright.serve.metrics.groups import group_gauges
from nodewright.serve.metrics.memory import MemoryMetrics
from nodewright.serve.metrics.panel import Panel, gauge
from nodewright.serve.metrics.plugins import PluginMetrics
from nodewright.serve.metrics.process import ProcessMetrics
from nodewright.serve.metrics.scale_down import ScaleDownMetrics
from nodewright.serve.metrics.scale_up import ScaleUpMetrics
from nodewright.serve.metrics.sight import Sight

_SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
#: What Cluster Autoscaler calls the activities that begin with a stage of a decision.
_ACTIVITIES = {"scaleUp": ("autoscaling", "scaleUp"), "findUnneeded": ("scaleDown",)}

_log = logging.getLogger(__name__)


class Metrics:
    """All metrics, in a registry of its own. Written on the loop's thread, read on any; nothing raises."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = 0.0
        self.registry = CollectorRegistry()
        self.process = ProcessMetrics(self.registry)
        self.memory = MemoryMetrics(self.registry)
        self._phases = {
            phase: Histogram(name, text, buckets=_SECONDS, registry=self.registry)
            for phase, name, text in (
                ("observe", "nodewright_observe_seconds", "Time to take up changes and to read the clouds."),
                ("decide", "nodewright_decision_seconds", "Time to decide."),
                ("act", "nodewright_act_seconds", "Time to carry a decision out."),
                ("loop", "nodewright_loop_seconds", "Time of a whole loop that ended well: observe, decide and act."),
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
            "Events that were never written, as the API server took them more slowly than they came.",
            registry=self.registry,
        )
        self._functions = FunctionMetrics(self.registry)
        self._errors = ErrorMetrics(self.registry)
        self._scale_up = ScaleUpMetrics(self.registry)
        self._scale_down = ScaleDownMetrics(self.registry)
        self._cluster = ClusterGauges()
        export_absent(self.registry)
        self._panel = Panel(self.registry)
        #: What plugins have of their own.
        self.plugins = PluginMetrics(self.registry)

    def begin_loop(self) -> None:
        """Note that a loop begins."""
        self._began = perf_counter()
        self._errors.begin()
        self._functions.ran("main", self._clock.now())

    def took(self, seconds: Mapping[str, float]) -> None:
        """Note how many *seconds* parts took: observe, decide, act, or a function by Cluster Autoscaler's name."""
        for part, spent in seconds.items():
            if part in self._phases:
                self._phases[part].observe(spent)
            else:
                self._functions.took(part, spent)
            for activity in _ACTIVITIES.get(part, ()):
                self._functions.ran(activity, self._clock.now())

    def note_loop(self, sight: Sight, before: Memory) -> None:
        """Take over what a loop saw and decided, beginning with the memory *before*."""
        try:
            self._errors.note_loop(sight)
            self._scale_up.note_loop(sight, before)
            self._scale_down.note_loop(sight)
            self._panel.show(self._gauges(sight))
        except Exception:
            # What plugins told may be anything; it must not stop the loop here.
            _log.exception("the metrics of this loop could not be told")

    def note_orders(self, decision: Decision, world: World) -> None:
        """Take up what is about to be done."""
        self._scale_up.note_orders(decision, world)

    def note_outcomes(self, outcomes: tuple[Outcome, ...]) -> None:
        """Count what was done; outcomes may come later than their decision."""
        self._errors.note_outcomes(outcomes)
        self._scale_up.note_outcomes(outcomes)
        self._scale_down.note_outcomes(outcomes)

    def end_loop(self, seconds: float) -> None:
        """Note that a loop has ended well, so many *seconds* after it began."""
        self._phases["loop"].observe(seconds)
        self._functions.took("main", seconds)
        self._functions.ran("mainSuccessful", self._clock.now())

    def note_failure(self, error: Exception) -> None:
        """Note that a loop has ended with an *error*."""
        self._functions.took("main", perf_counter() - self._began)
        self._errors.note(error)

    def exposition(self, accept: str) -> tuple[bytes, str]:
        """Return all metrics in the format that an ``Accept`` header asks for, and the type of that."""
        encode, content_type = choose_encoder(accept)
        return encode(_WithoutTimes(self.plugins)), content_type

    def render(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(_WithoutTimes(self.plugins))

    def _gauges(self, sight: Sight) -> Iterator[Metric]:
        per_group = sight.settings.metrics.per_group
        yield from self._cluster.of(sight)
        yield from self._scale_down.gauges(sight)
        yield from cost_gauges(sight, per_group=per_group)
        yield from column_gauges(sight.world.cluster)
        differing = [known for known in sight.memory.learnt.templates.values() if known.differences]
        yield gauge(
            "nodewright_groups_with_template_differences",
            "Groups whose nodes are not as their provider's template promises.",
            len(differing),
        )
        if per_group:
            yield from group_gauges(sight)


class _WithoutTimes(Collector):
    """Leaves out when each counter was made: one more series for each, which Cluster Autoscaler does not have."""

    def __init__(self, metrics: Collector) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        for family in self._metrics.collect():
            plain = copy(family)
            plain.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield plain
