"""Does this pod fit on that node? One file per filter of kube-scheduler, and placement of whole classes on columns."""

from nodewright.scheduling.simulation import ClusterSimulation

__all__ = ["ClusterSimulation"]
