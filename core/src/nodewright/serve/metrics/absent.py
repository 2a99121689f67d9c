"""Metrics of what does not happen here: dashboards and alerts for Cluster Autoscaler find what is true, nothing."""

from prometheus_client import CollectorRegistry, Counter, Gauge


def export_absent(registry: CollectorRegistry) -> None:
    """Add them to *registry*."""
    Gauge(
        "cluster_autoscaler_overflowing_controllers_count",
        "Controllers whose pods differ too much to be looked at together: 0, as there is no such limit.",
        registry=registry,
    )
    Gauge(
        "cluster_autoscaler_inconsistent_instances_migs_count",
        "Groups whose instances are listed in two ways that differ: 0, as they are listed in one.",
        registry=registry,
    )
    for verb in ("created", "deleted"):
        groups = Counter(
            f"cluster_autoscaler_{verb}_node_groups",
            f"Node groups that the autoscaler {verb}: 0 in this version.",
            ("group_type",),
            registry=registry,
        )
        groups.labels("")
    Gauge(
        "cluster_autoscaler_skipped_pods_count",
        "Pods that somebody asked to leave out: no series in this version.",
        ("requestor",),
        registry=registry,
    )
    Gauge(
        "cluster_autoscaler_dra_node_template_resources_mismatch",
        "Device pools of nodes that differ from their template: no series in this version.",
        ("driver", "mismatch_type"),
        registry=registry,
    )
