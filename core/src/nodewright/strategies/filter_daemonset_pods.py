"""Processor ``filter-daemonset-pods``: a DaemonSet's pod comes with its node and brings none."""

from collections.abc import Sequence

from nodewright.api import PendingPodsProcessor, PodSet, ProcessorContext, Reason


class FilterDaemonSetPods(PendingPodsProcessor):
    """Takes off pods of DaemonSets."""

    reason = Reason.DAEMON

    def process(self, pods: Sequence[PodSet], context: ProcessorContext) -> Sequence[PodSet]:
        """Return the pods that no DaemonSet runs."""
        return [same for same in pods if not same.pod.is_daemon]
