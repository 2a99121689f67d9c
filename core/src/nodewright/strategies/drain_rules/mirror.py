"""Drain rule ``mirror``: static pods belong to their kubelet."""

from nodewright.api import DrainContext, DrainRule, Pod, PodFate


class Mirror(DrainRule):
    """Lets pods that mirror static pods of a kubelet go down with their node."""

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> PodFate | None:
        """Tell static pods by their annotation."""
        return PodFate.STAYS if pod.is_mirror else None
