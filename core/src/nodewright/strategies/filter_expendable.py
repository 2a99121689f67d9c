"""Processor ``filter-expendable``: pods of very low priority bring no nodes."""

from collections.abc import Sequence

from nodewright.api import PendingPodsProcessor, PodSet, ProcessorContext, Reason


class FilterExpendable(PendingPodsProcessor):
    """Takes off pods below ``scaleUp.expendablePriorityCutoff``; a pod without priority is never expendable."""

    reason = Reason.EXPENDABLE

    def process(self, pods: Sequence[PodSet], context: ProcessorContext) -> Sequence[PodSet]:
        """Return the pods that are worth a node."""
        cutoff = context.expendable_priority_cutoff
        return [same for same in pods if not same.pod.is_expendable(cutoff)]
