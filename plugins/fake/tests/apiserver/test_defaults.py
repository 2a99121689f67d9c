from typing import Any

import pytest
from nodewright_fake.apiserver.status import StatusError

from .builders import definition, deployment, pod

PRIORITIES = "priorityclasses.scheduling.k8s.io"


def container(**resources: Any) -> dict[str, Any]:
    return {"name": "main", "image": "web:1", "resources": resources}


def test_a_pod_gets_what_every_pod_has(store) -> None:
    created = store.create("pods", {"metadata": {"name": "p", "namespace": "default"}, "spec": {"containers": []}})

    assert (created["apiVersion"], created["kind"]) == ("v1", "Pod")
    assert created["spec"]["restartPolicy"] == "Always"
    assert created["spec"]["terminationGracePeriodSeconds"] == 30
    assert created["spec"]["schedulerName"] == "default-scheduler"
    assert created["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


def test_what_a_pod_says_is_kept(store) -> None:
    created = store.create("pods", pod(restartPolicy="Never", terminationGracePeriodSeconds=0, phase="Running"))

    assert created["spec"]["restartPolicy"] == "Never"
    assert created["spec"]["terminationGracePeriodSeconds"] == 0
    assert created["status"]["phase"] == "Running"


def test_requests_default_to_limits(store) -> None:
    limited = container(limits={"cpu": "2", "memory": "1Gi"}, requests={"cpu": "1"})
    created = store.create("pods", pod(containers=[limited]))

    assert created["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}, "Burstable"),
    ],
)
def test_the_quality_of_service_follows_from_requests_and_limits(store, resources, quality) -> None:
    assert store.create("pods", pod(containers=[container(**resources)]))["status"]["qosClass"] == quality


def test_ports_on_the_hosts_network_are_ports_of_the_host(store) -> None:
    serving = {"name": "main", "image": "web:1", "ports": [{"containerPort": 80}]}
    created = store.create("pods", pod(containers=[serving], hostNetwork=True))

    assert created["spec"]["containers"][0]["ports"] == [{"containerPort": 80, "protocol": "TCP", "hostPort": 80}]


def test_a_pod_tolerates_troubled_nodes_for_five_minutes_unless_it_says_otherwise(store) -> None:
    forever = {"key": "node.kubernetes.io/not-ready", "operator": "Exists"}
    created = store.create("pods", pod(tolerations=[forever]))

    assert created["spec"]["tolerations"] == [
        forever,
        {
            "key": "node.kubernetes.io/unreachable",
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": 300,
        },
    ]


def test_a_pod_that_tolerates_everything_gets_no_more_tolerations(store) -> None:
    assert store.create("pods", pod(tolerations=[{"operator": "Exists"}]))["spec"]["tolerations"] == [
        {"operator": "Exists"}
    ]


@pytest.mark.parametrize(
    ("name", "priority"), [("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)]
)
def test_the_systems_priority_classes_are_always_there(store, name, priority) -> None:
    assert store.create("pods", pod(priorityClassName=name))["spec"]["priority"] == priority


def test_a_pod_gets_the_priority_of_its_class(store) -> None:
    store.create(PRIORITIES, {"metadata": {"name": "low"}, "value": -10, "preemptionPolicy": "Never"})

    spec = store.create("pods", pod(priorityClassName="low"))["spec"]

    assert (spec["priority"], spec["preemptionPolicy"]) == (-10, "Never")


def test_a_pod_without_a_class_gets_the_default_one(store) -> None:
    assert store.create("pods", pod("before"))["spec"]["priority"] == 0

    store.create(PRIORITIES, {"metadata": {"name": "usual"}, "value": 100, "globalDefault": True})
    spec = store.create("pods", pod("after"))["spec"]

    assert (spec["priority"], spec["priorityClassName"]) == (100, "usual")


def test_a_pod_of_an_unknown_class_is_refused(store) -> None:
    with pytest.raises(StatusError, match=r'^pods "web-0" is forbidden: no PriorityClass with name gone was found$'):
        store.create("pods", pod(priorityClassName="gone"))


def test_a_deployment_rolls_a_quarter_at_a_time(store) -> None:
    spec = store.create("deployments.apps", deployment(replicas=None))["spec"]

    assert spec["replicas"] == 1
    assert spec["revisionHistoryLimit"] == 10
    assert spec["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
    }
    assert spec["template"]["spec"]["restartPolicy"] == "Always"


def test_a_deployment_that_recreates_has_nothing_to_roll(store) -> None:
    recreating = deployment()
    recreating["spec"]["strategy"] = {"type": "Recreate"}

    assert store.create("deployments.apps", recreating)["spec"]["strategy"] == {"type": "Recreate"}


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ("replicasets.apps", {"replicas": 1}),
        ("statefulsets.apps", {"replicas": 1, "podManagementPolicy": "OrderedReady"}),
        (
            "daemonsets.apps",
            {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}},
        ),
        ("jobs.batch", {"parallelism": 1, "completions": 1, "backoffLimit": 6, "suspend": False}),
        ("cronjobs.batch", {"concurrencyPolicy": "Allow", "suspend": False}),
        ("services", {"type": "ClusterIP", "sessionAffinity": "None"}),
    ],
)
def test_workloads_get_their_defaults(store, resource, expected) -> None:
    spec = store.create(resource, {"metadata": {"name": "w", "namespace": "default"}, "spec": {}})["spec"]

    assert {key: spec[key] for key in expected} == expected


def test_a_jobs_selector_matches_its_own_pods_only(store) -> None:
    template = {"spec": {"containers": [container()], "restartPolicy": "Never"}}
    job = store.create(
        "jobs.batch", {"metadata": {"name": "j", "namespace": "default"}, "spec": {"template": template}}
    )

    own = {"batch.kubernetes.io/controller-uid": job["metadata"]["uid"]}
    assert job["spec"]["selector"] == {"matchLabels": own}
    assert job["spec"]["template"]["metadata"]["labels"].items() >= own.items()


def test_a_namespace_is_active_and_carries_its_name_as_a_label(store) -> None:
    namespace = store.create("namespaces", {"metadata": {"name": "team"}})

    assert namespace["metadata"]["labels"] == {"kubernetes.io/metadata.name": "team"}
    assert namespace["status"] == {"phase": "Active"}


def test_a_secrets_text_becomes_data(store) -> None:
    secret = store.create("secrets", {"metadata": {"name": "s", "namespace": "default"}, "stringData": {"key": "text"}})

    assert (secret["type"], secret["data"]) == ("Opaque", {"key": "dGV4dA=="})
    assert "stringData" not in secret


def test_a_definition_is_established_at_once(store) -> None:
    status = store.create("customresourcedefinitions.apiextensions.k8s.io", definition())["status"]

    assert {one["type"]: one["status"] for one in status["conditions"]} == {
        "NamesAccepted": "True",
        "Established": "True",
    }
    assert status["storedVersions"] == ["v1"]
