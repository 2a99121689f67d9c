"""Metrics for Prometheus: Cluster Autoscaler's by name, label and meaning, and our own."""

from nodewright.serve.metrics.loop import LoopResult
from nodewright.serve.metrics.metrics import Metrics

__all__ = ["LoopResult", "Metrics"]
