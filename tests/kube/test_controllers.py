"""Controllers of pods are watched if the rights allow it."""

import pytest
from nodewright.cluster import Cluster
from nodewright.config.model import ScaleDown, Settings
from nodewright.kube.feed import Feed
from nodewright.kube.kinds import wanted_kinds
from nodewright.kube.reflector import Reflector
from nodewright_fake.apiserver.faults import Fault

KINDS = {
    "replicasets.apps": "ReplicaSet",
    "replicationcontrollers": "ReplicationController",
    "statefulsets.apps": "StatefulSet",
    "jobs.batch": "Job",
}


@pytest.fixture
def follow_controllers(transport):
    """Starts reflectors of controllers only; returns a function that updates and returns the cluster."""
    feed, cluster, running = Feed(), Cluster(), []

    def start():
        for kind in wanted_kinds(Settings()):
            feed.add_kind(kind)
            running.append(Reflector(kind, transport, feed))
            running[-1].start()

        def current():
            feed.apply_to(cluster)
            return cluster.controllers

        return current

    yield start
    for each in running:
        each.stop()


def put(server, resource, name, replicas):
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "main", "image": "x"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    if resource == "jobs.batch":
        spec = {"template": {**template, "spec": {**template["spec"], "restartPolicy": "Never"}}}
    server.store.create(resource, {"metadata": {"name": name, "namespace": "shop"}, "spec": spec})


def test_controllers_arrive_with_the_number_of_pods_they_want_and_go(server, follow_controllers, eventually) -> None:
    for resource in KINDS:
        put(server, resource, "web", 3)
    current = follow_controllers()
    eventually(lambda: current().seen == set(KINDS.values()))
    found = {kind: current().find(kind, "shop/web") for kind in KINDS.values()}
    assert {kind: each.spec.replicas for kind, each in found.items()} == {
        "ReplicaSet": 3,
        "ReplicationController": 3,
        "StatefulSet": 3,
        "Job": None,
    }
    for resource in KINDS:
        server.store.delete(resource, "web", "shop")
    eventually(lambda: not any(current().of(kind) for kind in KINDS.values()))
    assert current().seen == set(KINDS.values())


def test_of_controllers_that_we_must_not_see_nothing_is_known(server, follow_controllers, eventually) -> None:
    refusal = Fault(when=lambda request: "/statefulsets" in request.path, status=403, message="no, sorry")
    server.faults.append(refusal)
    current = follow_controllers()
    eventually(lambda: current().seen == set(KINDS.values()) - {"StatefulSet"} and refusal.hits)


@pytest.mark.parametrize("settings", [ScaleDown(enabled=False), ScaleDown(skip_custom_controller_pods=False)])
def test_controllers_that_no_setting_needs_are_not_watched(settings) -> None:
    assert wanted_kinds(Settings(scale_down=settings)) == ()
