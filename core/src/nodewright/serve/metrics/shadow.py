"""Metrics of a dry run: how often both autoscalers do the same, and how often not."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter


class ShadowMetrics:
    """Counts agreements and differences. Made for dry runs only: others have nothing to compare.

    All kinds are there from the start, so that an alert on their increase sees the first one.
    """

    def __init__(self, registry: CollectorRegistry, *, agreements: Iterable[str], differences: Iterable[str]) -> None:
        self._agreements = Counter(
            "nodewright_shadow_agreements",
            "How often the other autoscaler did what this one would have done, by kind.",
            ("kind",),
            registry=registry,
        )
        self._differences = Counter(
            "nodewright_shadow_differences",
            "How often the other autoscaler and this one differed, by kind.",
            ("kind",),
            registry=registry,
        )
        for kind in agreements:
            self._agreements.labels(kind=kind)
        for kind in differences:
            self._differences.labels(kind=kind)

    def agreed(self, kind: str) -> None:
        """Count an agreement."""
        self._agreements.labels(kind=kind).inc()

    def differed(self, kind: str) -> None:
        """Count a difference."""
        self._differences.labels(kind=kind).inc()
