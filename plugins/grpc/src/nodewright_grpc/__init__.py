"""An expander for Nodewright that asks your server, by Cluster Autoscaler's gRPC protocol."""

__version__ = "0.1.0"
