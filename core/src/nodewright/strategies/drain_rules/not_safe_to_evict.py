"""Drain rule ``not-safe-to-evict``: pods that say that they must not be evicted."""

from nodewright.api import SAFE_TO_EVICT, DrainContext, DrainRule, Pod, Reason


class NotSafeToEvict(DrainRule):
    """Keeps nodes with pods whose annotation says that they must not be evicted."""

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> Reason | None:
        """Read the annotation."""
        return Reason.NOT_SAFE_TO_EVICT if pod.metadata.annotations.get(SAFE_TO_EVICT) == "false" else None
