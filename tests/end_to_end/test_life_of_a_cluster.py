"""A whole life of a cluster: from zero, up, past a stock-out, and down to its minimum."""

from tests.end_to_end.scenarios import a_group, a_scenario, two_choices

SCENARIO = a_scenario(
    *two_choices(),
    a_group("fixed", min=1, max=1),
    replicas=0,
    daemonSets=[{"name": "agent", "cpu": "100m", "memory": "64Mi"}],
    budgets=[{"for": "web", "maxUnavailable": 2}],
)
SETTINGS = """
scaleDown: {unneededTime: 2m, delayAfterAdd: 1m, maxDrainParallelism: 2}
"""


def test_a_cluster_grows_from_zero_survives_a_stock_out_and_shrinks_to_its_minimum(begin) -> None:
    life = begin(SCENARIO, SETTINGS)
    life.go_on(60)
    assert life.sizes() == {"fixed": 1}
    assert len(life.nodes) == 1

    life.scale("web", 12)
    life.until(lambda: len(life.pods("Running")) == 12)
    # The fixed node takes 3; a new one of 3.9 free cpu (the agent runs there too) takes 3 as well.
    assert life.sizes() == {"fixed": 1, "first-choice": 3}

    life.run_out("eu-a/fitting")
    life.scale("web", 30)
    life.until(lambda: len(life.pods("Running")) == 30)
    assert life.sizes() == {"fixed": 1, "first-choice": 3, "fallback": 2}
    told = "\n".join(life.diary.lines)
    assert "grow first-choice 3 → 9 for 18 pods: best of 2 options by least-waste" in told
    assert "of first-choice: the cloud could not make it (STOCK_OUT" in told
    assert "grow fallback 0 → 2" in told
    assert "(not first-choice: in backoff after failed scale-up (STOCK_OUT" in told

    life.scale("web", 1)
    life.until(lambda: life.sizes() == {"fixed": 1})
    life.until(lambda: len(life.nodes) == 1)
    assert [pod["spec"]["nodeName"] for pod in life.pods("Running")] == life.nodes
    assert life.autoscaler.memory.leaving.removals == {}
    (node,) = life.world.store.list("nodes")
    assert not node["spec"].get("taints")
    assert "unschedulable" not in node["spec"]

    counts = metrics_of(life.autoscaler)
    gone = {key: value for key, value in counts.items() if key.startswith("cluster_autoscaler_scaled_down_nodes_total")}
    assert sum(gone.values()) == 5
    assert counts['cluster_autoscaler_unremovable_nodes_count{reason="NodeGroupMinSizeReached"}'] == 1
    assert counts['cluster_autoscaler_failed_node_creations_total{reason="STOCK_OUT"}'] > 0
    functions = {
        key.split('"')[1] for key in counts if key.startswith("cluster_autoscaler_function_duration_seconds_c")
    }
    assert functions == {
        "main",
        "cloudProviderRefresh",
        "updateClusterState",
        "filterOutSchedulable",
        "scaleUp",
        "scaleUp:estimate",
        "findUnneeded",
        "scaleDown",
    }
    told = {(each["involvedObject"]["kind"], each["reason"]) for each in life.world.store.list("events", "default")}
    assert ("Node", "ScaleDownUnneeded") in told


def metrics_of(autoscaler):
    lines = autoscaler.metrics.render().decode().splitlines()
    return {key: float(value) for key, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}
