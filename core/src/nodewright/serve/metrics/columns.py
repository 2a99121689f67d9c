"""Gauges of how much is kept of the cluster."""

from collections.abc import Iterator

from prometheus_client import Metric

from nodewright.cluster import Cluster
from nodewright.serve.metrics.panel import gauge, gauges


def column_gauges(cluster: Cluster) -> Iterator[Metric]:
    """Yield how many things of each kind are kept, and how large the table of nodes is."""
    kept = {
        "nodes": len(cluster.nodes),
        "pods": len(cluster.pods),
        "pending_pods": len(cluster.pending),
        "node_classes": len(cluster.table.classes.known),
        "pod_classes": len(cluster.pod_classes.known),
    }
    yield gauges(
        "nodewright_cluster_objects",
        "What is kept of the cluster, by kind; classes are nodes and pods that nothing tells apart.",
        ("kind",),
        {(kind,): count for kind, count in kept.items()},
    )
    table = cluster.table
    yield gauge(
        "nodewright_node_table_bytes",
        "Size of the arrays with the free room of nodes.",
        table.free.nbytes + table.class_of.nbytes,
    )
