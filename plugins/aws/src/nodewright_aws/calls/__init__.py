"""Calls to AWS: clients, retries, metrics, and errors as errors of the contract."""

from nodewright_aws.calls.aws import Aws, Calls
from nodewright_aws.calls.metrics import metrics

__all__ = ["Aws", "Calls", "metrics"]
