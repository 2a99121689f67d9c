"""How often AWS is called, how long that takes, and how it ends."""

from collections.abc import Sequence

from prometheus_client import Counter, Histogram
from prometheus_client.registry import Collector

# Shared by all accounts and regions, as in Cluster Autoscaler.
_DURATION = Histogram(
    "aws_request_duration_seconds",
    "Time that calls of AWS take, retries included, by operation and by success or the code of the refusal.",
    ["endpoint", "status"],
    buckets=(0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0),
    registry=None,
)
_RETRIES = Counter(
    "aws_request_retries",
    "Times that calls of AWS were tried again, by operation.",
    ["endpoint"],
    registry=None,
)

COLLECTORS: Sequence[Collector] = (_DURATION, _RETRIES)


def observe(endpoint: str, status: str, *, seconds: float, retries: int) -> None:
    """Count a call of *endpoint*, an operation as AWS writes it, that ended with *status*."""
    _DURATION.labels(endpoint, status).observe(seconds)
    if retries:
        _RETRIES.labels(endpoint).inc(retries)
