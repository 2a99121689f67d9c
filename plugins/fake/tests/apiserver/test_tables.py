from datetime import timedelta
from typing import Any

import pytest
from nodewright_fake.apiserver.ages import human, since

from .builders import budget, config_map, definition, deployment, machine_pool, node, pod, ready_pod
from .raw import TABLE, Raw

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"


def rows(raw: Raw, path: str, *, wide: bool = False, **query: str) -> list[dict[str, Any]]:
    body = raw.get(path, accept=TABLE, **query).body
    assert body["kind"] == "Table"
    names = [column["name"] for column in body["columnDefinitions"]]
    shown = [wide or not column["priority"] for column in body["columnDefinitions"]]
    return [
        {name: cell for name, cell, show in zip(names, row["cells"], shown, strict=True) if show}
        for row in body["rows"]
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (-1, "0s"),
        (-5, "<invalid>"),
        (119, "119s"),
        (120, "2m"),
        (200, "3m20s"),
        (600, "10m"),
        (3 * 3600, "3h"),
        (3 * 3600 + 300, "3h5m"),
        (9 * 3600 + 300, "9h"),
        (49 * 3600, "2d1h"),
        (10 * 86400, "10d"),
        (800 * 86400, "2y70d"),
        (9 * 365 * 86400, "9y"),
    ],
)
def test_durations_are_written_as_kubectl_writes_them(seconds, text) -> None:
    assert human(seconds) == text


def test_ages_run_on_the_worlds_clock(clock) -> None:
    assert since("2029-12-31T23:59:00Z", clock.now()) == "60s"
    assert since(None, clock.now()) == "<unknown>"


def test_pods(store, raw, clock) -> None:
    store.create("pods", ready_pod())
    clock.advance(90)

    assert rows(raw, "/api/v1/pods") == [
        {"Name": "web-0", "Ready": "1/1", "Status": "Running", "Restarts": "0", "Age": "90s"}
    ]
    wide = rows(raw, "/api/v1/pods", wide=True)[0]
    assert (wide["IP"], wide["Node"], wide["Nominated Node"]) == ("<none>", "n1", "<none>")


def status(phase: str = "Running", **more: Any) -> dict[str, Any]:
    return {"phase": phase, **more}


