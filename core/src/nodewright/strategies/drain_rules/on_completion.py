"""Drain rule ``on-completion``: pods that are not evicted, but waited for."""

from nodewright.api import SAFE_TO_EVICT, DrainContext, DrainRule, Pod, PodFate


class OnCompletion(DrainRule):
    """Waits for pods to end whose annotation asks for it, before their node is deleted."""

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> PodFate | None:
        """Read the annotation."""
        return PodFate.WAITS if pod.metadata.annotations.get(SAFE_TO_EVICT) == "on-completion" else None
