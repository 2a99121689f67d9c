"""Worlds as a whole."""

import socket
import threading
import time
from pathlib import Path

import pytest
from nodewright.api import ConfigurationError
from nodewright.testing.clock import FastClock, SteppedClock
from nodewright_fake.world import UnsettledError

SHOP = "workloads: {deployments: [{name: shop, replicas: 6, cpu: 500m}]}\n"


def phases(world):
    """How many pods there are in each phase."""
    pods = [pod["status"]["phase"] for pod in world.store.list("pods")]
    return {phase: pods.count(phase) for phase in sorted(set(pods))}


def nodes(world):
    return [node["metadata"]["name"] for node in world.store.list("nodes")]


def ready(world, node):
    conditions = world.store.get("nodes", node)["status"]["conditions"]
    return next(condition["status"] for condition in conditions if condition["type"] == "Ready")


def seconds_of_notes(world):
    return [((note.at - world.began).total_seconds(), note.text) for note in world.notes]


def test_the_machines_of_the_scenario_are_nodes_as_soon_as_the_world_settles(world) -> None:
    w = world()
    w.settle()
    [node] = w.store.list("nodes")
    assert node["spec"]["providerID"] == "fake://eu-a/base-1"
    assert ready(w, "base-1") == "True"


def test_pods_run_where_there_is_room_and_the_others_wait(world) -> None:
    w = world(SHOP)
    w.advance(10)
    assert phases(w) == {"Pending": 2, "Running": 4}


def test_new_machines_take_the_pods_that_wait(world) -> None:
    w = world(SHOP)
    w.advance(10)
    w.cloud.increase("burst", 1)
    w.advance(100)
    assert nodes(w) == ["base-1", "burst-1"]
    assert phases(w) == {"Running": 6}


def test_time_passes_moment_by_moment(world) -> None:
    w = world()
    moments = []
    for seconds in (5, 1, 3):
        w.agenda.after(seconds, lambda: moments.append((w.clock.now() - w.began).total_seconds()))
    w.advance(4)
    assert moments == [1, 3]
    assert (w.clock.now() - w.began).total_seconds() == 4
    w.advance(1)
    assert moments == [1, 3, 5]


def test_the_same_seed_gives_the_same_history(world) -> None:
    story = """
workloads: {deployments: [{name: shop, replicas: 2, cpu: 500m}]}
faults: [{breakBoots: {groups: burst, kind: fails, share: 0.5}}]
story:
  - {at: 1m, scale: {deployment: shop, replicas: 30}}
  - {at: 3m, cloud: {stockOut: {pool: "*", available: 6}}}
  - {at: 9m, scale: {deployment: shop, replicas: 2}}
"""

    def history():
        w = world(story)
        for _ in range(20):
            w.advance(30)
            if w.cloud.group("burst").desired < 8:
                w.cloud.increase("burst", 1)
        return w.cloud.history, w.store.version, w.store.list("pods")

    assert history() == history()


def test_another_seed_gives_another_history(world) -> None:
    def moments(seed):
        w = world(seed=seed)
        w.cloud.increase("burst", 5)
        w.advance(300)
        return [entry.at for entry in w.cloud.history if entry.event == "running"]

    assert moments(1) == moments(1) != moments(2)


def test_the_story_is_told_on_time(world) -> None:
    w = world(
        SHOP
        + """
objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: motd}}]
story:
  - {at: 1m, note: The shop closes., scale: {deployment: shop, replicas: 0}}
  - {at: 90s, delete: {kind: ConfigMap, name: motd}}
  - at: 2m
    note: A stranger comes to town.
    apply: [{apiVersion: v1, kind: Pod, metadata: {name: stranger, namespace: saloon}, spec: {containers: [{name: a}]}}]
    cloud: {resize: {group: burst, desired: 2}}
"""
    )
    w.advance(59)
    assert phases(w) == {"Pending": 2, "Running": 4}
    w.advance(11)
    assert phases(w) == {}
    assert w.store.find("configmaps", "motd", "default") is not None
    w.advance(30)
    assert w.store.find("configmaps", "motd", "default") is None
    w.advance(120)
    assert phases(w) == {"Running": 1}
    assert nodes(w) == ["base-1", "burst-1", "burst-2"]
    assert seconds_of_notes(w) == [(60, "The shop closes."), (120, "A stranger comes to town.")]


def test_applying_again_changes_what_is_there(world) -> None:
    w = world(
        """
objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: motd}, data: {a: "1", b: "2"}}]
story: [{at: 1m, apply: [{apiVersion: v1, kind: ConfigMap, metadata: {name: motd}, data: {b: "3"}}]}]
"""
    )
    w.advance(60)
    assert w.store.get("configmaps", "motd", "default")["data"] == {"a": "1", "b": "3"}


def test_a_step_that_can_not_be_done_is_told_and_the_story_goes_on(world, caplog) -> None:
    w = world(
        SHOP
        + """
story:
  - {at: 1m, delete: {kind: ConfigMap, name: nothing}}
  - {at: 2m, cloud: {reclaim: {machine: nobody}}}
  - {at: 3m, note: The end.}
"""
    )
    w.advance(180)
    assert seconds_of_notes(w) == [
        (60, '(could not be done: configmaps "nothing" not found)'),
        (120, "(could not be done: no machine matches 'nobody')"),
        (180, "The end."),
    ]
    assert len(caplog.records) == 2


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            "objects: [{apiVersion: v1, kind: Pud, metadata: {name: x}}]\n",
            'scenario: Pud x: no matches for kind "Pud" in version "v1"',
        ),
        ("faults: [{reclaim: {machine: x}}]\n", "scenario: faults[0]: no machine matches 'x'"),
    ],
)
def test_what_the_world_refuses_at_its_beginning_is_a_mistake_of_the_scenario(world, more, message) -> None:
    with pytest.raises(ConfigurationError) as refused:
        world(more)
    assert str(refused.value) == message


