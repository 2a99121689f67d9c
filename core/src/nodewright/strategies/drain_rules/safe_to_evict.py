"""Drain rule ``safe-to-evict``: pods that say that they may be evicted."""

from nodewright.api import SAFE_TO_EVICT, DrainContext, DrainRule, Pod, PodFate


class SafeToEvict(DrainRule):
    """Lets pods be evicted whose annotation says so, whatever else speaks against it."""

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> PodFate | None:
        """Read the annotation."""
        return PodFate.MOVES if pod.metadata.annotations.get(SAFE_TO_EVICT) == "true" else None
