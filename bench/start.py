"""The real process with one cloud plugin in a small cluster at rest: what its start and its idleness take."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any, Self

from nodewright.runtime.clock import SystemClock
from nodewright_aws.testing import AwsDouble
from nodewright_fake.apiserver.server import ApiServer
from nodewright_fake.apiserver.store import Store
from nodewright_fake.controllers.nodes.registration import ready, register
from nodewright_fake.host import Host
from nodewright_gce.testing import GceDouble

from bench.measure import Case, Figure, duration
from bench.process import Process

_NODES = 3
_TAG = "k8s.io/cluster-autoscaler/enabled"
_CAPACITY = {"cpu": 2000, "memory": 7 << 30, "pods": 29}
_STATUS = "cluster-autoscaler-status"
_PATIENCE = 60.0
#: A few loops at rest.
_IDLE_SECONDS = 8.0
_RUNS = 5
#: Imports as a program's start has them: bytecode, classes, compiled expressions. None of it is Nodewright's.
_REFERENCE = (
    "import argparse, asyncio, concurrent.futures, dataclasses, decimal, email.message, fractions, http.client, json, "
    "inspect, logging.config, multiprocessing.pool, optparse, pydoc, ssl, statistics, tarfile, typing, unittest.mock, "
    "urllib.request, xml.etree.ElementTree, zipfile, zoneinfo"
)

_MOST_WORK, _MOST_MEMORY = 1.0, 100e6


@dataclass(frozen=True, kw_only=True)
class Started:
    """The figures of one process."""

    #: CPU seconds until the end of the first loop.
    work: float
    #: Bytes after a few loops at rest: resident, and this process' share of them.
    resident: int
    proportional: int


def _fill_aws(double: AwsDouble) -> Mapping[str, Any]:
    double.make_group("pool", desired=_NODES, tags={_TAG: "true"})
    return double.config(discover=[{"tags": {_TAG: None}}])


def _fill_gce(double: GceDouble) -> Mapping[str, Any]:
    pool = double.make_mig("pool", size=_NODES)
    return double.config(groups=[f"0:10:{pool.id}"])


#: By the name of the plugin: a cloud, and what makes the group ``pool`` there and returns the plugin's settings.
_CLOUDS: Mapping[str, tuple[Any, Callable[[Any], Mapping[str, Any]]]] = {
    "aws": (AwsDouble, _fill_aws),
    "gce": (GceDouble, _fill_gce),
}


class RestingCluster:
    """Three ready nodes of a group of a cloud, served in the ``with`` block: nothing happens."""

    def __init__(self, plugin: str = "aws") -> None:
        clock = SystemClock()
        self.store = Store(clock)
        self._api_server = ApiServer(self.store)
        self._plugin = plugin
        double, self._fill = _CLOUDS[plugin]
        self._cloud = double(clock=clock)

    def __enter__(self) -> Self:
        self._folder = TemporaryDirectory(prefix="nodewright-bench-")
        self._api_server.start()
        self._cloud.__enter__()
        self._settings = self._fill(self._cloud)
        now = self.store.clock.now()
        for number, machine in enumerate(self._cloud.machines("pool")):
            node = register(
                Host(
                    id=machine.provider_id,
                    name=f"node-{number}",
                    group="pool",
                    zone=machine.pool.zone,
                    instance_type=str(machine.pool).split("/")[1],
                    capacity=_CAPACITY,
                ),
                f"10.0.0.{number + 1}",
                now,
            )
            node["spec"]["taints"] = []
            node["status"]["conditions"] = ready(node["status"]["conditions"], now)
            self.store.create("nodes", node)
        return self

    def __exit__(self, *error: object) -> None:
        self._cloud.__exit__(None, None, None)
        self._api_server.stop()
        self._folder.cleanup()

    def measure(self, *, idle: float = _IDLE_SECONDS) -> Started:
        """Run ``nodewright run`` until it has been idle for so many seconds, and return its figures."""
        if (status := self.store.find("configmaps", _STATUS, "kube-system")) is not None:
            self.store.delete("configmaps", status["metadata"]["name"], "kube-system")
        folder = Path(self._folder.name)
        kubeconfig, configuration = folder / "kubeconfig", folder / "nodewright.yaml"
        kubeconfig.write_text(self._api_server.kubeconfig())
        provider = json.dumps({self._plugin: self._settings})
        configuration.write_text(
            f"apiVersion: nodewright.dev/v1\nkind: Autoscaler\nproviders: [{provider}]\n"
            "server: {address: '127.0.0.1:0'}\nloop: {scanInterval: 2s}\nleaderElection: {enabled: false}\n"
        )
        with Process(configuration, kubeconfig, environment=self._cloud.environment) as process:
            self._until_status(process)
            work = process.cpu_seconds
            sleep(idle)
            assert process.alive, "the autoscaler has ended"
            started = Started(work=work, resident=process.memory, proportional=process.proportional)
        complaints = [line for line in process.told.splitlines() if " WARNING " in line or " ERROR " in line]
        assert not complaints, complaints[0]
        return started

    def _until_status(self, process: Process) -> None:
        """Wait for the status that is written at the end of the first loop."""
        end = monotonic() + _PATIENCE
        while self.store.find("configmaps", _STATUS, "kube-system") is None:
            assert process.alive, "the autoscaler has ended"
            assert monotonic() < end, "it never came to the end of a loop"
            sleep(0.005)


def reference_work() -> float:
    """Return the CPU seconds of a process that imports a good part of Python's own library, on this machine now."""
    before = os.times()
    subprocess.run([sys.executable, "-I", "-c", _REFERENCE], check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _start(plugin: str) -> Figure:
    if sys.platform != "linux":
        return Figure(seconds=0, skipped="what a process takes is read as Linux tells it")
    references, runs = [], []
    with RestingCluster(plugin) as cluster:
        cluster.measure(idle=0)
        for _ in range(_RUNS):
            references.append(reference_work())
            runs.append(cluster.measure())
    work = median(each.work for each in runs)
    resident = max(each.resident for each in runs)
    return Figure(
        seconds=work,
        reference=median(references),
        peak=resident,
        note=f"CPU of `nodewright run` with {plugin} to the end of its first loop; memory at rest",
        lines=[
            f"resident: {resident / 1e6:.1f} MB, proportional: {max(each.proportional for each in runs) / 1e6:.1f} MB",
            "CPU of each start: " + " ".join(duration(each.work) for each in runs),
        ],
        wrong=[f"resident over {_MOST_MEMORY / 1e6:.0f} MB"] if resident > _MOST_MEMORY else [],
    )


CASES = [Case(name=f"start {plugin}", run=partial(_start, plugin), bar=_MOST_WORK) for plugin in _CLOUDS]
