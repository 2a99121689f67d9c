"""Drain rule ``daemon-set``: pods of DaemonSets live and die with their node."""

from nodewright.api import DrainContext, DrainRule, Pod, PodFate


class DaemonSetPods(DrainRule):
    """Lets no pod of a DaemonSet keep its node."""

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> PodFate | None:
        """Tell them by their controller's kind."""
        return PodFate.MOVES if pod.is_daemon else None
