"""Managed instance groups of Google Cloud as node groups of Nodewright."""

__version__ = "0.1.0"
