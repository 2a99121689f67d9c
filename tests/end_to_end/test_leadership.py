"""An autoscaler acts while it holds the lease, and not a single call longer."""

from threading import Event
from time import monotonic

import pytest
from nodewright.api import NotLeaderError
from nodewright.config.document import load
from nodewright.kube import feed
from nodewright.kube.lease import Lease
from nodewright.kube.transport import connect
from nodewright.plugins import Registry
from nodewright.runtime.autoscaler import Autoscaler
from nodewright.testing.clock import SteppedClock
from nodewright_fake.apiserver.faults import Fault
from nodewright_fake.cloud.api_fault import ApiFault, ApiFaultKind
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.end_to_end.resting import write_config
from tests.end_to_end.scenarios import a_group, a_scenario

LEASES = "leases.coordination.k8s.io"
#: Pods for two nodes, in groups of one.
SCENARIO = a_scenario(a_group("a", max=1), a_group("b", max=1), replicas=8)


class Replica:
    """An autoscaler, and the seconds that pass for its lease: none by themselves."""

    def __init__(self, world, config, identity):
        registry = Registry()
        settings = load(config, classes=registry).settings
        transport = connect(kubeconfig=str(world.kubeconfig), user_agent=identity)
        self.seconds = 0.0
        lease = Lease(transport, settings.namespace, settings.leader_election, identity, now=lambda: self.seconds)
        self.autoscaler = Autoscaler(settings, transport, world.clock, registry=registry, lease=lease)
        self.autoscaler.start(timeout=20)
        self.ended = False

    def end(self):
        """End in good order."""
        if not self.ended:
            self.ended = True
            self.autoscaler.close()

    def lead(self):
        """Wait for the lease for up to a minute."""
        return self.autoscaler.lead(Patience(self))


class Patience:
    """An event that is set after a minute of a replica's seconds; *meanwhile* is done at each look at it."""

    def __init__(self, replica, meanwhile=lambda: None):
        self.replica = replica
        self.until = replica.seconds + 60
        self.meanwhile = meanwhile

    def is_set(self):
        self.meanwhile()
        return self.replica.seconds >= self.until

    def wait(self, seconds):
        self.replica.seconds += seconds


@pytest.fixture
def world():
    with World(parse_scenario(SCENARIO), SteppedClock()) as world:
        # Pods that have just come are not looked at yet.
        world.advance(10)
        yield world


@pytest.fixture
def replica(world, tmp_path):
    """Makes replicas, which end with the test."""
    made = []
    config = write_config(tmp_path, world, "scaleUp: {parallel: false}")

    def make(identity):
        made.append(Replica(world, config, identity))
        return made[-1]

    yield make
    for each in made:
        each.end()


def sizes(world):
    return sorted(group.desired for group in world.cloud.groups)


def hold(world, **spec):
    metadata = {"name": "cluster-autoscaler", "namespace": "kube-system"}
    held = {"holderIdentity": "cluster-autoscaler-7d9", "leaseDurationSeconds": 15, **spec}
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": held}
    world.store.create(LEASES, lease)


def test_who_has_not_got_the_lease_does_nothing(world, replica) -> None:
    hold(world)
    one = replica("one")
    with pytest.raises(NotLeaderError, match="does not hold lease kube-system/cluster-autoscaler"):
        one.autoscaler.run_once()
    assert sizes(world) == [0, 0]


def test_who_has_not_got_the_lease_says_who_has(world, replica) -> None:
    hold(world)
    one = replica("one")
    assert one.autoscaler.obstacle == (
        "this replica does not lead: lease kube-system/cluster-autoscaler is held by cluster-autoscaler-7d9"
    )
    one.seconds += 15
    assert one.lead()
    assert one.autoscaler.obstacle == ""


def test_who_is_cut_off_from_the_api_server_does_nothing_once_the_deadline_is_over(world, replica) -> None:
    one = replica("one")
    assert one.lead()
    world.api_server.faults.append(Fault(when=lambda request: request.headers["user-agent"] == "one", status=503))
    one.seconds += 10
    for _ in range(2):
        with pytest.raises(NotLeaderError):
            one.autoscaler.run_once()
    with pytest.raises(NotLeaderError):
        one.autoscaler.run(Event())
    # The cloud would have done it.
    assert sizes(world) == [0, 0]


