"""Spreading: places pods as kube-scheduler prefers, each on the emptiest node, to check that they also fit that way."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nodewright.api.option import PodSet
from nodewright.cluster import PodClass
from nodewright.objects import Resources
from nodewright.scheduling.filters import node_resources_fit, static
from nodewright.scheduling.simulation import ClusterSimulation

#: The resources that kube-scheduler weighs by default, with equal weight.
_WEIGHED = ("cpu", "memory")
#: This many of the emptiest nodes are tried one by one. If none takes the pod, any node will do.
_TRIES = 8


class Spreading:
    """Spreads pods over a cluster; for one decision."""

    def __init__(self, simulation: ClusterSimulation) -> None:
        self._simulation = simulation
        cluster = simulation.cluster
        #: The allocatable resources, (resource, row).
        self._whole = np.ones((len(_WEIGHED), cluster.table.size))
        for name, node in cluster.nodes.items():
            self._whole[:, cluster.table.rows[name]] = _weighed(node.allocatable)

    def place(self, sets: Sequence[PodSet], *, fresh: Sequence[str] = (), size: Resources | None = None) -> bool:
        """Put each pod onto the emptiest node that takes it, one after the other. Return whether all were placed.

        *fresh* nodes were added in the simulation. Their allocatable resources are *size*.
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
