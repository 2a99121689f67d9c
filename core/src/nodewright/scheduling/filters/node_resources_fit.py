"""Filter NodeResourcesFit: requests against free room, for one node and for many at once."""

import numpy as np

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Amounts, Cluster, PodClass, Rows
from nodewright.scheduling.filters.static import Mask

_FIRST = ("pods", "cpu", "memory", "ephemeral-storage")


def refusal(cluster: Cluster, pod: PodClass, row: int) -> Verdict | None:
    """Return which resources of a node are insufficient for *pod*, or None."""
    table = cluster.table
    table.meet(pod.requests)
    short = {
        name for name, amount in pod.requests.items() if amount > table.free[table.dimensions[name], row] and amount
    }
    if not short:
        return None
    named = [name for name in _FIRST if name in short] + sorted(short.difference(_FIRST))
    told = ("Too many pods" if name == "pods" else f"Insufficient {name}" for name in named)
    return Verdict(reason=Reason.RESOURCES, detail=", ".join(told))


def fitting(cluster: Cluster, pod: PodClass, mask: Mask) -> Rows:
    """Return the rows of *mask* with room for at least one *pod*."""
    table = cluster.table
    table.meet(pod.requests)
    for name, amount in pod.requests.items():
        if amount:
            mask = mask & (table.free[table.dimensions[name], : table.size] >= amount)
    return np.flatnonzero(mask)


def fitting_of(cluster: Cluster, pod: PodClass, rows: Rows) -> Rows:
    """Return those of *rows* with room for at least one *pod*: the same as `fitting`, but for a few rows."""
    demand = cluster.demand(pod)
    return rows[(cluster.table.free[demand.dimensions, rows] >= demand.amounts).all(axis=0)]


def room(cluster: Cluster, pod: PodClass, rows: Rows) -> Amounts:
    """Return how many times *pod* fits on each of *rows*."""
    demand = cluster.demand(pod)
    numbers: Amounts = (cluster.table.free[demand.dimensions, rows] // demand.amounts).min(axis=0)
    return numbers
