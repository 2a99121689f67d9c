"""A pod that comes while other nodes are starting has its node ordered as fast as one that comes in quiet times.

STARTS_PODS and STARTS_CLUSTERS are how many pods come, and to how many clusters at the same time: 100 and 4 take half a
minute. STARTS_BAR=1.5 is the bar of a machine that does nothing else.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from random import Random
from statistics import quantiles
from threading import Event, Thread
from time import monotonic, sleep

from nodewright.testing.clock import FastClock
from nodewright.testing.harness import Harness
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

PODS = int(os.environ.get("STARTS_PODS", "24"))
CLUSTERS = int(os.environ.get("STARTS_CLUSTERS", "3"))
#: From a pod to its order, in seconds; one of them is the moment in which more pods may follow. Beside other tests, all
#: takes longer, but nothing takes as long as a scan interval of ten.
BAR = float(os.environ.get("STARTS_BAR", "4"))
#: A start takes a few seconds: a new node is not there, not ready, or ready with a taint that is about to go.
SCENARIO = """
seed: {seed}
zones: [eu-a]
instanceTypes:
  small: {{cpu: 4, memory: 8Gi, price: 0.2}}
groups:
  - {{name: pool, zone: eu-a, instanceType: small, max: 200, bootTime: 200ms..1500ms, readyTime: 200ms..1s}}
nodeMonitorPeriod: 2500ms
workloads:
  daemonSets:
    - {{name: agent, cpu: 100m, memory: 64Mi, tolerations: [{{operator: Exists}}]}}
    - {{name: late-agent, cpu: 100m, memory: 64Mi}}
"""
CONFIG = """
apiVersion: nodewright.dev/v1
kind: Autoscaler
providers:
  - fake: {{url: "{url}"}}
loop: {{scanInterval: {interval}}}
"""


def orders(world):
    """How many machines were ordered."""
    return sum(entry.event == "ordered" for entry in world.cloud.history)


def wait_for(reached, seconds=20):
    """Wait until something is *reached*, or for so long."""
    until = monotonic() + seconds
    while not reached() and monotonic() < until:
        sleep(0.005)


def a_pod(number):
    """A pod that leaves no room for another of its kind on a node."""
    requests = {"cpu": "3", "memory": "1Gi"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"single-{number}", "namespace": "default"},
        "spec": {"containers": [{"name": "main", "image": "app", "resources": {"requests": requests}}]},
    }


@contextmanager
def a_running_cluster(seed=0, interval="10s") -> Iterator[World]:
    """A world in real time, and an autoscaler that runs in it."""
    clock, stop = FastClock(1), Event()
    with World(parse_scenario(SCENARIO.format(seed=seed)), clock) as world:
        config = CONFIG.format(url=world.provider_config["url"], interval=interval)
        with Harness(config, kubeconfig=str(world.kubeconfig), clock=clock) as autoscaler:
            thread = Thread(target=autoscaler.run, args=(stop,))
            thread.start()
            try:
                yield world
            finally:
                stop.set()
                autoscaler.wake()
                thread.join(20)


class Arrivals(Thread):
    """Has one pod after the other come to a world, and measures how long each waits for the order of its node."""

    def __init__(self, world, seed, count):
        super().__init__()
        self.world = world
        self.chance = Random(seed)
        self.count = count
        self.waits = []

    def run(self):
        for number in range(self.count):
            self.waits.append(self.wait_of(number))
            sleep(self.chance.uniform(0, 0.5))

    def wait_of(self, number):
        came = monotonic()
        self.world.cluster.apply(a_pod(number))
        wait_for(lambda: orders(self.world) > number)
        return monotonic() - came


def test_a_node_that_starts_in_another_way_than_expected_is_noticed_at_once() -> None:
    with a_running_cluster(interval="1h") as world:
        world.cluster.apply(a_pod(0))
        wait_for(lambda: world.store.list("nodes"))
        (node,) = world.store.list("nodes")
        # It counts as a taint of its start, until the node is ready and still has it.
        world.cluster.taint(node["metadata"]["name"], "example.com/held")
        wait_for(lambda: orders(world) > 1)
        assert orders(world) == 2


def test_a_pod_that_comes_in_any_phase_of_other_starts_has_its_node_ordered_at_once() -> None:
    with ExitStack() as stack:
        worlds = [stack.enter_context(a_running_cluster(seed)) for seed in range(CLUSTERS)]
        arrivals = [Arrivals(world, seed, PODS // CLUSTERS) for seed, world in enumerate(worlds)]
        for each in arrivals:
            each.start()
        for each in arrivals:
            each.join()
        waits = sorted(wait for each in arrivals for wait in each.waits)
        ordered = [orders(world) for world in worlds]
    assert quantiles(waits, n=20)[-1] < BAR, waits
    assert ordered == [each.count for each in arrivals], "one machine for each pod, and no more"
