"""Spreading: pods placed as kube-scheduler likes it, each on the emptiest node, to see whether they fit so, too."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nodewright.api.option import PodSet
from nodewright.cluster import PodClass
from nodewright.objects import Resources
from nodewright.scheduling.filters import node_resources_fit, static
from nodewright.scheduling.simulation import ClusterSimulation

#: What kube-scheduler weighs by default, both the same.
_WEIGHED = ("cpu", "memory")
#: So many of the emptiest nodes are tried one by one; if none of them takes a pod, any node will do.
_TRIES = 8


class Spreading:
    """Spreads pods over a cluster; for one decision."""

    def __init__(self, simulation: ClusterSimulation) -> None:
        self._simulation = simulation
        cluster = simulation.cluster
        #: What pods may use in all, (resource, row).
        self._whole = np.ones((len(_WEIGHED), cluster.table.size))
        for name, node in cluster.nodes.items():
            self._whole[:, cluster.table.rows[name]] = _weighed(node.allocatable)

    def place(self, sets: Sequence[PodSet], *, fresh: Sequence[str] = (), size: Resources | None = None) -> bool:
        """Put each pod onto the emptiest node that takes it, one after another; tell whether all found one.

        *fresh* nodes were added in the simulation, with *size* for pods.
        """
        table = self._simulation.cluster.table
        whole = np.ones((len(_WEIGHED), table.size))
        known = min(table.size, self._whole.shape[1])
        whole[:, :known] = self._whole[:, :known]
        for name in fresh:
            whole[:, table.rows[name]] = _weighed(size or {})
        return all(self._place_one(PodSet(pod=pods.pod, keys=(key,)), whole) for pods in sets for key in pods.keys)

    def _place_one(self, pod: PodSet, whole: npt.NDArray[np.float64]) -> bool:
        simulation = self._simulation
        names = simulation.cluster.table.names
        emptiest = self._by_emptiness(simulation.cluster.pod_classes.of(pod.pod), whole)
        return any(simulation.place(pod, on=[names[row]]) for row in emptiest) or bool(simulation.place(pod))

    def _by_emptiness(self, pod: PodClass, whole: npt.NDArray[np.float64]) -> list[int]:
        """Return the rows with room that would be emptiest with the pod on them, the emptiest first."""
        cluster = self._simulation.cluster
        rows = node_resources_fit.fitting(cluster, pod, static.allowed(cluster, pod))
        dimensions = [cluster.table.dimensions[name] for name in _WEIGHED]
        asked = np.array([[pod.requests.get(name, 0)] for name in _WEIGHED])
        left = (cluster.table.free[dimensions][:, rows] - asked) / whole[:, rows]
        chosen: list[int] = rows[np.argsort(-left.sum(axis=0), kind="stable")[:_TRIES]].tolist()
        return chosen


def _weighed(amounts: Resources) -> list[int]:
    return [max(1, amounts.get(name, 0)) for name in _WEIGHED]
