"""Confirmation: whether the nodes that were chosen could go if only they went."""

from collections.abc import Sequence

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.scaledown.removable import Removable
from nodewright.scheduling import ClusterSimulation
from nodewright.scheduling.relocation import Relocation


class Confirmation:
    """Takes chosen nodes out of *simulation*, one after the other as they are chosen from those *removable*.

    That all of these could go together does not say that a part of them can: a pod may have found its place beside one
    that moved, or in the domain of a node that was gone.
    """

    def __init__(self, simulation: ClusterSimulation, removable: Sequence[Removable]) -> None:
        self._simulation = simulation
        self._removable = removable
        self._relocation: Relocation | None = None

    def __call__(self, block: Sequence[Removable], chosen: Sequence[Removable]) -> Verdict | None:
        """Return why the nodes of *block*, which go together or not at all, can't go beside those *chosen* before."""
        if self._relocation is None:
            self._relocation = Relocation(self._simulation, [entry.node.name for entry in self._removable])
        for entry in block:
            # The pods of replaced nodes have their places in the simulation already.
            if not entry.replaced:
                relocated = self._relocation.remove(entry.node.name, entry.move, entry.hints)
                if relocated.homeless is not None:
                    detail = "unless other nodes went, too"
                    return Verdict(reason=Reason.NO_PLACE, pod=relocated.homeless.key, detail=detail)
        return None
