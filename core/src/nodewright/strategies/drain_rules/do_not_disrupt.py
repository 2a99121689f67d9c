"""Drain rule ``do-not-disrupt``: pods that say of themselves that they are not to be disturbed."""

from nodewright.api import DO_NOT_DISRUPT, DrainContext, DrainRule, Pod, Reason, is_protected


class DoNotDisrupt(DrainRule):
    """Keeps nodes with pods that are not to be disturbed: for good, until a time, or for a while after they came."""

    def varies(self, pod: Pod, context: DrainContext) -> bool:
        """What holds for a while depends on the time."""
        return DO_NOT_DISRUPT in pod.metadata.annotations

    def judge(self, pod: Pod, context: DrainContext) -> Reason | None:
        """Read the annotation, ours or Karpenter's."""
        meta = pod.metadata
        return Reason.PROTECTED if is_protected(meta.annotations, meta.creation_timestamp, context.now) else None
