"""Drain rule ``terminal``: pods that have ended."""

from nodewright.api import DrainContext, DrainRule, Pod, PodFate


class Terminal(DrainRule):
    """Lets no pod keep its node that has ended and will not be started again."""

    def varies(self, pod: Pod, context: DrainContext) -> bool:
        """Only those that have ended differ from others like them."""
        return pod.finished

    def judge(self, pod: Pod, context: DrainContext) -> PodFate | None:
        """Look at the phase; one that has succeeded may be started again."""
        ended = pod.status.phase == "Failed" or (
            pod.status.phase == "Succeeded" and pod.spec.restart_policy in ("Never", "OnFailure")
        )
        return PodFate.MOVES if ended else None
