"""A world that adopts runs nodes that it did not make."""

from contextlib import contextmanager

from nodewright.testing import Nodes, SteppedClock, a_template
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

SHOP = """
workloads:
  daemonSets: [{name: agent, cpu: 50m}]
  deployments: [{name: shop, replicas: 2, cpu: "3"}]
"""
CLOUD = """
zones: [eu-a]
instanceTypes: {small: {cpu: 4, memory: 8Gi, price: 0.1}}
groups: [{name: base, zone: eu-a, instanceType: small, min: 1, max: 3}]
"""
SMALL = a_template(cpu="4", memory="8Gi", labels={"shed": "left"})


@contextmanager
def a_world(text=SHOP, *, adopt=True):
    with World(parse_scenario(text), SteppedClock(), adopt=adopt) as world, Nodes(world.kubeconfig) as nodes:
        yield world, nodes


def is_ready(world, name):
    (ready,) = [each for each in world.store.get("nodes", name)["status"]["conditions"] if each["type"] == "Ready"]
    return ready["status"] == "True"


def running(world, node):
    """The controllers whose pods run on a node."""
    return sorted(
        pod["metadata"]["ownerReferences"][0]["kind"]
        for pod in world.store.list("pods")
        if pod["spec"].get("nodeName") == node and pod["status"]["phase"] == "Running"
    )


def test_a_node_that_joins_becomes_ready_and_runs_pods() -> None:
    with a_world() as (world, nodes):
        nodes.join("left-0", "shed://left/0", SMALL)
        world.settle()
        assert not is_ready(world, "left-0")
        world.advance(30)
        assert is_ready(world, "left-0")
        assert running(world, "left-0") == ["DaemonSet", "ReplicaSet"]
        node = world.store.get("nodes", "left-0")
        assert (node["metadata"]["labels"]["shed"], node["spec"]["providerID"]) == ("left", "shed://left/0")
        assert not node["spec"].get("taints")


def test_pods_of_a_node_that_leaves_go_with_it_and_run_on_the_next() -> None:
    with a_world() as (world, nodes):
        for name in ("left-0", "left-1"):
            nodes.join(name, f"shed://{name}", SMALL)
        world.advance(30)
        nodes.leave("left-0")
        world.advance(30)
        assert running(world, "left-0") == []
        assert len(world.store.list("pods")) == 3
        nodes.join("left-0", "shed://left-0", SMALL)
        world.advance(30)
        assert is_ready(world, "left-0")
        assert running(world, "left-0") == ["DaemonSet", "ReplicaSet"]


def test_a_node_that_is_there_or_gone_already_is_no_error() -> None:
    with a_world() as (world, nodes):
        for _ in range(2):
            nodes.join("left-0", "shed://left/0", SMALL)
        assert len(world.store.list("nodes")) == 1
        for _ in range(2):
            nodes.leave("left-0")
        assert world.store.list("nodes") == []


def test_groups_of_the_worlds_own_work_beside() -> None:
    with a_world(CLOUD + SHOP) as (world, nodes):
        nodes.join("left-0", "shed://left/0", SMALL)
        world.advance(30)
        assert [running(world, name) for name in ("base-1", "left-0")] == [["DaemonSet", "ReplicaSet"]] * 2
        world.cloud.increase("base", 1)
        world.advance(120)
        assert is_ready(world, "base-2")
        world.cloud.delete_instances("base", [world.store.get("nodes", "base-2")["spec"]["providerID"]])
        world.advance(120)
        assert world.store.find("nodes", "base-2") is None


def test_a_node_that_says_nothing_of_itself_is_a_small_machine() -> None:
    with a_world() as (world, _):
        world.store.create("nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "bare"}})
        world.advance(30)
        assert world.store.get("nodes", "bare")["status"]["allocatable"] == {
            "cpu": "4",
            "memory": "16Gi",
            "pods": "110",
        }
        assert running(world, "bare") == ["DaemonSet", "ReplicaSet"]


def test_nobody_runs_such_nodes_in_a_world_that_does_not_adopt() -> None:
    with a_world(adopt=False) as (world, nodes):
        nodes.join("left-0", "shed://left/0", SMALL)
        world.advance(60)
        assert running(world, "left-0") == []
