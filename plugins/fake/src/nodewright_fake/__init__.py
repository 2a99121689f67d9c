"""A whole Kubernetes world in one process."""

__version__ = "0.1.0"
