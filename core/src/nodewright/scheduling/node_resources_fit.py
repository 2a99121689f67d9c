"""Filter NodeResourcesFit: requests against free room, for one node and for many at once."""

import numpy as np
import numpy.typing as npt

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster.columns import Amounts


def check(requests: Amounts, free: Amounts, dimensions: dict[str, int]) -> Verdict | None:
    """Return which resources of a node with *free* room do not suffice for *requests*, or None."""
    short = [name for name, row in dimensions.items() if requests[row] > 0 and requests[row] > free[row]]
    return (
        Verdict(reason=Reason.RESOURCES, detail=", ".join(f"Insufficient {name}" for name in short)) if short else None
    )


def room(requests: Amounts, free: Amounts) -> npt.NDArray[np.int64]:
    """Return how many pods with *requests* fit on each of the nodes whose *free* room stands in columns."""
    asked = np.flatnonzero(requests > 0)
    counts = free[asked] // requests[asked, None]
    fitting: npt.NDArray[np.int64] = np.maximum(counts.min(axis=0), 0)
    return fitting
