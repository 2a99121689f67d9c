"""Calls of AWS: clients, retries, counts, and errors in Nodewright's words."""

from nodewright_aws.calls.aws import Aws, Calls
from nodewright_aws.calls.metrics import metrics

__all__ = ["Aws", "Calls", "metrics"]
