"""What people and machines learn of the loop: log lines, events, the status, metrics, records."""

from nodewright.runtime.reporting.reporter import Reporter

__all__ = ["Reporter"]
