"""Estimators: how many nodes a set of pods needs."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from nodewright.api.group import GroupFacts
from nodewright.api.option import PodSet
from nodewright.api.plugin import Plugin
from nodewright.api.simulation import Simulation


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """How many nodes, and the pods that they help."""

    nodes: int
    pods: tuple[PodSet, ...]


class Estimator(Plugin):
    """Computes how many nodes of one group serve as many of the given pods as possible.

    Called on the loop's thread, in each round of a scale-up once for each group that might help, with a simulation of
    its own. Must be pure: same input, same answer; no I/O, no clock. How long estimates take is limited by the core
    (``scaleUp.maxBinpackingTime``). In place of an answer of another type, or an exception, the core takes what its own
    estimator says (``binpacking``).
    """

    #: Whether an estimate depends on nothing of a group but its template. If so, groups with equal templates share it.
    by_template: ClassVar[bool] = False

    @abstractmethod
    def estimate(self, group: GroupFacts, pods: Sequence[PodSet], simulation: Simulation, limit: int) -> Estimate:
        """Estimate for *pods*, each of which fits an empty node of *group*, with at most *limit* nodes."""
