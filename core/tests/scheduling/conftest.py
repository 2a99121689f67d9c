"""A cluster from objects of any kind, and what its scheduler says."""

import pytest
from nodewright.cluster import Cluster
from nodewright.objects import CSINode, Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from nodewright.scheduling import ClusterSimulation
from nodewright.scheduling.filters import texts
from nodewright.testing.builders import pods_like

_PUT = {
    Node: Cluster.put_node,
    Pod: Cluster.put_pod,
    PersistentVolumeClaim: Cluster.put_claim,
    PersistentVolume: Cluster.put_volume,
    StorageClass: Cluster.put_storage_class,
    CSINode: Cluster.put_csi_node,
}


class Scheduler:
    """Answers for one pod at a time, and makes sure that verdict and placing agree."""

    def __init__(self, *objects):
        self.cluster = Cluster()
        self.simulation = ClusterSimulation(self.cluster)
        self.put(*objects)

    def put(self, *objects):
        for each in objects:
            _PUT[type(each)](self.cluster, each)

    def refuses(self, pod, node="node-1"):
        """The reasons why the node does not take the pod; none if it does."""
        pods = pods_like(pod, 1)
        with self.simulation.fork():
            verdict = self.simulation.why_not(pods, node)
            assert bool(self.simulation.place(pods, on=[node])) == (verdict is None)
        return () if verdict is None else texts(verdict)

    def homes(self, pod, count=1):
        """The nodes that *count* pods come to, one after the other."""
        return list(self.simulation.place(pods_like(pod, count)).values())


@pytest.fixture
def schedule():
    """Makes a scheduler for a cluster of the objects it is given."""
    return Scheduler
