import pytest
from kubernetes import client

from .builders import definition, deployment, machine_pool, pod

PODS = "/api/v1/namespaces/default/pods"
SCALE = "/apis/apps/v1/namespaces/default/deployments/web/scale"
POOLS = "/apis/cluster.example/v1/namespaces/default/machinepools"
DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"


def test_the_official_client_scales(store, api) -> None:
    store.create("deployments.apps", deployment(replicas=2))
    apps = client.AppsV1Api(api)

    scale = apps.read_namespaced_deployment_scale("web", "default")
    assert (scale.spec.replicas, scale.status.selector) == (2, "app=web")

    scale.spec.replicas = 5
    apps.replace_namespaced_deployment_scale("web", "default", scale)
    assert store.get("deployments.apps", "web", "default")["spec"]["replicas"] == 5

    apps.patch_namespaced_deployment_scale("web", "default", {"spec": {"replicas": 7}})
    changed = store.get("deployments.apps", "web", "default")
    assert changed["spec"]["replicas"] == 7
    assert changed["metadata"]["generation"] == 3


def test_a_scale_shows_how_many_there_are(store, raw) -> None:
    store.create("deployments.apps", {**deployment(replicas=0), "status": {"replicas": 3}})

    body = raw.get(SCALE).body

    assert (body["kind"], body["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert (body["spec"], body["status"]) == ({"replicas": 0}, {"replicas": 3, "selector": "app=web"})


def test_a_scale_of_an_old_version_conflicts(store, raw) -> None:
    store.create("deployments.apps", deployment())
    old = raw.get(SCALE).body
    raw.patch(SCALE, {"spec": {"replicas": 4}})

    assert raw.send("PUT", SCALE, {**old, "spec": {"replicas": 5}}).status == 409


@pytest.mark.parametrize("replicas", [-1, "many"])
def test_a_number_of_replicas_is_a_number(store, raw, replicas) -> None:
    store.create("deployments.apps", deployment())

    answer = raw.patch(SCALE, {"spec": {"replicas": replicas}})

    assert answer.status == 422
    assert answer.body["message"] == (
        f'Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: {replicas!r}: '
        "must be greater than or equal to 0"
    )


def test_a_custom_resource_is_scaled_where_its_definition_says(store, raw) -> None:
    paths = {
        "specReplicasPath": ".spec.size",
        "statusReplicasPath": ".status.size",
        "labelSelectorPath": ".status.selector",
    }
    store.create(DEFINITIONS, definition(subresources={"scale": paths, "status": {}}))
    raw.post(POOLS, machine_pool(size=1))
    raw.patch(f"{POOLS}/blue/status", {"status": {"size": 3, "selector": "pool=blue"}})

    scaled = raw.patch(f"{POOLS}/blue/scale", {"spec": {"replicas": 6}}).body

    assert (scaled["spec"], scaled["status"]) == ({"replicas": 6}, {"replicas": 3, "selector": "pool=blue"})
    assert raw.get(f"{POOLS}/blue").body["spec"] == {"size": 6}


def test_the_status_of_a_custom_resource_is_apart_if_its_definition_says_so(store, raw) -> None:
    store.create(DEFINITIONS, definition(subresources={"status": {}}))

    created = raw.post(POOLS, {**machine_pool(size=1), "status": {"size": 3}}).body

    assert "status" not in created
    assert raw.get(f"{POOLS}/blue/scale").status == 404


def test_without_a_status_path_the_status_is_a_field_like_any_other(store, raw) -> None:
    store.create(DEFINITIONS, definition())

    created = raw.post(POOLS, {**machine_pool(size=1), "status": {"size": 3}}).body

    assert created["status"] == {"size": 3}
    assert raw.get(f"{POOLS}/blue/status").status == 404


def test_a_scheduler_binds_a_pod(store, core) -> None:
    store.create("pods", pod())
    body = client.V1Binding(
        metadata=client.V1ObjectMeta(name="web-0", namespace="default", labels={"zone": "a"}),
        target=client.V1ObjectReference(kind="Node", name="n1"),
    )

    core.create_namespaced_pod_binding("web-0", "default", body, _preload_content=False)

    bound = store.get("pods", "web-0", "default")
    assert bound["spec"]["nodeName"] == "n1"
    assert bound["metadata"]["labels"] == {"app": "web", "zone": "a"}
    assert [(one["type"], one["status"]) for one in bound["status"]["conditions"]] == [("PodScheduled", "True")]


def test_the_older_path_for_bindings_works_as_well(store, raw) -> None:
    store.create("pods", pod())

    answer = raw.post("/api/v1/namespaces/default/bindings", {"metadata": {"name": "web-0"}, "target": {"name": "n1"}})

    assert answer.status == 201
    assert store.get("pods", "web-0", "default")["spec"]["nodeName"] == "n1"


@pytest.mark.parametrize(
    ("made", "binding", "message"),
    [
        (pod(node="n2"), {"target": {"name": "n1"}}, 'pod web-0 is already assigned to node "n2"'),
        (pod(schedulingGates=[{"name": "g"}]), {"target": {"name": "n1"}}, "non-empty .spec.schedulingGates"),
        (pod(), {"metadata": {"uid": "other"}, "target": {"name": "n1"}}, "the UID other is not the pod's"),
    ],
)
def test_a_pod_is_bound_once_and_only_when_it_may(store, raw, made, binding, message) -> None:
    store.create("pods", made)

    answer = raw.post(f"{PODS}/web-0/binding", binding)

    assert answer.status == 409
    assert message in answer.body["message"]


def test_a_binding_names_a_node(store, raw) -> None:
    store.create("pods", pod())

    assert raw.post(f"{PODS}/web-0/binding", {}).body["message"] == (
        'Binding "web-0" is invalid: target.name: Required value'
    )
