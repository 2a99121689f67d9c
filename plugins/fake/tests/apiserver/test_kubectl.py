"""kubectl as people use it. Nothing schedules or runs here; the tests play the other actors themselves."""

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from nodewright_fake.apiserver.server import ApiServer
from nodewright_fake.apiserver.store import Change, Store

from .builders import Object, budget, definition, deployment, machine_pool, node, owned, pod, ready_pod

KUBECTL = shutil.which("kubectl")
BUDGETS = "poddisruptionbudgets.policy"
PATIENCE_SECONDS = 15

pytestmark = [
    pytest.mark.kubectl,
    pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed (Debian: kubernetes-client)"),
]


class Kubectl:
    """Runs kubectl against the server, with a home of its own."""

    def __init__(self, server: ApiServer, home: Path) -> None:
        kubeconfig = home / "kubeconfig"
        kubeconfig.write_text(server.kubeconfig())
        self._home = home
        self._environment = {**os.environ, "HOME": str(home), "KUBECONFIG": str(kubeconfig)}

    def start(self, *arguments: str, **more: Any) -> "subprocess.Popen[str]":
        assert KUBECTL is not None
        pipe = subprocess.PIPE
        command = [KUBECTL, *arguments]
        return subprocess.Popen(command, env=self._environment, stdout=pipe, stderr=pipe, text=True, **more)

    def __call__(self, *arguments: str, fails: bool = False) -> str:
        """What kubectl says on its standard output; on the other one if it is to fail."""
        with self.start(*arguments) as process:
            out, err = process.communicate(timeout=PATIENCE_SECONDS)
        assert (process.returncode != 0) is fails, f"{out}\n{err}"
        return err if fails else out

    def table(self, *arguments: str) -> list[list[str]]:
        return [line.split() for line in self("get", *arguments).splitlines()]

    def file(self, *objects: Object) -> str:
        path = self._home / "objects.yaml"
        path.write_text(yaml.safe_dump_all(objects))
        return str(path)


@pytest.fixture
def kubectl(server: ApiServer, tmp_path: Path) -> Kubectl:
    return Kubectl(server, tmp_path)


@pytest.fixture
def kubelet(store: Store) -> Iterator[None]:
    """Ends every pod that is asked to go."""
    news, over = threading.Event(), threading.Event()
    going: list[Object] = []

    def note(change: Change) -> None:
        if change.resource == "pods" and "deletionTimestamp" in change.object["metadata"] and change.type != "DELETED":
            going.append(change.object)
            news.set()

    def work() -> None:
        while not over.is_set():
            news.wait()
            news.clear()
            while going:
                metadata = going.pop()["metadata"]
                store.delete("pods", metadata["name"], metadata["namespace"], grace_seconds=0)

    leave = store.subscribe(note)
    thread = threading.Thread(target=work)
    thread.start()
    yield
    leave()
    over.set()
    news.set()
    thread.join()


def test_get_prints_tables(kubectl, store) -> None:
    store.create("nodes", node())
    store.create("pods", ready_pod())
    store.create("deployments.apps", deployment())

    assert kubectl.table("pods") == [
        ["NAME", "READY", "STATUS", "RESTARTS", "AGE"],
        ["web-0", "1/1", "Running", "0", "0s"],
    ]
    assert kubectl.table("no", "-o", "wide")[1][:3] == ["n1", "Ready", "<none>"]
    assert kubectl.table("deploy")[1] == ["web", "0/2", "0", "0", "0s"]
    assert kubectl.table("pods", "-A", "-l", "app=web", "--no-headers")[0][:2] == ["default", "web-0"]
    assert "deployment.apps/web" in kubectl("get", "all")


def test_get_prints_objects(kubectl, store) -> None:
    store.create("pods", ready_pod())

    assert yaml.safe_load(kubectl("get", "pod", "web-0", "-o", "yaml"))["spec"]["nodeName"] == "n1"
    assert len(json.loads(kubectl("get", "pods", "-o", "json"))["items"]) == 1
    assert kubectl("get", "pods", "-o", "name") == "pod/web-0\n"
    assert kubectl("get", "pod", "gone", fails=True) == 'Error from server (NotFound): pods "gone" not found\n'


