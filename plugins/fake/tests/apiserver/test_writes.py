from typing import Any

import pytest
from kubernetes import client

from .builders import config_map, definition, deployment, node, owned, pod

PODS = "/api/v1/namespaces/default/pods"
MAPS = "/api/v1/namespaces/default/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


def without_namespace(made: dict[str, Any]) -> dict[str, Any]:
    del made["metadata"]["namespace"]
    return made


def test_the_official_client_creates_changes_and_deletes(core) -> None:
    created = core.create_namespaced_config_map(
        "default", client.V1ConfigMap(metadata=client.V1ObjectMeta(name="settings"), data={"key": "1"})
    )
    created.data["key"] = "2"
    replaced = core.replace_namespaced_config_map("settings", "default", created)
    patched = core.patch_namespaced_config_map("settings", "default", {"data": {"other": "3"}})

    assert replaced.data == {"key": "2"}
    assert patched.data == {"key": "2", "other": "3"}
    assert core.delete_namespaced_config_map("settings", "default")["status"] == "Success"
    with pytest.raises(client.ApiException) as gone:
        core.read_namespaced_config_map("settings", "default")
    assert gone.value.status == 404


def test_a_new_object_takes_kind_and_namespace_from_the_path(raw) -> None:
    answer = raw.post(MAPS, {"metadata": {"name": "settings"}})

    assert answer.status == 201
    assert (answer.body["apiVersion"], answer.body["kind"]) == ("v1", "ConfigMap")
    assert answer.body["metadata"]["namespace"] == "default"


def test_a_name_can_be_generated(raw) -> None:
    name = raw.post(MAPS, {"metadata": {"generateName": "settings-"}}).body["metadata"]["name"]

    assert name.startswith("settings-")
    assert len(name) > len("settings-")


def test_bodies_may_be_yaml(raw) -> None:
    body = b"metadata:\n  name: settings\ndata:\n  since: '2030-01-01'\n"

    assert raw.send("POST", MAPS, body, content_type="application/yaml").body["data"] == {"since": "2030-01-01"}


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"{", 400, "the request's body cannot be read: "),
        (b"[1]", 400, "the request's body is not an object"),
        (b"", 400, "the request's body cannot be read: "),
        (b'{"kind":"Pod"}', 400, "the kind in the data (Pod) does not match the expected kind (ConfigMap)"),
        (b'{"apiVersion":"v2"}', 400, "the API version in the data (v2) does not match the expected API version (v1)"),
        (b'{"metadata":7}', 400, "the object's metadata is no object"),
        (b'{"metadata":{"name":"x","labels":[]}}', 400, "the object's metadata.labels is no object"),
        (
            b'{"metadata":{"name":"x","namespace":"other"}}',
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            b"{}",
            422,
            'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
        ),
        (
            b'{"metadata":{"name":"Big"}}',
            422,
            'ConfigMap "Big" is invalid: metadata.name: Invalid value: "Big": a lowercase RFC 1123 subdomain',
        ),
        (
            b'{"metadata":{"name":"x","labels":{"a":"no spaces"}}}',
            422,
            'ConfigMap "x" is invalid: metadata.labels: Invalid value: "no spaces": a label must be',
        ),
        (
            b'{"metadata":{"name":"x","labels":{"a b":"c"}}}',
            422,
            'ConfigMap "x" is invalid: metadata.labels: Invalid value: "a b": a label\'s name must be',
        ),
        (
            b'{"metadata":{"name":"x","annotations":{"a":1}}}',
            422,
            'ConfigMap "x" is invalid: metadata.annotations[a]: Invalid value: 1: an annotation is a text: quote it',
        ),
        (
            b'{"metadata":{"name":"x"},"data":{"a b":"c"}}',
            422,
            'ConfigMap "x" is invalid: data[a b]: Invalid value: "a b": a valid config key must consist of',
        ),
        (
            b'{"metadata":{"name":"x"},"data":{"a":"c"},"binaryData":{"a":"Yw=="}}',
            422,
            'ConfigMap "x" is invalid: data[a]: Invalid value: "a": duplicate of key present in binaryData',
        ),
        (
            b'{"metadata":{"name":"x"},"binaryData":{"a":"?"}}',
            422,
            'ConfigMap "x" is invalid: binaryData[a]: Invalid value: not base64',
        ),
        (
            b'{"metadata":{"name":"x"},"data":{"a":"%s"},"binaryData":{"b":"Yw=="}}' % (b"c" * 1024 * 1024),
            422,
            'ConfigMap "x" is invalid: : Too long: may not be more than 1048576 bytes',
        ),
    ],
)
def test_what_is_no_proper_object_is_refused(raw, body, status, message) -> None:
    answer = raw.send("POST", MAPS, body)

    assert (answer.status, answer.body["message"][: len(message)]) == (status, message)


