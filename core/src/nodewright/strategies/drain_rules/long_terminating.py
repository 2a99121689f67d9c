"""Drain rule ``long-terminating``: pods that should have ended by now."""

from nodewright.api import DrainContext, DrainRule, Pod, PodFate


class LongTerminating(DrainRule):
    """Takes pods for gone that did not end within their grace period and half a minute."""

    def varies(self, pod: Pod, context: DrainContext) -> bool:
        """Only time can tell of a pod that is being deleted."""
        return pod.metadata.deletion_timestamp is not None

    def judge(self, pod: Pod, context: DrainContext) -> PodFate | None:
        """Compare the time with when the pod should have ended."""
        deleted = pod.metadata.deletion_timestamp
        return PodFate.STAYS if deleted is not None and pod.gone_by(deleted) < context.now else None
