"""Calls to Google Cloud: credentials, retries, metrics, and errors as errors of the contract."""

from nodewright_gce.calls.google_compute import GoogleCompute
from nodewright_gce.calls.metrics import metrics

__all__ = ["GoogleCompute", "metrics"]