def test_everything_that_is_wrong_is_said_at_once(raw) -> None:
    wrong = pod("w")
    wrong["spec"]["containers"] = [
        {"name": "a", "resources": {"requests": {"cpu": "much"}}},
        {"name": "a", "resources": {"limits": {"memory": "-1"}}},
        {},
    ]

    body = raw.post(PODS, wrong).body

    assert body["message"].startswith('Pod "w" is invalid: [spec.containers[0].resources.requests[cpu]: Invalid value')
    assert [cause["field"] for cause in body["details"]["causes"]] == [
        "spec.containers[0].resources.requests[cpu]",
        "spec.containers[1].name",
        "spec.containers[1].resources.limits[memory]",
        "spec.containers[2].name",
    ]


def test_a_template_that_the_selector_does_not_match_is_refused(raw) -> None:
    wrong = deployment()
    wrong["spec"]["selector"]["matchLabels"] = {"app": "other"}

    assert "`selector` does not match template `labels`" in raw.post(DEPLOYMENTS, wrong).body["message"]


def test_a_definition_says_what_it_defines(raw) -> None:
    wrong = {"metadata": {"name": "pools"}, "spec": {"group": "example", "names": {"plural": "pools"}}}

    causes = raw.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", wrong).body["details"]["causes"]

    assert [cause["field"] for cause in causes] == ["spec.names.kind", "spec.versions", "metadata.name"]


def test_taints_are_unique_by_key_and_effect(raw) -> None:
    wrong = node()
    wrong["spec"]["taints"] = [{"key": "a", "effect": "NoSchedule"}] * 2 + [{"key": "b", "effect": "Sometimes"}]

    causes = raw.post("/api/v1/nodes", wrong).body["details"]["causes"]

    assert [cause["field"] for cause in causes] == ["metadata.taints[1]", "metadata.taints[2].effect"]


def test_nothing_can_be_created_in_a_namespace_that_is_not_there(raw) -> None:
    answer = raw.post("/api/v1/namespaces/gone/configmaps", {"metadata": {"name": "settings"}})

    assert (answer.status, answer.body["message"]) == (404, 'namespaces "gone" not found')


def test_nothing_can_be_created_in_a_namespace_that_goes(store, raw) -> None:
    store.create("namespaces", {"metadata": {"name": "going", "finalizers": ["example/guard"]}})
    store.delete("namespaces", "going")

    answer = raw.post("/api/v1/namespaces/going/configmaps", {"metadata": {"name": "settings"}})

    assert answer.status == 403
    assert answer.body["message"] == (
        'configmaps "settings" is forbidden: unable to create new content in namespace going '
        "because it is being terminated"
    )
    assert answer.body["details"]["causes"][0]["reason"] == "NamespaceTerminating"


@pytest.mark.parametrize("namespace", ["default", "kube-system", "kube-public", "kube-node-lease"])
def test_every_cluster_has_its_namespaces(core, namespace) -> None:
    assert core.read_namespace(namespace).status.phase == "Active"


def test_an_update_of_an_old_version_conflicts(raw) -> None:
    old = raw.post(MAPS, config_map(key="1")).body
    raw.send("PUT", f"{MAPS}/settings", {**old, "data": {"key": "2"}})

    answer = raw.send("PUT", f"{MAPS}/settings", {**old, "data": {"key": "3"}})

    assert (answer.status, answer.body["reason"]) == (409, "Conflict")
    assert answer.body["message"].startswith('Operation cannot be fulfilled on configmaps "settings": the object has')


