"""A node autoscaler for Kubernetes: a small core that decides, and plugins that know clouds and strategies."""

__version__ = "0.1.0"
