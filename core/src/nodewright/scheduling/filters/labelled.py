"""Asking about nodes by their labels: once for all nodes whose labels are equal where it matters."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from nodewright.cluster import Cluster
from nodewright.scheduling.filters.static import Mask


def where(cluster: Cluster, mask: Mask, keys: Iterable[str], fits: Callable[[Mapping[str, str]], bool]) -> Mask:
    """Return *mask* without the rows that *fits* says no to.

    *fits* is called with the labels of a node, and may look at those named by *keys* only.
    """
    rows = np.flatnonzero(mask)
    allowed = np.zeros_like(mask)
    if not len(rows):
        return allowed
    kinds = np.zeros(len(rows), dtype=np.int64)
    for key in sorted(set(keys)):
        domains = cluster.table.domains(key)
        # Numbered anew each time, so that the numbers stay small however many keys there are.
        kinds = np.unique(kinds * (domains.count + 1) + domains.of[rows] + 1, return_inverse=True)[1]
    _, examples, kinds = np.unique(kinds, return_index=True, return_inverse=True)
    answers = [fits(cluster.table.marks(row).labels) for row in rows[examples].tolist()]
    allowed[rows] = np.array(answers, dtype=np.bool_)[kinds]
    return allowed