def test_get_reads_long_lists_in_chunks(kubectl, store, server) -> None:
    for number in range(7):
        store.create("pods", pod(f"p{number}"))

    assert len(kubectl.table("pods", "--chunk-size=3", "--no-headers")) == 7
    assert server.record.count(verb="list", resource="pods") == 3


def test_get_watches(kubectl, store, server) -> None:
    store.create("pods", pod("first"))
    with kubectl.start("get", "pods", "-w", "--no-headers") as process:
        assert process.stdout is not None
        assert process.stdout.readline().split()[0] == "first"
        store.create("pods", pod("second"))
        assert process.stdout.readline().split()[:3] == ["second", "0/1", "Pending"]
        process.kill()


def test_describe(kubectl, store) -> None:
    store.create("nodes", node())
    store.create("pods", ready_pod())
    store.create("deployments.apps", deployment())
    event = {
        "metadata": {"name": "e", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "name": "web-0", "namespace": "default", "uid": uid_of(store)},
        "type": "Normal",
        "reason": "Pulled",
        "message": "have it",
    }
    store.create("events", event)

    described = kubectl("describe", "pod", "web-0")
    assert "Node:" in described
    assert "have it" in described
    assert "web-0" in kubectl("describe", "node", "n1").partition("Non-terminated Pods:")[2]
    assert "25% max unavailable, 25% max surge" in kubectl("describe", "deployment", "web")


def uid_of(store: Store) -> str:
    return str(store.get("pods", "web-0", "default")["metadata"]["uid"])


def test_apply_creates_changes_and_leaves_alone(kubectl, store) -> None:
    assert kubectl("apply", "-f", kubectl.file(deployment(image="web:1"))) == "deployment.apps/web created\n"
    assert kubectl("apply", "-f", kubectl.file(deployment(image="web:2"))) == "deployment.apps/web configured\n"
    assert kubectl("apply", "-f", kubectl.file(deployment(image="web:2"))) == "deployment.apps/web unchanged\n"

    spec = store.get("deployments.apps", "web", "default")["spec"]
    assert [container["image"] for container in spec["template"]["spec"]["containers"]] == ["web:2"]


def test_apply_on_the_servers_side(kubectl, store) -> None:
    said = kubectl("apply", "--server-side", "-f", kubectl.file(deployment()))

    assert said == "deployment.apps/web serverside-applied\n"
    assert store.find("deployments.apps", "web", "default") is not None


def test_scale(kubectl, store) -> None:
    store.create("deployments.apps", deployment())

    assert kubectl("scale", "deployment", "web", "--replicas=5") == "deployment.apps/web scaled\n"

    assert store.get("deployments.apps", "web", "default")["spec"]["replicas"] == 5


def test_cordon_and_uncordon(kubectl, store) -> None:
    store.create("nodes", node())

    assert kubectl("cordon", "n1") == "node/n1 cordoned\n"
    assert store.get("nodes", "n1")["spec"]["unschedulable"] is True
    assert kubectl.table("nodes")[1][1] == "Ready,SchedulingDisabled"

    assert kubectl("uncordon", "n1") == "node/n1 uncordoned\n"
    assert not store.get("nodes", "n1")["spec"].get("unschedulable")


def test_label_annotate_and_taint(kubectl, store) -> None:
    store.create("nodes", node())

    kubectl("label", "node", "n1", "zone=a")
    kubectl("annotate", "node", "n1", "note=here")
    kubectl("taint", "node", "n1", "gpu=yes:NoSchedule", "old=:NoExecute")
    kubectl("taint", "node", "n1", "old-")

    found = store.get("nodes", "n1")
    assert found["metadata"]["labels"]["zone"] == "a"
    assert found["metadata"]["annotations"] == {"note": "here"}
    assert [(taint["key"], taint["effect"]) for taint in found["spec"]["taints"]] == [("gpu", "NoSchedule")]