def test_an_update_without_a_version_is_unconditional(raw) -> None:
    raw.post(MAPS, config_map(key="1"))

    assert raw.send("PUT", f"{MAPS}/settings", config_map(key="2")).body["data"] == {"key": "2"}


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"name": "other"}, 400, "the name of the object (other) does not match the name on the URL (settings)"),
        ({"namespace": "other"}, 400, "the namespace of the provided object does not match"),
        ({"uid": "other"}, 409, 'Operation cannot be fulfilled on configmaps "settings": Precondition failed: UID'),
    ],
)
def test_an_update_is_of_the_object_that_the_path_names(raw, change, status, message) -> None:
    created = raw.post(MAPS, config_map()).body
    answer = raw.send("PUT", f"{MAPS}/settings", {**created, "metadata": {**created["metadata"], **change}})

    assert (answer.status, answer.body["message"][: len(message)]) == (status, message)


def test_what_is_not_there_cannot_be_changed(raw) -> None:
    for answer in (
        raw.send("PUT", f"{MAPS}/gone", config_map("gone")),
        raw.patch(f"{MAPS}/gone", {}),
        raw.send("DELETE", f"{MAPS}/gone"),
    ):
        assert (answer.status, answer.body["message"]) == (404, 'configmaps "gone" not found')


@pytest.mark.parametrize("status", [{"replicas": 7}])
def test_the_status_is_written_through_its_own_path_only(raw, status) -> None:
    born_with = {**deployment(), "status": status}
    created = raw.post(DEPLOYMENTS, born_with).body
    assert "status" not in created

    by_the_way = raw.send("PUT", f"{DEPLOYMENTS}/web", {**created, "status": status}).body
    assert "status" not in by_the_way

    changed_too = {**created, "status": status, "spec": {**created["spec"], "replicas": 9}}
    through_its_path = raw.send("PUT", f"{DEPLOYMENTS}/web/status", changed_too).body
    assert through_its_path["status"] == status
    assert through_its_path["spec"]["replicas"] == 2
    assert through_its_path["metadata"]["generation"] == 1

    patched = raw.patch(f"{DEPLOYMENTS}/web", {"spec": {"replicas": 5}, "status": {"replicas": 8}}).body
    assert (patched["spec"]["replicas"], patched["status"]) == (5, status)
    assert patched["metadata"]["generation"] == 2

    assert raw.patch(f"{DEPLOYMENTS}/web/status", {"status": {"replicas": 8}}).body["status"] == {"replicas": 8}
    assert raw.get(f"{DEPLOYMENTS}/web/status").body["status"] == {"replicas": 8}


def test_a_status_of_an_old_version_conflicts(raw) -> None:
    created = raw.post(DEPLOYMENTS, deployment()).body
    raw.patch(f"{DEPLOYMENTS}/web", {"spec": {"replicas": 5}})

    assert raw.send("PUT", f"{DEPLOYMENTS}/web/status", {**created, "status": {"replicas": 1}}).status == 409


def test_a_kubelet_registers_its_node_with_a_status(raw) -> None:
    assert raw.post("/api/v1/nodes", node()).body["status"]["allocatable"]["cpu"] == "4"


def test_a_node_is_cordoned_and_tainted_by_patches(core, store) -> None:
    store.create("nodes", node())

    core.patch_node("n1", {"spec": {"unschedulable": True, "taints": [{"key": "a", "effect": "NoSchedule"}]}})
    core.patch_node("n1", {"metadata": {"annotations": {"x": "y"}}})

    spec = store.get("nodes", "n1")["spec"]
    assert spec == {"unschedulable": True, "taints": [{"key": "a", "effect": "NoSchedule"}]}


def test_a_json_patch_tests_before_it_changes(raw) -> None:
    raw.post(MAPS, config_map(key="1"))
    operations = [
        {"op": "test", "path": "/data/key", "value": "1"},
        {"op": "replace", "path": "/data/key", "value": "2"},
    ]

    assert raw.patch(f"{MAPS}/settings", operations, "json-patch+json").body["data"] == {"key": "2"}
    again = raw.patch(f"{MAPS}/settings", operations, "json-patch+json")
    assert again.status == 422
    assert again.body["message"].endswith("testing value /data/key failed")


