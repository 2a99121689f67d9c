"""Drain rule ``not-safe-to-evict``: pods that say that they must not be evicted."""

from nodewright.api import SAFE_TO_EVICT, DrainContext, DrainRule, Pod


class NotSafeToEvict(DrainRule):
    """Keeps nodes with pods whose annotation says that they must not be evicted."""

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> str | None:
        """Read the annotation."""
        return "NotSafeToEvictAnnotation" if pod.metadata.annotations.get(SAFE_TO_EVICT) == "false" else None
