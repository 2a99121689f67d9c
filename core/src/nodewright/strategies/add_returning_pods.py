"""Processor ``add-returning-pods``: pods of nodes that are being drained will need a place elsewhere."""

from collections.abc import Sequence

from nodewright.api import PendingPodsProcessor, PodSet, ProcessorContext


class AddReturningPods(PendingPodsProcessor):
    """Adds the pods of nodes that are being drained, after those that wait already."""

    adds_pods = True

    def process(self, pods: Sequence[PodSet], context: ProcessorContext) -> Sequence[PodSet]:
        """Return all of them."""
        return [*pods, *context.returning]
