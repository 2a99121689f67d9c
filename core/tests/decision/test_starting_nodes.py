"""What pending pods can count on while nodes are starting: on what these will be, beside the pods that they have."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import Reason
from nodewright.api.provider import GpuConfig
from nodewright.config.model import Settings
from nodewright.config.model import Templates as TemplateSettings
from nodewright.decision.decide import decide
from nodewright.decision.memory import ConsolidationMemory, Memory, OrderMemory, Replacement, ScaleUpRequest
from nodewright.objects import Taint
from nodewright.objects.node import HOSTNAME, ZONE
from nodewright.testing.builders import a_daemon_set, a_group, a_node, a_pod, a_template
from nodewright.testing.clock import EPOCH
from nodewright.testing.storage import DRIVER, a_claim, a_csi_node, a_volume, with_claims
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
NOT_READY = "node.kubernetes.io/not-ready"
#: What is left for some seconds on a node that is ready: pods tolerate it, by the defaults of admission.
LAGGING = Taint(key=NOT_READY, effect="NoExecute")


def starting(name="n", **fields):
    fields = {"taints": [LAGGING], "provider_id": "fake://a-0", **fields}
    return a_node(name, created=NOW - timedelta(minutes=1), **fields)


def a_start(node, pods=(), template=None, daemon_sets=(), size=1):
    """A world in which *node* is the last of a group that was ordered."""
    group = a_group("a", size=size, template=template)
    return a_world(groups=[group], nodes={"a": [node]}, pods=pods, daemon_sets=daemon_sets)


def ordered(count=1, **slices):
    return Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=NOW, count=count)}), **slices)


def verdict_on(world, memory=None, settings=None):
    decision = decide(world, memory or ordered(), a_policy(settings), NOW).decision
    return decision.pods["default/web"].reason


def test_a_pod_on_a_node_that_is_starting_keeps_its_room() -> None:
    resident = a_pod("first", cpu="3", node="n")
    assert verdict_on(a_start(starting(), [resident, a_pod(cpu="2")])) is Reason.HELPED
    assert verdict_on(a_start(starting(), [resident, a_pod(cpu="1")])) is Reason.FITS


@pytest.mark.parametrize(
    "taint",
    [
        LAGGING,
        Taint(key=NOT_READY, effect="NoSchedule"),
        Taint(key="node.cloudprovider.kubernetes.io/uninitialized", effect="NoSchedule"),
        Taint(key="cni.example.com/waiting", effect="NoSchedule"),
        Taint(key="agent.example.com/not-there", effect="NoSchedule"),
    ],
)
@pytest.mark.parametrize("ready", [True, False])
def test_taints_that_a_start_brings_keep_no_pod_away(taint, ready) -> None:
    node = starting(taints=[LAGGING, taint], ready=ready)
    settings = Settings(templates=TemplateSettings(startup_taints=("cni.example.com/waiting",)))
    resident = a_pod("first", cpu="3", node="n")
    assert verdict_on(a_start(node, [resident, a_pod(cpu="1")]), settings=settings) is Reason.FITS
    assert verdict_on(a_start(node, [resident, a_pod(cpu="2")]), settings=settings) is Reason.HELPED


def test_taints_that_the_group_promises_keep_pods_away_before_they_are_there() -> None:
    template = a_template(taints=[Taint(key="dedicated", effect="NoSchedule")])
    assert verdict_on(a_start(starting(), [a_pod()], template)) is not Reason.FITS


def test_devices_that_are_not_announced_yet_are_promised_beside_pods_that_run_already() -> None:
    template = a_template(gpus=1)
    node = starting(taints=())
    gpu = GpuConfig(label="", resource="nvidia.com/gpu", type="t4")

    def verdict(*pods):
        return verdict_on(replace(a_start(node, pods, template), gpus={"n": gpu}))

    assert verdict(a_pod(cpu="2", gpus=1)) is Reason.FITS
    assert verdict(a_pod("first", cpu="3", node="n"), a_pod(cpu="2", gpus=1)) is Reason.HELPED
    assert verdict(a_pod("first", gpus=1, node="n"), a_pod(gpus=1)) is Reason.HELPED


def test_room_that_the_node_shows_counts_and_not_what_was_promised() -> None:
    node = starting(memory="15Gi", taints=[LAGGING])
    assert verdict_on(a_start(node, [a_pod(memory="15Gi")])) is Reason.FITS
    assert verdict_on(a_start(node, [a_pod(memory="16Gi")])) is Reason.HELPED


def test_resources_that_the_node_does_not_show_yet_stay_promised() -> None:
    node = starting(resources={"ephemeral-storage": "0"})
    template = a_template(resources={"ephemeral-storage": "50Gi", "example.com/nic": "2"})
    pod = a_pod(requests={"ephemeral-storage": "40Gi", "example.com/nic": "2"})
    resident = a_pod("first", requests={"example.com/nic": "1"}, node="n")
    assert verdict_on(a_start(node, [pod], template)) is Reason.FITS
    assert verdict_on(a_start(node, [resident, pod], template)) is Reason.HELPED


def test_labels_that_come_late_are_promised_in_the_zone_of_the_node() -> None:
    labels = {"team": "blue", "topology.disks.example.com/zone": "eu-a", ZONE: "eu-a"}
    template = replace(a_template(labels=labels), zones=("eu-a", "eu-b"))
    node = starting(zone="eu-b")

    def verdict(**selector):
        return verdict_on(a_start(node, [a_pod(node_selector={**selector})], template))

    assert verdict(team="blue") is Reason.FITS
    assert verdict(**{"topology.disks.example.com/zone": "eu-b"}) is Reason.FITS
    assert verdict(**{"topology.disks.example.com/zone": "eu-a"}) is Reason.HELPED


def test_the_node_itself_is_there_for_pods_that_ask_for_it_by_name() -> None:
    node = starting(labels={HOSTNAME: "n"})
    assert verdict_on(a_start(node, [a_pod(node_selector={HOSTNAME: "n"})])) is Reason.FITS


@pytest.mark.parametrize("there", [True, False])
def test_a_pod_of_a_daemon_set_takes_its_room_once_whether_it_is_there_or_to_come(there) -> None:
    agent = a_daemon_set("agent", cpu="1")
    pods = [a_pod("first", cpu="1", node="n")]
    if there:
        pods.append(a_pod("agent-x", namespace="kube-system", cpu="1", owner="DaemonSet/agent", node="n"))
    assert verdict_on(a_start(starting(), [*pods, a_pod(cpu="2")], daemon_sets=[agent])) is Reason.FITS
    assert verdict_on(a_start(starting(), [*pods, a_pod(cpu="2500m")], daemon_sets=[agent])) is Reason.HELPED


def test_volumes_can_be_attached_as_often_as_the_drivers_of_like_nodes_allow() -> None:
    template = replace(a_template(), csi_drivers={DRIVER: 1})
    resident, pod = with_claims(a_pod("first", node="n"), "one"), with_claims(a_pod(), "two")

    def verdict(*pods, limit=None):
        world = a_start(starting(), pods, template)
        for name in ("one", "two"):
            world.cluster.put_volume(a_volume(f"v-{name}", claim=name, handle=name))
            world.cluster.put_claim(a_claim(name, volume=f"v-{name}"))
        if limit is not None:
            world.cluster.put_csi_node(a_csi_node("n", limit=limit))
        return verdict_on(world)

    assert verdict(pod) is Reason.FITS
    assert verdict(resident, pod) is Reason.HELPED
    assert verdict(resident, pod, limit=2) is Reason.FITS


def test_nodes_that_are_starting_and_machines_to_come_offer_room_together() -> None:
    pods = [a_pod(f"web-{number}", cpu="3") for number in range(3)]
    empty = decide(a_start(starting(), pods, size=2), ordered(2), a_policy(), NOW).decision
    assert [grow.count for grow in empty.grow] == [1]
    pods.append(a_pod("first", cpu="3", node="n"))
    taken = decide(a_start(starting(), pods, size=2), ordered(2), a_policy(), NOW).decision
    assert [grow.count for grow in taken.grow] == [2]


def test_the_fuller_node_is_for_pending_pods_if_another_is_to_replace_nodes() -> None:
    nodes = [starting("n"), starting("m", provider_id="fake://a-1")]
    world = a_world(
        groups=[a_group("a", size=2)],
        nodes={"a": nodes},
        pods=[a_pod("first", cpu="3", node="m"), a_pod(cpu="2")],
    )
    replacing = Replacement(group="a", count=1, at=NOW, since=NOW, nodes={"old": "fake://old"})
    memory = ordered(2, consolidation=ConsolidationMemory(replacements=(replacing,)))
    assert verdict_on(world, memory) is Reason.HELPED
    assert verdict_on(world, ordered(2)) is Reason.FITS


def test_no_pod_is_moved_to_a_node_that_is_starting() -> None:
    old = a_node("old", provider_id="fake://a-0", created=EPOCH)
    world = a_world(
        groups=[a_group("a", size=2)],
        nodes={"a": [old, starting("n", provider_id="fake://a-1")]},
        pods=[a_pod("first", node="old")],
    )
    decision = decide(world, ordered(), a_policy(), NOW).decision
    assert decision.nodes["old"].reason is Reason.NO_PLACE


def test_a_decision_leaves_nodes_that_are_starting_as_they_were() -> None:
    world = a_start(starting(), [a_pod("first", cpu="3", node="n"), a_pod()], a_template(gpus=1), [a_daemon_set()])
    table = world.cluster.table
    before = dict(zip(table.dimensions, table.free[:, table.rows["n"]].tolist(), strict=False)), table.marks(0)
    first, second = (decide(world, ordered(), a_policy(), NOW).decision for _ in range(2))
    assert first == second
    after = dict(zip(table.dimensions, table.free[:, table.rows["n"]].tolist(), strict=False)), table.marks(0)
    assert {key: value for key, value in after[0].items() if value} == {k: v for k, v in before[0].items() if v}
    assert after[1] == before[1]
