"""Filling domains level by level, so that their numbers of pods stay within a skew of one another."""

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]


def fill(counts: Numbers, capacity: Numbers, counted: npt.NDArray[np.bool_], skew: int, wanted: int) -> Numbers:
    """Return how many of *wanted* pods each domain takes, as many in all as can be.

    *counts* are the pods there now, *capacity* is how many more fit. No domain that is *counted* ends up more than
    *skew* below any other, nor does it on the way if pods are placed in the order of the level that they reach.
    """
    # Domains that can't rise hold the others down.
    floor = int((counts + capacity)[counted].min())
    most = np.minimum(capacity, np.maximum(floor + skew - counts, 0))
    if int(most.sum()) <= wanted:
        return most
    low, high = int(counts.min()), int((counts + most).max())
    while low < high:
        middle = (low + high) // 2
        if int(_up_to(counts, most, middle).sum()) >= wanted:
            high = middle
        else:
            low = middle + 1
    filled = _up_to(counts, most, low - 1)
    last = np.flatnonzero((filled < most) & (counts + filled < low))[: wanted - int(filled.sum())]
    filled[last] += 1
    return filled


def _up_to(counts: Numbers, most: Numbers, level: int) -> Numbers:
    return np.minimum(most, np.maximum(level - counts, 0))