def test_a_reclaimed_machine_is_announced_by_a_taint_and_its_pods_come_back_elsewhere(world) -> None:
    w = world(SHOP + "story: [{at: 1m, cloud: {reclaim: {machine: base-1, notice: 30s}}}]\n")
    w.cloud.increase("burst", 2)
    w.advance(60)
    assert "fake.nodewright.dev/reclaim" in [taint["key"] for taint in w.store.get("nodes", "base-1")["spec"]["taints"]]
    w.advance(31)
    assert nodes(w) == ["burst-1", "burst-2"]
    w.advance(60)
    assert nodes(w) == ["base-2", "burst-1", "burst-2"]
    assert phases(w) == {"Running": 6}


def test_a_machine_that_hangs_is_a_node_that_is_not_ready_until_it_recovers(world) -> None:
    w = world("story: [{at: 1m, cloud: {hang: {machine: base-1}}}, {at: 2m, cloud: {recover: {machine: base-1}}}]\n")
    w.advance(60)
    assert ready(w, "base-1") == "Unknown"
    w.advance(60)
    assert ready(w, "base-1") == "True"


def test_a_node_that_somebody_deleted_can_still_be_reclaimed(world, caplog) -> None:
    w = world("story: [{at: 1m, cloud: {hang: {machine: base-1}}}, {at: 2m, cloud: {reclaim: {machine: base-1}}}]\n")
    w.settle()
    w.store.delete("nodes", "base-1")
    w.advance(300)
    assert nodes(w) == ["base-2"]
    assert [record.getMessage() for record in caplog.records] == ['machine base-1: nodes "base-1" not found']


def test_things_go_wrong_when_a_test_says_so(world) -> None:
    w = world()
    w.control("break-boots", groups="burst", kind="never-registers", times=1)
    w.cloud.increase("burst", 2)
    w.advance(60)
    assert nodes(w) == ["base-1", "burst-2"]


def test_a_bookmark_tells_the_version_that_was_seen(world) -> None:
    with world() as w:
        assert w.sync() == w.store.version


def test_a_world_without_rest_is_noticed(world) -> None:
    class Restless:
        def reconcile(self):
            return True

    w = world()
    object.__setattr__(w.controllers, "all", (*w.controllers.all, Restless()))
    with pytest.raises(UnsettledError, match="after 1000 rounds the world is not at rest; still at work: Restless"):
        w.settle()


def test_a_quiet_world_costs_nothing(world) -> None:
    w = world(
        "workloads: {deployments: [{name: shop, replicas: 500, cpu: 100m}], daemonSets: [{name: agent}]}\n",
        cloud="""
zones: [eu-a]
instanceTypes: {big: {cpu: 4, memory: 16Gi, price: 0.2}}
groups: [{name: base, zone: eu-a, instanceType: big, max: 50, desired: 50}]
""",
    )
    w.advance(60)
    assert phases(w) == {"Running": 550}
    version = w.store.version
    before = time.process_time()
    w.advance(600)
    assert time.process_time() - before < 0.5
    assert w.store.version == version


def test_only_a_stepped_world_is_advanced(world) -> None:
    w = world(clock=FastClock(speed=10))
    with pytest.raises(TypeError, match="only a world on a SteppedClock can be advanced"):
        w.advance(1)


def test_there_is_no_kubeconfig_before_the_start(world) -> None:
    with pytest.raises(RuntimeError, match=r"the world is not up: call start\(\) first"):
        _ = world().kubeconfig


@pytest.mark.parametrize("clock", [SteppedClock(), FastClock(speed=50)], ids=["stepped", "fast"])
def test_stopping_leaves_nothing_behind(world, clock) -> None:
    before = set(threading.enumerate())
    with world(SHOP, clock=clock) as w:
        kubeconfig, address = w.kubeconfig, w.cloud_server.url
        assert w.provider_config == {"url": address}
        assert w.api_server.url in Path(kubeconfig).read_text()
    assert set(threading.enumerate()) == before
    assert not kubeconfig.exists()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), timeout=1)
    w.stop()


def test_a_fast_world_lives_by_itself(world) -> None:
    with world(SHOP + "story: [{at: 1m, scale: {deployment: shop, replicas: 1}}]\n", clock=FastClock(speed=300)) as w:
        w.cloud.increase("burst", 2)
        deadline = time.monotonic() + 10
        while not (phases(w) == {"Running": 1} and len(nodes(w)) == 3):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert w.failure is None


def test_what_ends_a_world_before_its_time_can_be_read(world, caplog) -> None:
    w = world(clock=FastClock(speed=50))
    w.agenda.after(1, lambda: 1 / 0)
    with w:
        w._thread.join(10)
        assert isinstance(w.failure, ZeroDivisionError)
    assert "the world has come to an end" in caplog.text
