"""What is acceptable: how many nodes a group may lack, and how many of the cluster's may be unready."""

from dataclasses import dataclass

from nodewright.api.group import GroupFacts
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.config.model import Health
from nodewright.decision.health.readiness import Readiness


@dataclass(frozen=True, kw_only=True)
class AcceptableRange:
    """How many nodes a group should have now."""

    #: Without those that are on their way or will never come.
    min: int = 0
    #: With those that are about to go.
    max: int = 0


def acceptable_range(
    facts: GroupFacts, readiness: Readiness, *, failed: int, in_flight: int, leaving: int
) -> AcceptableRange:
    """Return how many nodes the group should have, while *in_flight* are on their way and *leaving* about to go."""
    lost = readiness.long_unregistered + failed
    return AcceptableRange(
        min=max(0, facts.target_size - lost - in_flight),
        max=facts.target_size + leaving,
    )


def group_trouble(facts: GroupFacts, readiness: Readiness, wanted: AcceptableRange, settings: Health) -> Verdict | None:
    """Return what is wrong with a group that should have other nodes in service before it gets more; None if well."""
    if not (readiness.registered or readiness.unregistered or readiness.long_unregistered):
        if not facts.target_size or not wanted.min:
            return None
        return Verdict(reason=Reason.GROUP_UNHEALTHY, detail=f"none of {wanted.min} nodes is there")
    in_service = readiness.ready + readiness.suspended
    if not _too_many(wanted.min - in_service, readiness.registered, settings):
        return None
    return Verdict(reason=Reason.GROUP_UNHEALTHY, detail=f"{in_service} of {wanted.min} nodes are in service")


def cluster_trouble(readiness: Readiness, settings: Health) -> Verdict | None:
    """Return what is wrong with a cluster in which nothing should be done; None if it is well."""
    if not _too_many(readiness.unready, readiness.registered, settings):
        return None
    detail = f"{readiness.unready} of {readiness.registered} are unready"
    return Verdict(reason=Reason.CLUSTER_UNHEALTHY, detail=detail)


def _too_many(bad: int, nodes: int, settings: Health) -> bool:
    return bad > settings.ok_total_unready_count and bad * 100 > settings.max_total_unready_percentage * nodes
