"""Metrics for Prometheus."""

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from nodewright.memory import KnownTemplate
from nodewright.serve.memory_metrics import MemoryMetrics
from nodewright.serve.scale_down_metrics import ScaleDownMetrics

_SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


class Metrics:
    """All metrics of one autoscaler, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.decision_seconds = Histogram(
            "nodewright_decision_seconds", "Time to decide.", buckets=_SECONDS, registry=self.registry
        )
        self.loop_seconds = Histogram(
            "nodewright_loop_seconds",
            "Time of a whole loop: observe, decide and act.",
            buckets=_SECONDS,
            registry=self.registry,
        )
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
        self.template_differences = Gauge(
            "nodewright_template_differences",
            "In how much the nodes of a group are not as its provider's template promises.",
            ("group",),
            registry=self.registry,
        )
        self.scale_down = ScaleDownMetrics(self.registry)
        self.memory = MemoryMetrics(self.registry)

    def note_templates(self, templates: Mapping[str, KnownTemplate]) -> None:
        """Take over what is remembered of groups' templates."""
        self.template_differences.clear()
        for group, known in templates.items():
            self.template_differences.labels(group=group).set(len(known.differences))

    def render(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self.registry)
