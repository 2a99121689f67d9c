"""An expander for Nodewright that asks a server of yours, by Cluster Autoscaler's protocol for it."""

__version__ = "0.1.0"