def container(state: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    return [{"name": "main", "ready": False, "restartCount": 0, "state": state, **more}]


@pytest.mark.parametrize(
    ("pod_status", "word"),
    [
        (status("Pending"), "Pending"),
        (status("Failed", reason="Evicted"), "Evicted"),
        (status("Succeeded"), "Succeeded"),
        (
            status("Pending", conditions=[{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]),
            "SchedulingGated",
        ),
        (
            status("Pending", containerStatuses=container({"waiting": {"reason": "ContainerCreating"}})),
            "ContainerCreating",
        ),
        (status(containerStatuses=container({"waiting": {"reason": "CrashLoopBackOff"}})), "CrashLoopBackOff"),
        (status("Succeeded", containerStatuses=container({"terminated": {"reason": "Completed"}})), "Completed"),
        (status("Failed", containerStatuses=container({"terminated": {"exitCode": 3}})), "ExitCode:3"),
        (status("Failed", containerStatuses=container({"terminated": {"signal": 9}})), "Signal:9"),
        (status("Pending", initContainerStatuses=container({"running": {}})), "Init:0/1"),
        (
            status("Pending", initContainerStatuses=container({"waiting": {"reason": "ErrImagePull"}})),
            "Init:ErrImagePull",
        ),
        (status("Pending", initContainerStatuses=container({"terminated": {"exitCode": 1}})), "Init:ExitCode:1"),
        (status("Pending", initContainerStatuses=container({"terminated": {"exitCode": 0}})), "Pending"),
    ],
)
def test_the_status_of_a_pod_in_a_word(store, raw, pod_status, word) -> None:
    made = pod(node="n1", initContainers=[{"name": "main"}] if "initContainerStatuses" in pod_status else [])
    store.create("pods", {**made, "status": pod_status})

    assert rows(raw, "/api/v1/pods")[0]["Status"] == word


def test_a_pod_that_goes_is_terminating(store, raw) -> None:
    store.create("pods", ready_pod())
    store.delete("pods", "web-0", "default")

    assert rows(raw, "/api/v1/pods")[0]["Status"] == "Terminating"


def test_sidecars_count_as_containers(store, raw) -> None:
    made = ready_pod()
    made["spec"]["initContainers"] = [{"name": "proxy", "restartPolicy": "Always"}]
    made["status"]["initContainerStatuses"] = [{"name": "proxy", "started": True, "ready": True, "restartCount": 2}]
    store.create("pods", made)

    row = rows(raw, "/api/v1/pods")[0]
    assert (row["Ready"], row["Status"], row["Restarts"]) == ("2/2", "Running", "2")


def test_the_last_restart_is_dated(store, raw, clock) -> None:
    made = ready_pod()
    ended = (clock.now() - timedelta(seconds=40)).isoformat()
    made["status"]["containerStatuses"][0] |= {"restartCount": 3, "lastState": {"terminated": {"finishedAt": ended}}}
    store.create("pods", made)

    assert rows(raw, "/api/v1/pods")[0]["Restarts"] == "3 (40s ago)"


def test_nodes(store, raw) -> None:
    store.create("nodes", node("a", **{"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/gpu": ""}))
    store.create("nodes", node("b", ready=False))
    store.create("nodes", {**node("c"), "spec": {"unschedulable": True}})
    store.create("nodes", {**node("d"), "status": {}})

    assert [(row["Name"], row["Status"], row["Roles"], row["Version"]) for row in rows(raw, "/api/v1/nodes")] == [
        ("a", "Ready", "gpu,worker", "v1.36.0"),
        ("b", "NotReady", "<none>", "v1.36.0"),
        ("c", "Ready,SchedulingDisabled", "<none>", "v1.36.0"),
        ("d", "Unknown", "<none>", ""),
    ]
    assert rows(raw, "/api/v1/nodes", wide=True)[0]["Internal-IP"] == "10.0.0.7"


def test_deployments(store, raw) -> None:
    counts = {"readyReplicas": 1, "updatedReplicas": 2, "availableReplicas": 1}
    store.create("deployments.apps", {**deployment(replicas=3), "status": counts})

    row = rows(raw, "/apis/apps/v1/deployments", wide=True)[0]
    assert row == {
        "Name": "web",
        "Ready": "1/3",
        "Up-to-date": 2,
        "Available": 1,
        "Age": "0s",
        "Containers": "main",
        "Images": "web:1",
        "Selector": "app=web",
    }


@pytest.mark.parametrize(
    ("resource", "path", "made", "cells"),
    [
        ("replicasets.apps", "/apis/apps/v1/replicasets", deployment(replicas=2), ["web", 2, 0, 0, "0s"]),
        ("statefulsets.apps", "/apis/apps/v1/statefulsets", deployment(replicas=2), ["web", "0/2", "0s"]),
        (
            "daemonsets.apps",
            "/apis/apps/v1/daemonsets",
            {
                **deployment(),
                "status": {"desiredNumberScheduled": 3, "currentNumberScheduled": 2, "numberReady": 1},
            },
            ["web", 3, 2, 1, 0, 0, "<none>", "0s"],
        ),
        (
            "jobs.batch",
            "/apis/batch/v1/jobs",
            {
                **deployment(),
                "spec": {"completions": 4},
                "status": {"succeeded": 1, "startTime": "2029-12-31T23:59:50Z"},
            },
            ["web", "Running", "1/4", "10s", "0s"],
        ),
        (
            "jobs.batch",
            "/apis/batch/v1/jobs",
            {
                **deployment(),
                "status": {
                    "succeeded": 1,
                    "startTime": "2029-12-31T23:59:50Z",
                    "completionTime": "2029-12-31T23:59:55Z",
                    "conditions": [{"type": "Complete", "status": "True"}],
                },
            },
            ["web", "Complete", "1/1", "5s", "0s"],
        ),
        (
            "poddisruptionbudgets.policy",
            "/apis/policy/v1/poddisruptionbudgets",
            budget(allowed=1),
            ["web", 2, "N/A", 1, "0s"],
        ),
        ("configmaps", "/api/v1/configmaps", config_map(a="1", b="2"), ["settings", 2, "0s"]),
        ("secrets", "/api/v1/secrets", config_map(a="1"), ["settings", "Opaque", 1, "0s"]),
        (
            "services",
            "/api/v1/services",
            {**config_map(), "spec": {"ports": [{"port": 80, "nodePort": 30080}, {"port": 53, "protocol": "UDP"}]}},
            ["settings", "ClusterIP", "<none>", "<none>", "80:30080/TCP,53/UDP", "0s"],
        ),
        (
            "services",
            "/api/v1/services",
            {**config_map(), "spec": {"type": "LoadBalancer", "clusterIP": "10.0.0.1"}},
            ["settings", "LoadBalancer", "10.0.0.1", "<pending>", "<none>", "0s"],
        ),
        (
            "leases.coordination.k8s.io",
            "/apis/coordination.k8s.io/v1/leases",
            {**config_map(), "spec": {"holderIdentity": "me"}},
            ["settings", "me", "0s"],
        ),
        (
            "events",
            "/api/v1/events",
            {
                **config_map(),
                "type": "Warning",
                "reason": "FailedScheduling",
                "message": "0/1 nodes are available",
                "involvedObject": {"kind": "Pod", "name": "web-0"},
                "lastTimestamp": "2029-12-31T23:59:00Z",
            },
            ["60s", "Warning", "FailedScheduling", "pod/web-0", "0/1 nodes are available"],
        ),
        ("serviceaccounts", "/api/v1/serviceaccounts", config_map(), ["settings", "0s"]),
    ],
)
def test_other_resources(store, raw, resource, path, made, cells) -> None:
    store.create(resource, {key: value for key, value in made.items() if key not in ("kind", "apiVersion")})

    assert list(rows(raw, path)[0].values()) == cells


def test_namespaces(raw) -> None:
    assert rows(raw, "/api/v1/namespaces", fieldSelector="metadata.name=default") == [
        {"Name": "default", "Status": "Active", "Age": "0s"}
    ]


def test_custom_resources_have_the_columns_of_their_definition(store, raw) -> None:
    columns = [
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
        {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'},
        {"name": "First", "type": "string", "jsonPath": ".spec.zones[0]"},
        {"name": "Since", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        {"name": "Hidden", "type": "string", "jsonPath": ".spec.nothing", "priority": 1},
    ]
    store.create(DEFINITIONS, definition(columns=columns))
    conditions = [{"type": "Other", "status": "False"}, {"type": "Ready", "status": "True"}]
    pool = {**machine_pool(size=3, zones=["a", "b"]), "status": {"conditions": conditions}}
    store.create("machinepools.cluster.example", pool)

    assert rows(raw, "/apis/cluster.example/v1/machinepools") == [
        {"Name": "blue", "Size": 3, "Ready": "True", "First": "a", "Since": "0s"}
    ]


def test_custom_resources_without_columns_have_name_and_age(store, raw) -> None:
    store.create(DEFINITIONS, definition())
    store.create("machinepools.cluster.example", machine_pool())

    assert rows(raw, "/apis/cluster.example/v1/machinepools") == [{"Name": "blue", "Age": "0s"}]


@pytest.mark.parametrize(
    ("include", "carried"),
    [(None, "PartialObjectMetadata"), ("Metadata", "PartialObjectMetadata"), ("Object", "Pod"), ("None", None)],
)
def test_rows_carry_as_much_of_the_object_as_is_asked_for(store, raw, include, carried) -> None:
    store.create("pods", pod())
    query = {"includeObject": include} if include else {}

    row = raw.get("/api/v1/pods", accept=TABLE, **query).body["rows"][0]

    assert row.get("object", {}).get("kind") == carried


def test_one_object_can_be_a_table_too(store, raw) -> None:
    store.create("pods", pod())

    body = raw.get("/api/v1/namespaces/default/pods/web-0", accept=TABLE).body

    assert [row["cells"][0] for row in body["rows"]] == ["web-0"]


def test_a_watch_can_be_of_tables(store, raw) -> None:
    events = raw.watch("/api/v1/pods", accept=TABLE, allowWatchBookmarks="true", resourceVersion="0")
    store.create("pods", pod())

    event = next(events)

    assert (event["type"], event["object"]["kind"]) == ("ADDED", "Table")
    assert event["object"]["rows"][0]["cells"][:3] == ["web-0", "0/1", "Pending"]


def test_tables_come_in_the_older_version_for_older_clients(store, raw) -> None:
    accept = "application/json;as=Table;v=v1beta1;g=meta.k8s.io"

    assert raw.get("/api/v1/pods", accept=accept).body["apiVersion"] == "meta.k8s.io/v1beta1"
