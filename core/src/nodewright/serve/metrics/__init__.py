"""Metrics for Prometheus: Cluster Autoscaler's by its names, labels and meaning, and our own."""

from nodewright.serve.metrics.metrics import Metrics
from nodewright.serve.metrics.sight import Sight

__all__ = ["Metrics", "Sight"]
