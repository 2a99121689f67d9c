import pytest
from kubernetes import client

from .builders import definition, machine_pool

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
POOLS = "/apis/cluster.example/v1/namespaces/default/machinepools"


def test_the_server_says_which_kubernetes_it_is_like(api) -> None:
    version = client.VersionApi(api).get_code()

    assert (version.major, version.minor, version.git_version) == ("1", "36", "v1.36.0+nodewright")


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/readyz/ping", "/livez?verbose=true"])
def test_the_server_is_healthy(raw, path) -> None:
    assert raw.get(path).content == b"ok"


def test_groups_are_listed_with_their_versions(api) -> None:
    groups = {
        group.name: group.preferred_version.group_version for group in client.ApisApi(api).get_api_versions().groups
    }

    assert groups["apps"] == "apps/v1"
    assert groups["policy"] == "policy/v1"
    assert groups["resource.k8s.io"] == "resource.k8s.io/v1"
    assert client.AppsApi(api).get_api_group().name == "apps"


def test_resources_are_listed_with_what_they_can_do(raw) -> None:
    entries = {entry["name"]: entry for entry in raw.get("/api/v1").body["resources"]}

    assert entries["pods"]["shortNames"] == ["po"]
    assert "deletecollection" in entries["pods"]["verbs"]
    assert entries["nodes"]["namespaced"] is False
    assert entries["pods/eviction"] == {
        "name": "pods/eviction",
        "singularName": "",
        "namespaced": True,
        "kind": "Eviction",
        "group": "policy",
        "version": "v1",
        "verbs": ["create"],
    }


def test_a_scale_is_of_the_autoscaling_group(raw) -> None:
    entries = {entry["name"]: entry for entry in raw.get("/apis/apps/v1").body["resources"]}
    scale = entries["deployments/scale"]

    assert (scale["kind"], scale["group"], scale["version"]) == ("Scale", "autoscaling", "v1")


def test_every_listed_resource_is_served(raw) -> None:
    paths = ["/api/v1"] + [
        f"/apis/{version['groupVersion']}" for group in raw.get("/apis").body["groups"] for version in group["versions"]
    ]
    listed = [
        f"{path}/{entry['name']}"
        for path in paths
        for entry in raw.get(path).body["resources"]
        if "list" in entry["verbs"]
    ]

    assert len(listed) > 40
    assert {path: raw.get(path).status for path in listed} == dict.fromkeys(listed, 200)


def test_the_schema_describes_nothing_so_that_everything_is_valid(raw) -> None:
    assert raw.get("/openapi/v2").body["definitions"] == {}
    assert raw.get("/openapi/v3").body == {"paths": {}}


def test_old_clients_get_the_schema_as_protobuf(raw) -> None:
    answer = raw.get("/openapi/v2", accept="application/com.github.proto-openapi.spec.v2@v1.0+protobuf")

    assert answer.headers["Content-Type"] == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    assert answer.content.startswith(b"\x0a\x032.0\x12")
    assert b"Kubernetes" in answer.content


@pytest.mark.parametrize("path", ["/apis/nonsense", "/apis/apps/v9", "/api/v2", "/metrics"])
def test_what_is_not_served_is_not_found(raw, path) -> None:
    assert raw.get(path).status == 404


def test_a_custom_resource_is_served_as_soon_as_it_is_defined(raw) -> None:
    assert raw.get(POOLS).status == 404

    raw.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition())

    assert raw.post(POOLS, machine_pool(size=3)).status == 201
    assert raw.get(POOLS).body["kind"] == "MachinePoolList"
    names = [group["name"] for group in raw.get("/apis").body["groups"]]
    assert "cluster.example" in names
    assert raw.get("/apis/cluster.example/v1").body["resources"][0]["shortNames"] == ["mp"]


def test_the_official_client_uses_custom_resources(store, api) -> None:
    store.create(DEFINITIONS, definition())
    custom = client.CustomObjectsApi(api)
    where = ("cluster.example", "v1", "default", "machinepools")

    custom.create_namespaced_custom_object(*where, machine_pool(size=3))
    custom.patch_namespaced_custom_object(*where, "blue", {"spec": {"size": 4}})

    assert custom.get_namespaced_custom_object(*where, "blue")["spec"] == {"size": 4}


def test_a_custom_resource_without_its_definition_is_gone(store, raw) -> None:
    store.create(DEFINITIONS, definition())
    raw.post(POOLS, machine_pool())

    store.delete(DEFINITIONS, "machinepools.cluster.example")

    assert raw.get(POOLS).status == 404


def test_all_versions_show_the_same_objects(store, raw) -> None:
    made = definition()
    old = {**made["spec"]["versions"][0], "name": "v1beta1", "storage": False}
    unserved = {**old, "name": "v1alpha1", "served": False}
    made["spec"]["versions"] += [old, unserved]
    store.create(DEFINITIONS, made)
    raw.post(POOLS, machine_pool(size=3))

    shown = raw.get("/apis/cluster.example/v1beta1/namespaces/default/machinepools/blue").body

    assert (shown["apiVersion"], shown["spec"]) == ("cluster.example/v1beta1", {"size": 3})
    assert raw.get("/apis/cluster.example/v1alpha1/machinepools").status == 404


def test_a_custom_resource_may_live_outside_of_namespaces(store, raw) -> None:
    store.create(DEFINITIONS, definition(scope="Cluster"))
    pool = machine_pool()
    del pool["metadata"]["namespace"]

    assert raw.post("/apis/cluster.example/v1/machinepools", pool).status == 201
    assert raw.get("/apis/cluster.example/v1/machinepools/blue").status == 200
