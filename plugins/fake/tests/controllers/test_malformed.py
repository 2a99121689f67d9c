"""Objects that no real API server would let pass stop nobody else."""

import pytest
from nodewright.testing.clock import SteppedClock
from nodewright_fake.apiserver.store import Store
from nodewright_fake.controllers.reconciler import MALFORMED

WRONG = ["text", 7, [], {}, ["text"], [{}], [None], {"x": "y"}]
NAMELESS = [{"controller": True, "kind": "ReplicaSet", "name": {}, "uid": None}]


def item_with(resource, path, wrong):
    """Return an object with something *wrong* at *path*."""
    pod = {"containers": [{"name": "main"}]}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "x"}}, "template": {"spec": pod}}
    spec = pod if resource == "pods" else {} if resource == "nodes" else spec
    item = {"metadata": {"name": "bad", "namespace": "" if resource == "nodes" else "default"}, "spec": spec}
    *parents, last = path.split(".")
    holder = item
    for parent in parents:
        holder = holder.setdefault(parent, {})
    holder[last] = wrong
    return item


def accepts(resource, item):
    """Tell whether the store by itself can take an object; what it cannot take, no controller ever sees."""
    try:
        Store(SteppedClock()).create(resource, item)
    except MALFORMED:
        return False
    return True


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize(
    ("resource", "path"),
    [
        ("pods", "metadata.ownerReferences"),
        ("pods", "spec.nodeSelector"),
        ("pods", "spec.tolerations"),
        ("pods", "spec.affinity"),
        ("pods", "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"),
        ("pods", "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"),
        ("pods", "spec.topologySpreadConstraints"),
        ("pods", "spec.overhead"),
        ("nodes", "spec.taints"),
        ("nodes", "status.allocatable"),
        ("nodes", "status.conditions"),
        ("poddisruptionbudgets.policy", "spec.selector"),
        ("poddisruptionbudgets.policy", "spec.minAvailable"),
        ("replicasets.apps", "spec.replicas"),
        ("deployments.apps", "spec.strategy.rollingUpdate"),
        ("daemonsets.apps", "spec.updateStrategy.rollingUpdate"),
        ("statefulsets.apps", "spec.ordinals"),
        ("jobs.batch", "spec.parallelism"),
    ],
)
def test_something_wrong_in_one_object_stops_nobody_else(cluster, resource, path, wrong) -> None:
    bad = item_with(resource, path, wrong)
    cluster.boot("good")
    if accepts(resource, bad):
        cluster.store.create(resource, bad)
    cluster.workload("Deployment", replicas=2)
    cluster.advance(60)
    assert [pod["status"]["phase"] for pod in cluster.pods("web")] == ["Running", "Running"]


def test_an_owner_without_a_proper_name_stops_nobody(cluster) -> None:
    cluster.boot("good")
    cluster.store.create("pods", item_with("pods", "metadata.ownerReferences", NAMELESS))
    cluster.advance(5)
    assert cluster.node_of("bad") == "good"
