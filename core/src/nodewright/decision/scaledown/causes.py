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
        and not _keeps(name, last, unneeded, cluster, drainability)
    ]


def _keeps(
    node: str, last: LastVerdict, unneeded: UnneededMemory, cluster: Cluster, drainability: Drainability
) -> bool:
    row = cluster.pods.get(last.pod)
    if row is None or row.finished:
        return False
    if row.node != node:
        # It was counted on this node, and still is if it waits, or if its own node could go.
        return last.reason is Reason.NO_PLACE and (not row.node or row.node in unneeded.since)
    # Budgets may be spent only by the nodes that go before, and whether there is room takes a simulation to find out.
    if last.reason is Reason.NO_PLACE or last.cause == Reason.NOT_ENOUGH_BUDGET:
        return True
    return drainability.keeps(row)