def test_a_patch_that_names_an_old_version_conflicts(raw) -> None:
    old = raw.post(MAPS, config_map()).body["metadata"]["resourceVersion"]
    raw.patch(f"{MAPS}/settings", {"data": {"a": "1"}})

    assert raw.patch(f"{MAPS}/settings", {"metadata": {"resourceVersion": old}, "data": {"a": "2"}}).status == 409
    assert raw.patch(f"{MAPS}/settings", {"data": {"a": "2"}}).status == 200


def test_a_patch_cannot_rename(raw) -> None:
    raw.post(MAPS, config_map())

    answer = raw.patch(f"{MAPS}/settings", {"metadata": {"name": "other"}})

    assert (answer.status, answer.body["message"]) == (
        422,
        'ConfigMap "settings" is invalid: metadata.name: Invalid value: "other": field is immutable',
    )


def test_a_patch_of_an_unknown_kind_is_told_which_there_are(raw) -> None:
    raw.post(MAPS, config_map())

    answer = raw.patch(f"{MAPS}/settings", {}, "json")

    assert (answer.status, answer.body["reason"]) == (415, "UnsupportedMediaType")
    assert "application/strategic-merge-patch+json" in answer.body["message"]


def test_what_is_applied_comes_into_being_and_changes(raw) -> None:
    path, kind = f"{MAPS}/settings?fieldManager=me", "apply-patch+yaml"
    created = raw.patch(path, config_map(a="1"), kind)
    changed = raw.patch(path, config_map(b="2"), kind)

    assert (created.status, created.body["data"]) == (201, {"a": "1"})
    assert (changed.status, changed.body["data"]) == (200, {"a": "1", "b": "2"})


def test_who_applies_has_a_name(raw) -> None:
    answer = raw.patch(f"{MAPS}/settings", config_map(), "apply-patch+yaml")

    assert (answer.status, answer.body["message"]) == (
        422,
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    )


def test_dry_runs_write_nothing(store, raw) -> None:
    store.create("configmaps", config_map(key="1"))
    store.create("deployments.apps", deployment())
    store.create("pods", pod())
    store.create("nodes", node())
    version = store.version

    answers = [
        raw.post(f"{MAPS}?dryRun=All", config_map("other")),
        raw.send("PUT", f"{MAPS}/settings?dryRun=All", config_map(key="2")),
        raw.patch(f"{MAPS}/settings?dryRun=All", {"data": {"key": "3"}}),
        raw.patch(f"{MAPS}/new?dryRun=All&fieldManager=me", config_map("new"), "apply-patch+yaml"),
        raw.patch(f"{DEPLOYMENTS}/web/scale?dryRun=All", {"spec": {"replicas": 9}}),
        raw.post(f"{PODS}/web-0/binding?dryRun=All", {"target": {"name": "n1"}}),
        raw.post(f"{PODS}/web-0/eviction?dryRun=All", {}),
        raw.send("DELETE", f"{MAPS}/settings?dryRun=All"),
        raw.send("DELETE", f"{MAPS}/settings", {"dryRun": ["All"]}),
        raw.send("DELETE", f"{MAPS}?dryRun=All"),
    ]

    assert [answer.status for answer in answers] == [201, 200, 200, 201, 200, 201, 201, 200, 200, 200]
    assert answers[1].body["data"] == {"key": "2"}
    assert store.version == version


def test_a_running_pod_is_deleted_gracefully(store, core) -> None:
    store.create("pods", pod(node="n1", phase="Running"))

    marked = core.delete_namespaced_pod("web-0", "default", grace_period_seconds=7)
    assert marked.metadata.deletion_grace_period_seconds == 7
    assert store.find("pods", "web-0", "default") is not None

    core.delete_namespaced_pod("web-0", "default", body=client.V1DeleteOptions(grace_period_seconds=0))
    assert store.find("pods", "web-0", "default") is None


