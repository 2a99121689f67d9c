"""Processor ``filter-schedulable``: pods that fit on nodes that are there, or on their way, need no more nodes."""

from collections.abc import Sequence

from nodewright.api import PendingPodsProcessor, PodSet, ProcessorContext, Reason


class FilterSchedulable(PendingPodsProcessor):
    """Places pods, the more important first, and takes off those that found room; they keep it in the simulation.

    Those for which nodes were ordered go onto these nodes before all others: nothing is ordered for them again, in
    whatever order they come.
    """

    reason = Reason.FITS

    def process(self, pods: Sequence[PodSet], context: ProcessorContext) -> Sequence[PodSet]:
        """Return the pods that fit nowhere."""
        expected = _on_ordered_nodes(pods, context) if context.intended else set()
        unplaced = []
        for same in sorted(pods, key=lambda same: -(same.pod.spec.priority or 0)):
            waiting = same.without(expected) if expected else same
            if waiting is None:
                continue
            rest = waiting.without(context.simulation.place(waiting))
            if rest is not None:
                unplaced.append(rest)
        return unplaced


def _on_ordered_nodes(pods: Sequence[PodSet], context: ProcessorContext) -> set[str]:
    waiting = {key for same in pods for key in same.keys}
    placed: set[str] = set()
    for intended in context.intended:
        still = intended.pods.only(waiting.__contains__)
        if still is not None:
            placed.update(context.simulation.place(still, on=intended.nodes))
    return placed
