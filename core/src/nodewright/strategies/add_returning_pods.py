"""Processor ``add-returning-pods``: pods of nodes that are being drained will need a place elsewhere."""

from collections.abc import Sequence

from nodewright.api import PendingPodsProcessor, PodSet, ProcessorContext


class AddReturningPods(PendingPodsProcessor):
    """Adds the pods of nodes that are being drained, after those that wait already."""

    adds_pods = True

    def process(self, pods: Sequence[PodSet], context: ProcessorContext) -> Sequence[PodSet]:
        """Return all of them, but nobody twice."""
        if not context.returning:
            return pods
        known = {key for same in pods for key in same.keys}
        returning = (same.without(known) for same in context.returning)
        return [*pods, *(same for same in returning if same is not None)]
