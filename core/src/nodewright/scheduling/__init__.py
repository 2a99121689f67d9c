"""Would this pod fit on that node? One file per filter of kube-scheduler, and placing by class on columns."""

from nodewright.scheduling.simulation import ClusterSimulation

__all__ = ["ClusterSimulation"]