@pytest.mark.parametrize("seconds", [-1, "soon"])
def test_a_grace_period_is_a_number_of_seconds(store, raw, seconds) -> None:
    store.create("pods", pod())

    answer = raw.send("DELETE", f"{PODS}/web-0", {"gracePeriodSeconds": seconds})

    assert (answer.status, answer.body["message"]) == (
        400,
        f"gracePeriodSeconds is a number of seconds, not {seconds!r}",
    )


def test_a_deletion_can_insist_on_one_object(store, raw) -> None:
    created = store.create("configmaps", config_map())

    for key, value, what in (("uid", "other", "UID"), ("resourceVersion", "1", "ResourceVersion")):
        answer = raw.send("DELETE", f"{MAPS}/settings", {"preconditions": {key: value}})
        assert answer.status == 409
        assert f"the {what} in the precondition ({value}) does not match the {what} in record" in answer.body["message"]

    uid = created["metadata"]["uid"]
    assert raw.send("DELETE", f"{MAPS}/settings", {"preconditions": {"uid": uid}}).status == 200


def test_a_deleted_object_with_finalizers_is_shown_and_stays_until_they_are_gone(store, raw) -> None:
    held = config_map()
    held["metadata"]["finalizers"] = ["example/guard"]
    store.create("configmaps", held)

    assert raw.send("DELETE", f"{MAPS}/settings").body["metadata"]["deletionTimestamp"] == "2030-01-01T00:00:00Z"
    assert raw.get(f"{MAPS}/settings").status == 200

    raw.patch(f"{MAPS}/settings", {"metadata": {"finalizers": None}})
    assert raw.get(f"{MAPS}/settings").status == 404


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"propagationPolicy": "Orphan"}, []),
        ({"orphanDependents": True}, []),
        ({"propagationPolicy": "Background"}, ["web"]),
        ({"propagationPolicy": "Foreground"}, ["web"]),
        ({}, ["web"]),
    ],
)
def test_orphaned_dependents_forget_their_owner(store, raw, options, kept) -> None:
    owner = store.create("deployments.apps", deployment())
    store.create("pods", owned(pod(), "Deployment", "web", owner["metadata"]["uid"]))

    raw.send("DELETE", f"{DEPLOYMENTS}/web", options)

    references = store.get("pods", "web-0", "default")["metadata"].get("ownerReferences", [])
    assert [reference["name"] for reference in references] == kept


def test_a_collection_is_deleted_by_selector(store, raw) -> None:
    for name in ("a", "b", "c"):
        made = config_map(name)
        made["metadata"]["labels"] = {"name": name}
        store.create("configmaps", made)

    answer = raw.send("DELETE", f"{MAPS}?labelSelector=name+in+(a,b)")

    assert answer.items == ["a", "b"]
    assert raw.get(MAPS).items == ["c"]


def test_a_custom_resource_is_replaced_only_by_who_has_seen_it(store, raw) -> None:
    store.create("customresourcedefinitions.apiextensions.k8s.io", definition())
    path = "/apis/cluster.example/v1/namespaces/default/machinepools"
    raw.post(path, {"metadata": {"name": "blue"}})

    answer = raw.send("PUT", f"{path}/blue", {"metadata": {"name": "blue"}, "spec": {}})

    assert answer.status == 422
    assert answer.body["message"] == (
        'MachinePool.cluster.example "blue" is invalid: metadata.resourceVersion: '
        "Invalid value: 0: must be specified for an update"
    )


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"{MAPS}/settings"),
        ("PUT", MAPS),
        ("PATCH", MAPS),
        ("POST", f"{DEPLOYMENTS}/web/status"),
        ("DELETE", f"{DEPLOYMENTS}/web/scale"),
        ("GET", f"{PODS}/web-0/eviction"),
        ("GET", "/api/v1/namespaces/default/bindings"),
        ("POST", "/version"),
        ("OPTIONS", MAPS),
    ],
)
def test_what_a_resource_does_not_do_is_refused(raw, method, path) -> None:
    answer = raw.send(method, path, {})

    assert (answer.status, answer.body["reason"]) == (405, "MethodNotAllowed")


def test_what_lives_in_namespaces_is_created_in_one(raw) -> None:
    assert raw.post("/api/v1/configmaps", without_namespace(config_map())).status == 404
