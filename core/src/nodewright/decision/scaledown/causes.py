"""Causes: whether what kept nodes a short while ago still does."""

from nodewright.api.reasons import Reason
from nodewright.cluster import Cluster
from nodewright.decision.memory import LastVerdict, UnneededMemory, VerdictMemory
from nodewright.decision.scaledown.drain.drainability import Drainability

_KEPT_BY_A_POD = (Reason.BLOCKED_BY_POD, Reason.NO_PLACE)


def no_longer_kept(
    unneeded: UnneededMemory, verdicts: VerdictMemory, cluster: Cluster, drainability: Drainability
) -> list[str]:
    """Return the nodes that could not go because of one pod, which does not keep them any more.

    That costs one look at one pod for each of them: whatever else has changed, the pod that is left keeps its node.
    """
    return [
        name
        for name in unneeded.unremovable_until
        if (last := verdicts.last.get(name)) is not None
        and last.pod
        and last.reason in _KEPT_BY_A_POD
        and not _keeps(name, last, cluster, drainability)
    ]


def _keeps(node: str, last: LastVerdict, cluster: Cluster, drainability: Drainability) -> bool:
    row = cluster.pods.get(last.pod)
    if row is None or row.finished:
        return False
    if last.reason is Reason.NO_PLACE:
        # It may be a pod of another node, which was to come here and finds no place either. Whether there is room by
        # now takes a simulation to find out.
        return True
    # Budgets may be spent only by the nodes that go before.
    return row.node == node and (last.cause == Reason.NOT_ENOUGH_BUDGET or drainability.keeps(row))
