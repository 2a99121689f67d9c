"""Two replicas, each a process of its own: one acts, the other takes over, and nothing is done twice."""

from time import monotonic

import pytest
from nodewright.testing.clock import FastClock
from nodewright_fake.apiserver.faults import Fault
from nodewright_fake.cloud.refusal import RefusalError
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.end_to_end import test_kill as kill
from tests.end_to_end.resting import write_config
from tests.end_to_end.scenarios import a_group, a_scenario
from tests.end_to_end.test_kill import LIVES, Holdup, eventually

LEASES = "leases.coordination.k8s.io"
LEASE_SECONDS = 4
#: So long an order may still be taken that nobody was told of.
ORDER_SECONDS = 15
#: Waits between two attempts, a loop, and what a busy machine takes.
SLACK_SECONDS = 0.3 * 2.2 + 0.1 + 6
ELECTION = "leaderElection: {leaseDuration: 4s, renewDeadline: 3s, retryPeriod: 300ms}"
#: Unlike `main` itself, it ends with the status.
PROGRAM = "import sys; from nodewright.cli.main import main; sys.exit(main(words))"
SETTINGS = kill.SETTINGS.replace("leaderElection: {enabled: false}", ELECTION)


class OfGrowth(Holdup):
    """Holds up an order of machines: the call, or its answer if it *lands*."""

    def attach(self, world):
        increase, self.orders = world.cloud.increase, []

        def held(name, count, **fields):
            if self.reached.is_set():
                self.orders.append(count)
                return increase(name, count, **fields)
            if self.lands:
                self.orders.append(count)
                increase(name, count, **fields)
            self.hold()
            raise RefusalError(503, "UNAVAILABLE", "its caller is dead")

        world.cloud.increase = held


def lease_of(world):
    leases = world.store.list(LEASES, "kube-system")
    return leases[0]["spec"] if leases else {}


def holder_of(world):
    return lease_of(world).get("holderIdentity", "")


def running(world):
    return [pod for pod in world.store.list("pods", "default") if pod["status"]["phase"] == "Running"]


def elections(world):
    events = world.store.list("events", "kube-system")
    return [event for event in events if event["reason"] == "LeaderElection"]


class Replicas:
    """Replicas of one autoscaler in a *world*, by name."""

    def __init__(self, world, folder):
        self.world = world
        self.folder = folder
        self.lives = {}

    def begin(self, name):
        """Begin one and wait until it leads or is a candidate."""
        (self.folder / name).mkdir()
        config = write_config(self.folder / name, self.world, SETTINGS, f"kube: {{userAgent: {name}}}")
        words = ["run", "--config", str(config), "--kubeconfig", str(self.world.kubeconfig)]
        asked = Fault(when=lambda request: "/leases" in request.path and request.headers.get("user-agent") == name)
        self.world.api_server.faults.append(asked)
        self.lives[name] = LIVES.Process(target=exec, args=(PROGRAM, {"words": words}), daemon=True)
        self.lives[name].start()
        # It looks once before it has seen the cluster.
        eventually(lambda: asked.hits > 2)
        return self.lives[name]

    def cut_off(self, name):
        """Let the API server answer one of them no more."""
        self.world.api_server.faults.append(
            Fault(when=lambda request: request.headers.get("user-agent") == name, hang_up="before")
        )


@pytest.fixture
def replicas(world, tmp_path):
    """Begins replicas; those that still run end with the test."""
    replicas = Replicas(world, tmp_path)
    yield replicas
    for life in replicas.lives.values():
        life.kill()
        life.join()


@pytest.fixture
def scenario():
    return a_scenario(a_group("pool", max=5, bootTime="0s"), replicas=0)


@pytest.fixture
def world(monkeypatch, scenario):
    """A world in real time."""
    monkeypatch.setattr("nodewright_fake.controllers.nodes.kubelets.START_SECONDS", 0.1)
    with World(parse_scenario(scenario), FastClock()) as world:
        yield world


def kill_in(holdup, life):
    """Kill a *life* in the midst of something; returns when that was."""
    assert holdup.reached.wait(20)
    life.kill()
    life.join()
    killed = monotonic()
    holdup.over.set()
    return killed


@pytest.mark.parametrize("lands", [False, True])
def test_a_leader_that_is_killed_while_it_orders_is_followed_by_one_that_orders_nothing_twice(
    world, replicas, lands
) -> None:
    leader = replicas.begin("one")
    replicas.begin("two")
    first = holder_of(world)
    holdup = OfGrowth(lands=lands)
    holdup.attach(world)
    world.cluster.scale("default", "web", 8)
    killed = kill_in(holdup, leader)
    eventually(lambda: holder_of(world) != first)
    assert monotonic() - killed < LEASE_SECONDS + SLACK_SECONDS
    eventually(lambda: holdup.orders)
    # An order of which nobody knows is waited for as long as a lease lasts by default.
    assert monotonic() - killed < (LEASE_SECONDS if lands else ORDER_SECONDS) + SLACK_SECONDS
    eventually(lambda: len(world.store.list("nodes")) == 2)
    assert holdup.orders == [2]
    assert lease_of(world)["leaseTransitions"] == 1
    assert [group.desired for group in world.cloud.groups] == [2]


