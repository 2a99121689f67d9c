"""Large worlds stay quick, and the same world always comes out the same."""

import time
from collections import Counter
from threading import Thread

WEB = {"matchLabels": {"app": "web"}}
SMALL = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "150m", "memory": "256Mi"}}}]}


def fill(cluster, nodes, pods, template):
    for number in range(nodes):
        cluster.kubelets.boot(cluster.machine(f"n{number:04}", zone=f"eu-{'abc'[number % 3]}"))
    cluster.workload("Deployment", replicas=pods, template=template)
    cluster.advance(2)


def test_5000_pods_are_placed_on_200_nodes_within_seconds(cluster) -> None:
    start = time.monotonic()
    fill(cluster, 200, 5000, SMALL)
    assert time.monotonic() - start < 20, "some two seconds on an idle machine"
    counts = Counter(pod["spec"]["nodeName"] for pod in cluster.pods("web"))
    assert set(counts.values()) == {25}
    assert cluster.store.get("deployments.apps", "web", "default")["status"]["readyReplicas"] == 5000


def test_600_pods_that_spread_by_host_and_zone_are_placed_on_200_nodes_within_seconds(cluster) -> None:
    by_host = {"topologyKey": "kubernetes.io/hostname", "labelSelector": WEB, "maxSkew": 1}
    by_zone = {"topologyKey": "topology.kubernetes.io/zone", "labelSelector": WEB, "maxSkew": 1}
    constraints = [{**each, "whenUnsatisfiable": "DoNotSchedule"} for each in (by_host, by_zone)]
    start = time.monotonic()
    fill(cluster, 201, 603, {**SMALL, "topologySpreadConstraints": constraints})
    assert time.monotonic() - start < 20, "one second on an idle machine"
    counts = Counter(pod["spec"]["nodeName"] for pod in cluster.pods("web"))
    assert set(counts.values()) == {3}


def test_thousands_of_pods_that_fit_nowhere_cost_one_look_at_each_change(cluster) -> None:
    fill(cluster, 50, 3000, {"containers": [{"name": "main", "resources": {"requests": {"cpu": "8"}}}]})
    version = cluster.store.version
    start = time.monotonic()
    for number in range(100):
        cluster.edit("nodes", f"n{number % 50:04}", "", unschedulable=number < 50)
        cluster.settle()
    assert time.monotonic() - start < 5, "some tenths of a second on an idle machine"
    assert cluster.store.version - version == 200, "the edits and their taints, but nothing on the pods"


def test_the_same_world_comes_out_the_same(cluster) -> None:
    other = type(cluster)()
    for each in (cluster, other):
        fill(each, 7, 60, SMALL)
        each.edit("deployments.apps", "web", replicas=20)
        each.kubelets.shut_down("n0003")
        each.advance(30)
    resources = ("nodes", "pods", "replicasets.apps", "deployments.apps", "events")
    assert [cluster.store.list(resource) for resource in resources] == [
        other.store.list(resource) for resource in resources
    ]


def test_requests_from_other_threads_meanwhile_leave_a_consistent_world(cluster) -> None:
    for _ in range(5):
        cluster.boot()

    def disturb():
        for number in range(300):
            cluster.pod(f"p{number}", cpu="100m")
            if number % 3 == 0:
                cluster.store.delete("pods", f"p{number}", "default", grace_seconds=0)

    thread = Thread(target=disturb)
    thread.start()
    while thread.is_alive():
        cluster.settle()
    thread.join()
    cluster.settle()
    bound = Counter(pod["spec"].get("nodeName", "") for pod in cluster.pods())
    assert set(bound.values()) == {40}, "as many as fit on each of the five nodes"
