"""Metrics of calls to AWS: how many, how long, with which result."""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client import Counter, Histogram


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """The metrics of all calls, shared by all accounts and regions, as in Cluster Autoscaler."""

    durations: "Histogram"
    retries: "Counter"


@cache
def metrics() -> Metrics:
    """Return the process' only set of metrics."""
    # Takes half as long to import as the rest of this plugin.
    from prometheus_client import Counter, Histogram

    return Metrics(
        durations=Histogram(
            "cluster_autoscaler_aws_request_duration_seconds",
            "Duration of calls to AWS, including retries, by operation and by result: success or the error code.",
            ["endpoint", "status"],
            buckets=(0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0),
            registry=None,
        ),
        retries=Counter(
            "nodewright_aws_request_retries",
            "Retries of calls to AWS, by operation.",
            ["endpoint"],
            registry=None,
        ),
    )


def observe(endpoint: str, status: str, *, seconds: float, retries: int) -> None:
    """Count a call of *endpoint*, an operation in AWS' spelling, that ended with *status*."""
    metrics().durations.labels(endpoint, status).observe(seconds)
    if retries:
        metrics().retries.labels(endpoint).inc(retries)
