"""A process that is killed in any step of a removal or an order, and the next one, with what was stored or without."""

import json
from collections import Counter
from functools import partial
from multiprocessing import get_context
from threading import Event
from time import monotonic, sleep

import pytest
from nodewright.cli.main import main
from nodewright.testing.clock import FastClock
from nodewright_fake.apiserver.faults import Fault
from nodewright_fake.apiserver.wire import ConnectionEndedError
from nodewright_fake.cloud.refusal import RefusalError
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.end_to_end.resting import write_config
from tests.end_to_end.scenarios import a_deployment, a_group, a_scenario

MARK = "ToBeDeletedByClusterAutoscaler"
#: Two nodes, each half full: one of them is one too many.
SCENARIO = a_scenario(
    a_group("pool", max=5, desired=2, bootTime="0s", deleteTime="400ms"),
    deployments=[a_deployment(replicas=4, annotations={"fake.nodewright.dev/stop-seconds": "0.4"})],
)
SETTINGS = """
loop: {scanInterval: 100ms}
server: {address: "127.0.0.1:0"}
leaderElection: {enabled: false}
scaleDown:
  unneededTime: 0s
  delayAfterAdd: 0s
  delayAfterFailure: 0s
  unremovableRecheck: 0s
  delayAfterTaint: 100ms
  maxPodEvictionTime: 100ms
"""
#: Each life is a process, and a quick one to start: what it imports is there already.
LIVES = get_context("forkserver")
LIVES.set_forkserver_preload(["nodewright.cli.run", "nodewright.cli.start", "kubernetes.client", "nodewright_fake"])


class Holdup:
    """Holds a call up until its caller was killed; then it *lands* all the same, or was never made."""

    def __init__(self, *, lands=False):
        self.lands = lands
        self.reached = Event()
        self.over = Event()

    def hold(self):
        self.reached.set()
        assert self.over.wait(30)


class OfRequest(Holdup):
    """Holds up a request to the API server: the first, or *nth*, that is *such*."""

    def __init__(self, such, *, nth=1, **fields):
        super().__init__(**fields)
        self.such = such
        self.left = nth

    def attach(self, world):
        world.api_server.faults.append(self)

    def __call__(self, request):
        if self.over.is_set() or not self.such(request):
            return
        self.left -= 1
        if self.left == 0:
            self.hold()
            if not self.lands:
                raise ConnectionEndedError


class OfDeletion(Holdup):
    """Holds up the deletion of machines: the call, or its answer if it *lands*."""

    def attach(self, world):
        delete = world.cloud.delete_instances

        def held(*args, **fields):
            if self.over.is_set():
                return delete(*args, **fields)
            answer = delete(*args, **fields) if self.lands else None
            self.hold()
            if answer is None:
                raise RefusalError(503, "UNAVAILABLE", "its caller is dead")
            return answer

        world.cloud.delete_instances = held


class Moment:
    """A state of the world that lasts for a while."""

    def __init__(self, holds):
        self.holds = holds
        self.over = Event()

    def attach(self, world):
        self.world = world

    @property
    def reached(self):
        return self

    def wait(self, timeout):
        eventually(lambda: self.holds(self.world), timeout)
        return True


def marks(request):
    return _changes_node(request) and MARK in request.body.decode()


def unmarks(request):
    return _changes_node(request) and json.loads(request.body)["spec"].get("unschedulable", 0) is None


def _changes_node(request):
    return request.method == "PATCH" and request.path.startswith("/api/v1/nodes/")


def evicts(request):
    return request.path.endswith("/eviction")


def pods_end(world):
    return sum("deletionTimestamp" in pod["metadata"] for pod in world.store.list("pods", "default")) == 2


def a_machine_goes(world):
    return any(machine.going for machine in world.cloud.fleet.all())


STEPS = {
    "before its node is marked": partial(OfRequest, marks),
    "while the mark is on its way": partial(OfRequest, marks, lands=True),
    "before a pod is evicted": partial(OfRequest, evicts),
    "while a pod is evicted": partial(OfRequest, evicts, lands=True),
    "between two evictions": partial(OfRequest, evicts, nth=2),
    "while pods end": partial(Moment, pods_end),
    "before the machine is deleted": partial(OfDeletion),
    "before it knows that the machine is deleted": partial(OfDeletion, lands=True),
    "while the machine goes": partial(Moment, a_machine_goes),
    "before a mark is taken off": partial(OfRequest, unmarks),
    "while a mark is taken off": partial(OfRequest, unmarks, lands=True),
}


