"""Alert rules and the dashboard ask for nothing that is not told."""

import re

from tests.deploy.queries import queries
from tests.end_to_end.scenarios import a_group, a_scenario

NAME = re.compile(r"\b(?:cluster_autoscaler|nodewright|process)_\w+")
#: Asked for, and still to be told: whoever builds it deletes its line.
COMING = {
    "cluster_autoscaler_cluster_cpu_current_cores",
    "cluster_autoscaler_cluster_memory_current_bytes",
    "cluster_autoscaler_cluster_safe_to_autoscale",
    "cluster_autoscaler_cpu_limits_cores",
    "cluster_autoscaler_errors_total",
    "cluster_autoscaler_failed_scale_ups_total",
    "cluster_autoscaler_function_duration_seconds_count",
    "cluster_autoscaler_function_duration_seconds_sum",
    "cluster_autoscaler_last_activity",
    "cluster_autoscaler_max_nodes_count",
    "cluster_autoscaler_memory_limits_bytes",
    "cluster_autoscaler_nodes_count",
    "cluster_autoscaler_scaled_up_nodes_total",
    "cluster_autoscaler_unschedulable_pods_count",
    "nodewright_act_seconds_bucket",
    "nodewright_cluster_objects",
    "nodewright_cost_per_hour",
    "nodewright_groups_with_template_differences",
    "nodewright_leader",
    "nodewright_memory_writes_total",
    "nodewright_observe_seconds_bucket",
    "nodewright_pending_pods",
    "nodewright_watch_trouble",
    "process_cpu_seconds_total",
    "process_resident_memory_bytes",
}


def test_every_metric_that_is_asked_for_is_told(begin):
    life = begin(a_scenario(a_group("pool", max=5)))
    life.go_on(30)
    # Metrics with labels that nothing has happened to yet have no sample, but a type.
    told = life.autoscaler.metrics.render().decode()
    families = dict(re.findall(r"^# TYPE (\w+) (\w+)$", told, re.MULTILINE))
    parts = {"histogram": ("_bucket", "_count", "_sum")}
    names = {name + part for name, kind in families.items() for part in parts.get(kind, ("",))}
    assert {name for query in queries() for name in NAME.findall(query)} - names == COMING