class TestInADrain:
    @pytest.fixture
    def scenario(self):
        return kill.SCENARIO

    @pytest.mark.parametrize("step", ["while the mark is on its way", "between two evictions", "while pods end"])
    def test_a_leader_that_is_killed_is_followed_by_one_that_removes_the_node_once(self, world, replicas, step) -> None:
        eventually(lambda: len(running(world)) == 4)
        # No drain begins before both are there.
        not_yet = Fault(when=kill.marks, status=500)
        world.api_server.faults.append(not_yet)
        orders = kill.count_deletions(world)
        leader = replicas.begin("one")
        replicas.begin("two")
        holdup = kill.STEPS[step]()
        holdup.attach(world)
        world.api_server.faults.remove(not_yet)
        killed = kill_in(holdup, leader)
        first = holder_of(world)
        eventually(lambda: holder_of(world) != first)
        assert monotonic() - killed < LEASE_SECONDS + SLACK_SECONDS
        eventually(lambda: kill.is_well(world))
        assert list(orders.values()) == [1]
        assert world.failure is None


def test_a_leader_that_can_not_reach_the_api_server_ends_before_another_one_acts(world, replicas) -> None:
    leader = replicas.begin("one")
    replicas.begin("two")
    first = holder_of(world)
    replicas.cut_off("one")
    leader.join(20)
    assert leader.exitcode == 255
    world.cluster.scale("default", "web", 4)
    eventually(lambda: [group.desired for group in world.cloud.groups] == [1])
    assert holder_of(world) != first


def test_a_call_that_does_not_end_does_not_keep_a_leader_that_has_lost_the_lease(world, replicas) -> None:
    leader = replicas.begin("one")
    replicas.begin("two")
    holdup = OfGrowth(lands=True)
    holdup.attach(world)
    world.cluster.scale("default", "web", 4)
    assert holdup.reached.wait(20)
    replicas.cut_off("one")
    leader.join(20)
    assert leader.exitcode == 255
    holdup.over.set()
    eventually(lambda: lease_of(world)["leaseTransitions"] == 1)
    eventually(lambda: len(running(world)) == 4)
    # Several loops later.
    assert holdup.orders == [1]


def test_a_leader_that_is_told_to_stop_lets_go_at_once(world, replicas) -> None:
    leader = replicas.begin("one")
    replicas.begin("two")
    first = holder_of(world)
    leader.terminate()
    leader.join(20)
    assert leader.exitcode == 0
    eventually(lambda: holder_of(world) not in (first, ""))
    second = holder_of(world)
    eventually(lambda: len(elections(world)) == 3)
    assert {event["message"] for event in elections(world)} == {
        f"{first} became leader",
        f"{first} stopped leading",
        f"{second} became leader",
    }
    (lease,) = world.store.list(LEASES, "kube-system")
    about = elections(world)[0]["involvedObject"]
    assert (about["kind"], about["name"], about["uid"]) == ("Lease", "cluster-autoscaler", lease["metadata"]["uid"])


def test_a_standby_that_is_told_to_stop_does_so_and_leaves_the_lease_alone(world, replicas) -> None:
    replicas.begin("one")
    standby = replicas.begin("two")
    first = holder_of(world)
    standby.terminate()
    standby.join(20)
    assert standby.exitcode == 0
    assert (holder_of(world), lease_of(world)["leaseTransitions"]) == (first, 0)


def test_a_live_cluster_autoscaler_is_waited_for(world, replicas) -> None:
    held = {"holderIdentity": "cluster-autoscaler-7d9", "leaseDurationSeconds": LEASE_SECONDS, "leaseTransitions": 7}
    world.store.create(
        LEASES,
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": "cluster-autoscaler", "namespace": "kube-system"},
            "spec": held,
        },
    )
    world.cluster.scale("default", "web", 4)
    replicas.begin("one")
    begun = monotonic()

    def has_lived_long():
        time = f"2031-01-01T00:00:{monotonic() % 60:09.6f}Z"
        world.store.modify(
            LEASES, "cluster-autoscaler", "kube-system", lambda draft: draft["spec"].update(renewTime=time)
        )
        return monotonic() - begun > LEASE_SECONDS * 1.5

    eventually(has_lived_long)
    assert [group.desired for group in world.cloud.groups] == [0]
    eventually(lambda: [group.desired for group in world.cloud.groups] == [1])
    assert lease_of(world)["leaseTransitions"] == 8
