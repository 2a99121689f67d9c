"""Confirmation: whether the nodes that were chosen could go if only they went."""

from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.scaledown.removable import Removable
from nodewright.scheduling import ClusterSimulation
from nodewright.scheduling.relocation import Relocation, Tenant


class Confirmation:
    """Takes chosen nodes out of *simulation*, one after the other as they are chosen from those *removable*.

    That all of these could go together does not say that a part of them can: a pod may have found its place beside one
    that moved, or in the domain of a node that was gone. A context manager: at its end the simulation is as before.
    """

    def __init__(self, simulation: ClusterSimulation, removable: Sequence[Removable]) -> None:
        self._simulation = simulation
        self._removable = removable
        self._relocation: Relocation | None = None
        self._fork = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._fork.close()

    def __call__(self, block: Sequence[Removable], chosen: Sequence[Removable]) -> Verdict | None:
        """Return why the nodes of *block*, which go together or not at all, can't go beside those *chosen* before."""
        if self._relocation is None:
            self._relocation = self._begin(chosen)
        for taken_out, entry in enumerate(block):
            homeless = _take_out(entry, self._relocation)
            if homeless is not None:
                if taken_out:
                    # What a part of the block took is there for others.
                    self._fork.close()
                    self._relocation = None
                return Verdict(reason=Reason.NO_PLACE, pod=homeless.key, detail="unless other nodes went, too")
        return None

    def _begin(self, chosen: Sequence[Removable]) -> Relocation:
        """Return a relocation in which nothing but the nodes *chosen* are out."""
        self._fork.enter_context(self._simulation.fork())
        relocation = Relocation(self._simulation, [entry.node.name for entry in self._removable])
        for entry in chosen:
            _take_out(entry, relocation)
        return relocation


def _take_out(entry: Removable, relocation: Relocation) -> Tenant | None:
    """Take a node out; returns a pod that has no place then. Pods of replaced nodes have theirs already."""
    return None if entry.replaced else relocation.remove(entry.node.name, entry.move, entry.hints).homeless