def test_a_lease_that_ends_between_two_calls_ends_the_work_between_them(world, replica) -> None:
    one = replica("one")
    assert one.lead()
    increase = world.cloud.increase

    def slow(*args, **fields):
        one.seconds += 10
        return increase(*args, **fields)

    world.cloud.increase = slow
    with pytest.raises(NotLeaderError):
        one.autoscaler.run_once()
    assert sizes(world) == [0, 1]
    other = replica("two")
    assert other.lead()
    other.autoscaler.run_once()
    # What the first one was about to order when it lost the lease may still be taken by the cloud.
    assert sizes(world) == [0, 1]
    world.advance(15)
    other.autoscaler.run_once()
    assert sizes(world) == [1, 1]
    with pytest.raises(NotLeaderError):
        one.autoscaler.run_once()


def test_who_ends_takes_its_status_away_before_it_lets_go_of_the_lease(world, replica) -> None:
    one = replica("one")
    assert one.lead()
    one.autoscaler.run_once()
    one.autoscaler.deliver_events()
    changes = []

    def note(request):
        if request.method in ("DELETE", "PUT"):
            changes.append((request.method, request.path.rpartition("/")[2]))

    world.api_server.faults.append(note)
    one.end()
    assert changes == [("DELETE", "cluster-autoscaler-status"), ("PUT", "cluster-autoscaler")]


def test_who_has_lost_the_lease_leaves_the_status_to_the_next_leader(world, replica) -> None:
    one = replica("one")
    assert one.lead()
    one.autoscaler.run_once()
    one.autoscaler.deliver_events()
    one.seconds += 10
    one.end()
    assert any(each["metadata"]["name"] == "cluster-autoscaler-status" for each in world.store.list("configmaps"))


def test_who_stands_by_keeps_up_with_the_cluster(world, replica) -> None:
    hold(world)
    one = replica("one")
    seen = []

    def churn():
        # What came since the last attempt is in the columns already, and does not wait to be taken up.
        seen.append(len(one.autoscaler.cluster.nodes))
        name = f"n-{len(seen)}"
        world.store.create("nodes", {"metadata": {"name": name}, "spec": {}})
        one.autoscaler.feed.wait_for_version(world.sync(), 10)

    assert one.autoscaler.lead(Patience(one, churn))
    assert seen == list(range(len(seen)))
    assert len(seen) > 3


def test_the_health_check_looks_at_the_loop_once_it_leads(world, replica, monkeypatch) -> None:
    hold(world)
    one = replica("one")
    now, liveness = monotonic(), one.autoscaler.liveness
    monkeypatch.setattr(liveness, "_now", lambda: now)
    assert liveness.trouble() == ""
    assert one.lead()
    now += 10_000
    assert liveness.trouble().startswith("no loop began for 10000 s")
    one.autoscaler.run_once()


class OneLoop:
    """An event that is set after one loop of an autoscaler."""

    def __init__(self, autoscaler):
        self.autoscaler = autoscaler
        self.asked = 0

    def is_set(self):
        self.asked += 1
        self.autoscaler.wake()
        return self.asked > 1


@pytest.mark.parametrize("blind_to", ["", "the cloud", "the cluster"])
def test_a_loop_ends_well_unless_it_is_blind(world, replica, monkeypatch, blind_to) -> None:
    one = replica("one")
    assert one.lead()
    if blind_to == "the cloud":
        world.cloud.gate.add(ApiFault(ApiFaultKind.UNAVAILABLE, operations="snapshot"))
    elif blind_to == "the cluster":
        monkeypatch.setattr(feed, "monotonic", lambda: monotonic() + 200)
    one.autoscaler.run(OneLoop(one.autoscaler))
    now, liveness = monotonic() + 1000, one.autoscaler.liveness
    liveness.began()
    monkeypatch.setattr(liveness, "_now", lambda: now)
    # So long after a good loop is too long, but not for the first.
    assert ("no loop ended well" in liveness.trouble()) == (not blind_to)
