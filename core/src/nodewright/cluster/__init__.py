"""The cluster as columns: nodes, pods and what the pods take from the nodes."""

from nodewright.cluster.columns import Cluster
from nodewright.cluster.node_class import NodeClass
from nodewright.cluster.pod_class import PodClass

__all__ = ["Cluster", "NodeClass", "PodClass"]
