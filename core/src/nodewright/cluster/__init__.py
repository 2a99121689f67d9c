"""The cluster as columns: nodes, pods, the resources that pods take from nodes, and where equal pods run."""

from nodewright.cluster.columns import Cluster
from nodewright.cluster.node_class import NodeClass, NodeMarks
from nodewright.cluster.node_table import Amounts, Counts, Domains, Labelled, NodeTable, Rows
from nodewright.cluster.pod_class import PodClass
from nodewright.cluster.pod_row import PodRow
from nodewright.cluster.selection import Selection, SpreadRule, Term
from nodewright.cluster.storage import Storage
from nodewright.cluster.waiting import PodSort, Waiting

__all__ = [
    "Amounts",
    "Cluster",
    "Counts",
    "Domains",
    "Labelled",
    "NodeClass",
    "NodeMarks",
    "NodeTable",
    "PodClass",
    "PodRow",
    "PodSort",
    "Rows",
    "Selection",
    "SpreadRule",
    "Storage",
    "Term",
    "Waiting",
]
