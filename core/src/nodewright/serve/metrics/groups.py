"""Gauges of single groups, for those who ask for them: as many series as there are groups."""

from collections.abc import Iterator

from prometheus_client import Metric

from nodewright.api.reasons import Reason
from nodewright.serve.metrics.panel import gauges
from nodewright.serve.metrics.sight import Sight


def group_gauges(sight: Sight) -> Iterator[Metric]:
    """Yield the gauges of every group."""
    groups = sight.world.groups
    yield gauges(
        "cluster_autoscaler_node_group_min_count",
        "Fewest nodes of the group.",
        ("node_group",),
        {(facts.id,): facts.min_size for facts in groups},
    )
    yield gauges(
        "cluster_autoscaler_node_group_max_count",
        "Most nodes of the group.",
        ("node_group",),
        {(facts.id,): facts.max_size for facts in groups},
    )
    yield gauges(
        "cluster_autoscaler_node_group_target_count",
        "Machines that the cloud is asked for.",
        ("node_group",),
        {(facts.id,): facts.target_size for facts in groups},
    )
    blocked = sight.findings.blocked.items()
    ill = {group for group, why in blocked if why.reason in (Reason.GROUP_UNHEALTHY, Reason.GROUP_FAULTY)}
    yield gauges(
        "cluster_autoscaler_node_group_healthiness",
        "Whether the group is well enough to grow.",
        ("node_group",),
        {(facts.id,): facts.id not in ill for facts in groups},
    )
    yield gauges(
        "cluster_autoscaler_node_group_backoff_status",
        "Whether the group is left alone after it failed to grow, with the code of the failure.",
        ("node_group", "reason"),
        {(facts.id, code): bool(code) for facts in groups for code in [_backoff(facts.id, sight)]},
    )
    yield gauges(
        "nodewright_template_differences",
        "In how much the nodes of a group are not as its provider's template promises.",
        ("group",),
        {(group,): len(known.differences) for group, known in sight.memory.learnt.templates.items()},
    )


def _backoff(group: str, sight: Sight) -> str:
    known = sight.memory.health.backoffs.get(group)
    return known.code if known is not None and sight.decision.at < known.until else ""
