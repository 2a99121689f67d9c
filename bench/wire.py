"""From the wire into columns: decoding pods, loading a cluster, applying one change."""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from threading import Event
from time import perf_counter, process_time, sleep
from typing import Any

import msgspec
from nodewright.cluster import Cluster
from nodewright.kube.feed import Feed
from nodewright.kube.kinds import KINDS
from nodewright.kube.pod_reader import PodReader, SeenPod
from nodewright.kube.reflector import Reflector
from nodewright.objects import Node, Pod

from bench.measure import RUNS, Case, Figure, duration, timed
from bench.pod_json import PodText, page

_APPS = 200
_PER_NODE = 30
_PAGE = 500
_DECODED = 10_000


class _Page(msgspec.Struct):
    items: list[msgspec.Raw]


def pod_texts() -> list[PodText]:
    """Return the running ReplicaSets."""
    return [PodText(f"app-{app}", {"cpu": f"{500 + app % 12}m", "memory": "512Mi"}) for app in range(_APPS)]


def pods_of(nodes: int) -> Iterator[bytes]:
    """Yield the running pods of a cluster, node after node."""
    texts = pod_texts()
    for number in range(nodes * _PER_NODE):
        yield texts[number % _APPS].pod(number, f"node-{number // _PER_NODE:05}")


