"""Processor ``filter-schedulable``: pods that fit on nodes that are there, or on their way, need no more nodes."""

from collections.abc import Sequence

from nodewright.api import PendingPodsProcessor, PodSet, ProcessorContext, Reason


class FilterSchedulable(PendingPodsProcessor):
    """Places pods, the more important first, and takes off those that found room; they keep it in the simulation."""

    reason = Reason.FITS

    def process(self, pods: Sequence[PodSet], context: ProcessorContext) -> Sequence[PodSet]:
        """Return the pods that fit nowhere."""
        unplaced = []
        for same in sorted(pods, key=lambda same: -(same.pod.spec.priority or 0)):
            placed = context.simulation.place(same)
            rest = same.without(placed)
            if rest is not None:
                unplaced.append(rest)
        return unplaced
