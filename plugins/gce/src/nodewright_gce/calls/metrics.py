"""Metrics of calls to Google: how many, how long, with which result."""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client import Gauge, Histogram


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """The metrics of all calls, shared by all projects, as in Cluster Autoscaler."""

    requests: "Gauge"
    durations: "Histogram"


@cache
def metrics() -> Metrics:
    """Return the process' only set of metrics."""
    # Takes half as long to import as the rest of this plugin.
    from prometheus_client import Gauge, Histogram

    return Metrics(
        # A counter's name would end in _total, which Cluster Autoscaler's does not.
        requests=Gauge(
            "cluster_autoscaler_gce_request_count",
            "Requests to Google, by resource and verb.",
            ["resource", "verb"],
            registry=None,
        ),
        durations=Histogram(
            "nodewright_gce_request_duration_seconds",
            "Duration of requests to Google, by resource, verb and result: success, or the reason of the refusal.",
            ["resource", "verb", "status"],
            buckets=(0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0),
            registry=None,
        ),
    )


def observe(resource: str, verb: str, status: str, *, seconds: float) -> None:
    """Count a request that ended with *status*."""
    metrics().requests.labels(resource, verb).inc()
    metrics().durations.labels(resource, verb, status).observe(seconds)