def node_json(number: int, *, beat: int = 0, cpu: str = "16") -> bytes:
    """Return a node as an API server writes it, after so many heartbeats."""
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": f"node-{number:05}",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "m5.4xlarge",
        "pool": f"pool-{number % 10}",
        "topology.kubernetes.io/region": "eu-west-1",
        "topology.kubernetes.io/zone": f"eu-west-1{'abc'[number % 3]}",
    }
    resources = {"cpu": cpu, "memory": "64Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    since = "2026-01-15T08:30:00Z"
    conditions = [
        {"type": each, "status": str(each == "Ready"), "lastHeartbeatTime": since, "lastTransitionTime": since}
        for each in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    ]
    images = [{"names": [f"registry.example/image-{n}@sha256:{n:064x}"], "sizeBytes": 10**8} for n in range(20)]
    node = {
        "metadata": {
            "name": f"node-{number:05}",
            "uid": f"uid-{number}",
            "resourceVersion": str(1000 + beat),
            "creationTimestamp": since,
            "labels": labels,
            "annotations": {"csi.volume.kubernetes.io/nodeid": json.dumps({"ebs.csi.aws.com": f"i-{number:017x}"})},
        },
        "spec": {"providerID": f"aws:///eu-west-1a/i-{number:017x}"},
        "status": {"capacity": resources, "allocatable": resources, "conditions": conditions, "images": images},
    }
    return json.dumps(node, separators=(",", ":")).encode()


def _decode() -> Figure:
    from kubernetes.client import ApiClient

    body = page(list(islice(pods_of(_DECODED // _PER_NODE + 1), _DECODED)))

    def read() -> list[SeenPod]:
        reader = PodReader()
        return [reader(raw) for raw in msgspec.json.decode(body, type=_Page).items]

    seconds = median(timed(read) for _ in range(RUNS)) / _DECODED
    client: Any = ApiClient()
    listed: list[Any] = []

    def deserialize() -> None:
        listed[:] = client.deserialize(body.decode(), "V1PodList", "application/json").items

    reference = timed(deserialize) / _DECODED
    for seen, model in zip(read(), listed, strict=True):
        assert (seen.key, seen.uid) == (f"{model.metadata.namespace}/{model.metadata.name}", model.metadata.uid)
        assert (seen.node, seen.created) == (model.spec.node_name, model.metadata.creation_timestamp)
        assert seen.prototype.pod.spec.containers[0].resources.requests == model.spec.containers[0].resources.requests
    note = f"CPU per pod of {len(body) // _DECODED} bytes; official client {duration(reference)}"
    return Figure(seconds=seconds, reference=reference, note=note)


class _Pages:
    """Stands in for a connection: pages of a cluster, made on request."""

    def __init__(self, nodes: int) -> None:
        self._pods = pods_of(nodes)
        self._nodes = (node_json(number) for number in range(nodes))
        self._end = Event()
        #: CPU seconds that making pages took.
        self.making = 0.0

    def get(self, path: str, query: Mapping[str, str] | None = None) -> bytes:
        """Return the next page of a list."""
        start = process_time()
        objects = {"/api/v1/pods": self._pods, "/api/v1/nodes": self._nodes}.get(path, iter(()))
        items = list(islice(objects, _PAGE))
        body = page(items, more=len(items) == _PAGE)
        self.making += process_time() - start
        return body

    def watch(self, *_: Any, **__: Any) -> "_Pages":
        """Begin a watch in which nothing happens."""
        return self

    def stream(self, *_: Any, **__: Any) -> Iterator[bytes]:
        """Wait until it ends."""
        self._end.wait()
        yield from ()

    def shutdown(self) -> None:
        """End the watches."""
        self._end.set()

    close = shutdown


def _load(nodes: int) -> Figure:
    pages: Any = _Pages(nodes)
    feed, cluster = Feed(), Cluster()
    empty = _resident()
    start, begun = perf_counter(), process_time()
    # One after the other: the time that making pages takes is told apart, then.
    for kind in KINDS:
        reflector = Reflector(kind, pages, feed)
        reflector.start()
        while not feed.apply_to(cluster) and kind.name in ("pods", "nodes"):
            sleep(0.005)
        reflector.stop()
    seconds, passed = process_time() - begun - pages.making, perf_counter() - start
    kept = _resident() - empty
    count = nodes * _PER_NODE
    assert (len(cluster.nodes), len(cluster.pods)) == (nodes, count)
    assert len(cluster.pod_classes.known) == _APPS
    for number in range(0, nodes, 997):
        asked = [500 + serial % _APPS % 12 for serial in range(number * _PER_NODE, (number + 1) * _PER_NODE)]
        assert cluster.table.free[0, cluster.table.rows[f"node-{number:05}"]] == 16_000 - sum(asked)
    note = f"CPU for {count} pods, {nodes} nodes; {kept / count:.0f} bytes kept per pod; "
    note += f"by the clock {duration(passed)}, making the pages included"
    assert kept / count < 1024, note
    return Figure(seconds=seconds, note=note)


def _resident() -> int:
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[1]) * 4096 if pages.exists() else 0


def loaded(nodes: int) -> tuple[Cluster, PodReader]:
    """Return a cluster of so many nodes that has read all its pods, and its reader."""
    cluster, reader = Cluster(), PodReader()
    for number in range(nodes):
        cluster.put_node(msgspec.json.decode(node_json(number), type=Node))
    for pod in pods_of(nodes):
        reader(pod).put_into(cluster)
    return cluster, reader


def _update_pod(*, moved: bool) -> Figure:
    nodes = 1_500
    cluster, reader = loaded(nodes)
    texts, changed = pod_texts(), 3_000
    places = [f"node-{(number // _PER_NODE + 7 * moved) % nodes:05}" for number in range(changed)]
    raws = [texts[number % _APPS].pod(number, places[number]) for number in range(changed)]

    def update() -> None:
        for raw in raws:
            reader(raw).put_into(cluster)

    whole = [timed(update) for _ in range(1 if moved else RUNS)]
    for raw, place in zip(raws, places, strict=True):
        assert cluster.pods[msgspec.json.decode(raw, type=Pod).key].node == place
    assert cluster.table.free[0].sum() == nodes * 16_000 - sum(500 + n % _APPS % 12 for n in range(nodes * _PER_NODE))
    return Figure(seconds=median(whole) / changed, note="decoded and taken up" + ", onto another node" * moved)


def _update_node(*, resized: bool) -> Figure:
    cluster, _ = loaded(500)
    rounds = [[node_json(n, beat=beat, cpu=str(16 + beat * resized)) for n in range(500)] for beat in range(RUNS)]
    decoder = msgspec.json.Decoder(Node)

    def update(raws: list[bytes]) -> None:
        for raw in raws:
            cluster.put_node(decoder.decode(raw))

    seconds = median(timed(partial(update, raws)) for raws in rounds) / 500
    cpu = 1000 * (16 + (RUNS - 1) * resized)
    asked = sum(500 + number % 12 for number in range(_PER_NODE))
    assert cluster.table.free[0, cluster.table.rows["node-00000"]] == cpu - asked
    return Figure(seconds=seconds, note="decoded and taken up" + ", with other resources" * resized)


CASES = [
    Case(name="decode", run=_decode, bar_ratio=40),
    Case(name="load 45000", run=lambda: _load(1_500), bar=1.5),
    Case(name="load 450000", run=lambda: _load(15_000), bar=15, bar_peak=600 * 10**6),
    Case(name="update pod, status", run=lambda: _update_pod(moved=False), bar=50e-6),
    Case(name="update pod, moved", run=lambda: _update_pod(moved=True), bar=50e-6),
    Case(name="update node, heartbeat", run=lambda: _update_node(resized=False), bar=50e-6),
    Case(name="update node, resized", run=lambda: _update_node(resized=True), bar=50e-6),
]