@pytest.mark.usefixtures("kubelet")
def test_drain_waits_for_the_budget(kubectl, store) -> None:
    store.create("nodes", node())
    store.create("pods", owned(ready_pod(), "ReplicaSet", "web", "u"))
    store.create(BUDGETS, budget(allowed=0))

    with kubectl.start("drain", "n1", "--timeout=20s") as process:
        assert process.stderr is not None
        refusal = next(line for line in process.stderr if "error when evicting" in line)
        assert "Cannot evict pod as it would violate the pod's disruption budget." in refusal
        assert "deletionTimestamp" not in store.get("pods", "web-0", "default")["metadata"]

        store.modify(BUDGETS, "web", "default", lambda draft: draft["status"].update(disruptionsAllowed=1))
        out, _ = process.communicate(timeout=PATIENCE_SECONDS)

    assert process.returncode == 0
    assert "pod/web-0 evicted" in out
    assert store.find("pods", "web-0", "default") is None
    assert store.get("nodes", "n1")["spec"]["unschedulable"] is True


@pytest.mark.usefixtures("kubelet")
def test_delete_waits_until_the_pod_is_gone(kubectl, store) -> None:
    store.create("pods", ready_pod())

    assert kubectl("delete", "pod", "web-0").startswith('pod "web-0" deleted')

    assert store.find("pods", "web-0", "default") is None


def test_delete_by_force_and_by_selector(kubectl, store) -> None:
    for name in ("a", "b", "c"):
        store.create("pods", ready_pod(name))

    kubectl("delete", "pod", "a", "--force", "--grace-period=0")
    assert [one["metadata"]["name"] for one in store.list("pods")] == ["b", "c"]

    kubectl("delete", "pods", "-l", "app=web", "--wait=false")
    assert all("deletionTimestamp" in one["metadata"] for one in store.list("pods"))


def test_rollout_status_ends_when_everything_is_available(kubectl, store, server) -> None:
    store.create("deployments.apps", deployment(replicas=2))
    counts = {"replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2, "observedGeneration": 1}

    with kubectl.start("rollout", "status", "deployment/web", "--timeout=15s") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Waiting for deployment spec update to be observed")
        store.modify("deployments.apps", "web", "default", lambda draft: draft.update(status=counts))
        out, _ = process.communicate(timeout=PATIENCE_SECONDS)

    assert out.endswith('deployment "web" successfully rolled out\n')


def test_patch_and_restart(kubectl, store) -> None:
    store.create("deployments.apps", deployment())

    kubectl("patch", "deployment", "web", "-p", '{"spec":{"replicas":7}}')
    kubectl("set", "image", "deployment/web", "main=web:9")
    kubectl("rollout", "restart", "deployment/web")

    changed = store.get("deployments.apps", "web", "default")
    template = changed["spec"]["template"]
    assert changed["spec"]["replicas"] == 7
    assert [container["image"] for container in template["spec"]["containers"]] == ["web:9"]
    assert "kubectl.kubernetes.io/restartedAt" in template["metadata"]["annotations"]


def test_create_from_the_command_line(kubectl, store) -> None:
    kubectl("create", "namespace", "team")
    kubectl("create", "deployment", "web", "-n", "team", "--image=web:1", "--replicas=3")
    kubectl("create", "configmap", "settings", "--from-literal=key=value")

    assert store.get("deployments.apps", "web", "team")["spec"]["replicas"] == 3
    assert store.get("configmaps", "settings", "default")["data"] == {"key": "value"}


def test_custom_resources(kubectl, store) -> None:
    columns = [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]
    paths = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
    kubectl("create", "-f", kubectl.file(definition(columns=columns, subresources={"scale": paths})))
    kubectl("wait", "--for=condition=Established", "crd/machinepools.cluster.example", "--timeout=10s")
    kubectl("apply", "-f", kubectl.file(machine_pool(size=1)))
    kubectl("scale", "machinepool/blue", "--replicas=4")

    assert kubectl.table("mp") == [["NAME", "SIZE"], ["blue", "4"]]


def test_api_resources_and_versions(kubectl) -> None:
    listed = kubectl("api-resources")

    assert "poddisruptionbudgets" in listed
    assert "apps/v1" in kubectl("api-versions").split()
    assert "v1.36.0" in kubectl("version")


def test_rights_can_be_asked_for(kubectl, server) -> None:
    server.authorize = lambda request: "" if request.verb == "delete" else None

    assert kubectl("auth", "can-i", "list", "pods") == "yes\n"
    assert "Forbidden" in kubectl("delete", "node", "n1", fails=True)
