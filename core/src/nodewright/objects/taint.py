"""Taints of nodes and the tolerations of pods."""

from datetime import UTC, datetime

from nodewright.objects.meta import KubeStruct

#: Pods that do not tolerate the taint are not placed on the node.
NO_SCHEDULE = "NoSchedule"
#: The same, and those that run there are evicted.
NO_EXECUTE = "NoExecute"
#: A soft taint: the scheduler prefers other nodes.
PREFER_NO_SCHEDULE = "PreferNoSchedule"


class Taint(KubeStruct, frozen=True, kw_only=True):
    """A mark on a node that repels the pods that do not tolerate it."""

    key: str
    value: str = ""
    #: ``NoSchedule``, ``NoExecute`` or ``PreferNoSchedule``.
    effect: str = NO_SCHEDULE

    @property
    def moment(self) -> datetime | None:
        """The time in the value, which is in seconds since 1970; None if the value is not a time."""
        try:
            return datetime.fromtimestamp(int(self.value), UTC)
        except (ValueError, OverflowError, OSError):
            return None

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


class Toleration(KubeStruct, frozen=True, kw_only=True):
    """A toleration of a pod."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None

    def tolerates(self, taint: Taint) -> bool:
        """Return whether a pod with this toleration may stay with *taint*."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if (self.operator or "Equal") == "Exists":
            return True
        return bool(self.key) and self.value == taint.value


def untolerated(taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...]) -> Taint | None:
    """Return the first taint that keeps a pod with *tolerations* off a node, or None."""
    for taint in taints:
        if taint.effect not in (NO_SCHEDULE, NO_EXECUTE):
            continue
        if not any(toleration.tolerates(taint) for toleration in tolerations):
            return taint
    return None
