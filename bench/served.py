"""A large cluster that an API server and a cloud serve over HTTP, filled at the start: nothing in it acts by itself."""

import gc
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any, Self

from nodewright.runtime.clock import SystemClock
from nodewright_fake.agenda import Agenda
from nodewright_fake.apiserver.server import ApiServer
from nodewright_fake.apiserver.store import Object, Store, timestamp
from nodewright_fake.cloud.cloud import Cloud
from nodewright_fake.cloud.group import GroupSettings
from nodewright_fake.cloud.instance_type import InstanceType
from nodewright_fake.cloud.server import CloudServer
from nodewright_fake.controllers.nodes.registration import ready, register
from nodewright_fake.duration import Span
from nodewright_fake.machine import Machine

from bench.pod_json import PodText

PER_NODE = 30
_APPS = 200
_NAMESPACES = 40
_GROUPS = 10
_OLD_REVISIONS = 50
_IMAGES = 40
#: Each so many nodes there is one that does little, and could go if others had room.
_IDLE_EVERY = 50
_MACHINE = InstanceType(cpu="16", memory="64Gi", price=0.8)
_SPARE = 200
_BOOT_SECONDS = 0.5


class ServedCluster:
    """So many nodes in ten groups, full of the pods of 200 ReplicaSets, served in the ``with`` block.

    Machines that are ordered become ready nodes two seconds later.
    """

    def __init__(self, nodes: int) -> None:
        clock = SystemClock()
        self.store = Store(clock)
        self.api_server = ApiServer(self.store, log_length=100_000)
        #: Names of the nodes from the beginning.
        self.first_nodes: Sequence[str] = ()
        self._agenda = Agenda(clock)
        self._ended = Event()
        self.cloud = Cloud(
            agenda=self._agenda,
            hosts=self,
            zones=("eu-a", "eu-b"),
            instance_types={"large": _MACHINE},
            groups=[_group(number, nodes // _GROUPS) for number in range(_GROUPS)],
        )
        self._cloud_server = CloudServer(self.cloud)
        self._lives = Thread(target=self._live, name="served-cluster", daemon=True)
        self._fill()

    def __enter__(self) -> Self:
        self._folder = TemporaryDirectory(prefix="nodewright-bench-")
        self.api_server.start()
        self._cloud_server.start()
        self._lives.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._agenda.changed.set()
        self._lives.join()
        self._cloud_server.stop()
        self.api_server.stop()
        self._folder.cleanup()

    @property
    def kubeconfig(self) -> Path:
        """A kubeconfig file for the API server."""
        path = Path(self._folder.name) / "kubeconfig"
        path.write_text(self.api_server.kubeconfig())
        return path

    @property
    def configuration(self) -> Path:
        """A configuration file that names the cloud and keeps all other defaults."""
        path = Path(self._folder.name) / "nodewright.yaml"
        provider = json.dumps({"fake": {"url": self._cloud_server.url}})
        path.write_text(
            f"apiVersion: nodewright.dev/v1\nkind: Autoscaler\nproviders: [{provider}]\n"
            "server: {address: '127.0.0.1:0'}\n"
        )
        return path

    @property
    def orders(self) -> list[datetime]:
        """When each machine was ordered."""
        return [entry.at for entry in self.cloud.history if entry.event == "ordered"]

    def want_node(self, name: str) -> datetime:
        """Create a pod that the scheduler found to fit on no node; return the time."""
        text = PodText("waiting", {"cpu": "15500m", "memory": "1Gi"}).pod(0)
        pod = json.loads(text)
        pod["metadata"] |= {"name": name, "namespace": "default"}
        condition, pod["status"] = pod["status"]["conditions"], {"phase": "Pending"}
        began = self.store.clock.now()
        self.store.create("pods", pod)
        self.store.modify("pods", name, "default", lambda draft: draft["status"].update(conditions=condition))
        return began

    def bind(self, name: str, node: str) -> None:
        """Let a pod of the default namespace run on a node."""

        def change(draft: Object) -> None:
            draft["spec"]["nodeName"] = node
            draft["status"] = {"phase": "Running"}

        self.store.modify("pods", name, "default", change)

    def boot(self, machine: Machine) -> None:
        """Register the node of a machine, ready at once."""
        now = self.store.clock.now()
        node = register(machine, "10.0.0.1", now)
        node["spec"]["taints"] = []
        node["status"] |= {"conditions": ready(node["status"]["conditions"], now), "images": _images()}
        self.store.create("nodes", node)

    def shut_down(self, node_name: str) -> None:
        """Take the node away."""
        self.store.delete("nodes", node_name)

    def stop_reporting(self, node_name: str) -> None:
        """Nothing hangs."""

    resume_reporting = stop_reporting

    def _live(self) -> None:
        while not self._ended.is_set():
            self._agenda.changed.clear()
            self._agenda.run_due()
            self._agenda.changed.wait(0.05)

    def _fill(self) -> None:
        self._agenda.run_due()
        self.first_nodes = [node["metadata"]["name"] for node in self.store.list("nodes")]
        born = timestamp(self.store.clock.now())
        self.store.restore("namespaces", (_named("v1", "Namespace", f"team-{n}") for n in range(_NAMESPACES)))
        self.store.restore("pods", _pods(self.first_nodes))
        self.store.restore("replicasets.apps", _replica_sets(born))
        self.store.restore("poddisruptionbudgets.policy", _budgets())
        self.store.restore("csinodes.storage.k8s.io", map(_csi_node, self.first_nodes))
        # All of this stays to the end: to look through it for garbage again and again would hold requests up.
        gc.collect()
        gc.freeze()


def _group(number: int, size: int) -> GroupSettings:
    return GroupSettings(
        name=f"pool-{number}",
        zone="eu-a" if number % 2 else "eu-b",
        instance_type="large",
        max=size + _SPARE,
        desired=size,
        labels={"pool": f"pool-{number}"},
        boot_time=Span(shortest=_BOOT_SECONDS, longest=_BOOT_SECONDS),
    )


def requests_of(app: int) -> dict[str, str]:
    """Return the requests of an app's pods; those of the last apps are small."""
    return {"cpu": f"{500 + app % 12}m" if app < _APPS * 0.9 else "100m", "memory": "512Mi"}


def template_of(app: int) -> Object:
    """Return a running pod of an app, the model of the others."""
    pod: Object = json.loads(PodText(f"app-{app}", requests_of(app)).pod(0, "node"))
    return {"apiVersion": "v1", "kind": "Pod", **pod}


def space_of(app: int) -> str:
    """Return the namespace of an app."""
    return f"team-{app % _NAMESPACES}"


def _pods(nodes: Sequence[str]) -> Iterator[Object]:
    chance = Random(0)
    templates = [template_of(app) for app in range(_APPS)]
    large, small = range(int(_APPS * 0.9)), range(int(_APPS * 0.9), _APPS)
    for number in range(len(nodes) * PER_NODE):
        row = number // PER_NODE
        app = chance.choice(large if row % _IDLE_EVERY else small)
        template = templates[app]
        name = f"app-{app}-6d4cf56db6-{number:07}"
        metadata = {**template["metadata"], "name": name, "namespace": space_of(app), "uid": f"uid-of-{name}"}
        yield {**template, "metadata": metadata, "spec": {**template["spec"], "nodeName": nodes[row]}}


def _replica_sets(born: str) -> Iterator[Object]:
    for app in range(_APPS):
        template = {key: template_of(app)[key] for key in ("metadata", "spec")}
        for revision in range(_OLD_REVISIONS + 1):
            live = revision == _OLD_REVISIONS
            name = f"app-{app}-6d4cf56db6" if live else f"app-{app}-{revision:010x}"
            body = _named("apps/v1", "ReplicaSet", name, space_of(app), born)
            yield {**body, "spec": {"replicas": 750 if live else 0, "template": template}}


def _budgets() -> Iterator[Object]:
    for app in range(_APPS):
        body = _named("policy/v1", "PodDisruptionBudget", f"app-{app}", space_of(app))
        selector = {"matchLabels": {"app": f"app-{app}"}}
        yield {**body, "spec": {"maxUnavailable": 1, "selector": selector}, "status": {"disruptionsAllowed": 1}}


def _csi_node(node: str) -> Object:
    drivers = [{"name": "csi.example", "nodeID": node, "topologyKeys": [], "allocatable": {"count": 25}}]
    return {**_named("storage.k8s.io/v1", "CSINode", node), "spec": {"drivers": drivers}}


def _named(version: str, kind: str, name: str, namespace: str = "", born: str = "2026-01-15T08:30:00Z") -> Object:
    metadata: dict[str, Any] = {"name": name, "uid": f"uid-of-{kind}-{name}", "creationTimestamp": born}
    return {"apiVersion": version, "kind": kind, "metadata": metadata | ({"namespace": namespace} if namespace else {})}


def _images() -> list[Object]:
    names = (f"registry.example/image-{n}" for n in range(_IMAGES))
    return [{"names": [f"{name}@sha256:{'0' * 64}", f"{name}:v1.27.3"], "sizeBytes": 10**8} for name in names]