def eventually(holds, timeout=15):
    until = monotonic() + timeout
    while not holds():
        assert monotonic() < until, "it never came to that"
        sleep(0.01)


def is_well(world, nodes=1):
    """So many nodes are left, full and without marks, and the cloud has no other machine."""
    names = {node["metadata"]["name"] for node in world.store.list("nodes")}
    specs = [node["spec"] for node in world.store.list("nodes")]
    pods = world.store.list("pods", "default")
    return (
        len(names) == nodes
        and not any(spec.get("unschedulable") or MARK in json.dumps(spec) for spec in specs)
        and Counter(pod["spec"].get("nodeName") for pod in pods) == dict.fromkeys(names, 4)
        and all(pod["status"]["phase"] == "Running" for pod in pods)
        and {machine.name for machine in world.cloud.fleet.all()} == names
        and [group.desired for group in world.cloud.groups] == [nodes]
    )


def count_deletions(world):
    """Let the cloud count how often it takes the order to delete each machine, and look who is still on it."""
    delete, orders = world.cloud.delete_instances, Counter()

    def counted(group, ids, **fields):
        at_work = {
            pod["spec"].get("nodeName")
            for pod in world.store.list("pods", "default")
            if "deletionTimestamp" not in pod["metadata"]
        }
        orders.update(ids)
        orders.update(
            "under pods" for machine in world.cloud.fleet.all() if machine.id in ids and machine.name in at_work
        )
        return delete(group, ids, **fields)

    world.cloud.delete_instances = counted
    return orders


@pytest.fixture
def world(monkeypatch):
    """A world in real time, at rest."""
    monkeypatch.setattr("nodewright_fake.controllers.nodes.kubelets.START_SECONDS", 0.1)
    with World(parse_scenario(SCENARIO), FastClock()) as world:
        eventually(lambda: len([pod for pod in world.store.list("pods") if pod["status"]["phase"] == "Running"]) == 4)
        assert set(Counter(pod["spec"]["nodeName"] for pod in world.store.list("pods")).values()) == {2}
        yield world


@pytest.fixture(params=["configMap", "none"])
def store(request):
    """Where memory is kept."""
    return request.param


@pytest.fixture
def begin(world, tmp_path, store):
    """Begins lives; the last one ends with the test."""
    config = write_config(tmp_path, world, SETTINGS, f"memory: {{store: {store}}}")
    lives = []

    def start():
        words = ["run", "--config", str(config), "--kubeconfig", str(world.kubeconfig)]
        lives.append(LIVES.Process(target=main, args=(words,), daemon=True))
        lives[-1].start()
        return lives[-1]

    yield start
    for life in lives:
        life.kill()
        life.join()


def kill_at(step, world, begin):
    """Begin a life and kill it at a *step* of its first removal."""
    holdup = STEPS[step]()
    refusal = Fault(when=evicts, status=429)
    if "taken off" in step:
        # For a mark to be taken off, its drain has to fail.
        world.api_server.faults.append(refusal)
    holdup.attach(world)
    life = begin()
    assert holdup.reached.wait(15)
    life.kill()
    life.join()
    holdup.over.set()
    if refusal in world.api_server.faults:
        world.api_server.faults.remove(refusal)


@pytest.mark.parametrize("step", STEPS)
def test_the_life_after_one_that_was_killed_removes_what_is_still_not_needed(world, begin, step) -> None:
    orders = count_deletions(world)
    kill_at(step, world, begin)
    begin()
    eventually(lambda: is_well(world))
    assert list(orders.values()) == [1]
    assert world.failure is None


@pytest.mark.parametrize("step", ["while the mark is on its way", "between two evictions"])
@pytest.mark.parametrize("store", ["none"])
def test_the_life_after_one_that_remembers_nothing_gives_back_what_is_needed_again(world, begin, step) -> None:
    orders = count_deletions(world)
    kill_at(step, world, begin)
    # A pod that ends still takes its room.
    eventually(lambda: not any("deletionTimestamp" in pod["metadata"] for pod in world.store.list("pods", "default")))
    world.cluster.scale("default", "web", 8)
    begin()
    eventually(lambda: is_well(world, nodes=2))
    assert not orders
