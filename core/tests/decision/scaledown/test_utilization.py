"""How much of a node counts as used."""

from datetime import timedelta

import pytest
from msgspec.structs import replace
from nodewright.api import GpuConfig
from nodewright.config.model import ScaleDown
from nodewright.decision.scaledown.utilization import Utilizations
from nodewright.testing.builders import a_node, a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_world

NOW = EPOCH + timedelta(hours=1)
GPU = GpuConfig(label="gpu", type="t4", resource="nvidia.com/gpu")


def used(node, *pods, settings=None, gpu=None, ignore_daemons=False):
    world = a_world(nodes={"": [node]}, pods=pods)
    return Utilizations(world.cluster, settings or ScaleDown(), NOW).of(node, gpu=gpu, ignore_daemons=ignore_daemons)


def on_node(name, **changes):
    return a_pod(name, node="node-1", **changes)


def test_the_larger_share_of_cpu_and_memory_decides() -> None:
    share = used(a_node(cpu="4", memory="4Gi"), on_node("a", cpu="1", memory="2Gi"))
    assert (share.cpu, share.memory, share.value, share.of_cpu) == (0.25, 0.5, 0.5, False)


def test_a_node_with_gpus_is_judged_by_these_alone() -> None:
    node = a_node(cpu="4", resources={"nvidia.com/gpu": "4"})
    share = used(node, on_node("a", cpu="4", requests={"nvidia.com/gpu": "1"}), gpu=GPU)
    assert share.value == 0.25


def test_a_node_whose_gpus_are_not_there_is_not_used() -> None:
    assert used(a_node(cpu="4"), on_node("a", cpu="4"), gpu=GPU).value == 0


def test_daemon_pods_can_be_left_out_on_both_sides() -> None:
    pods = [on_node("agent", owner="DaemonSet/agent", cpu="1"), on_node("web", cpu="1")]
    assert used(a_node(cpu="4", memory="64Gi"), *pods).cpu == 0.5
    assert used(a_node(cpu="4", memory="64Gi"), *pods, ignore_daemons=True).cpu == pytest.approx(1 / 3)


def test_static_pods_can_be_left_out_on_both_sides() -> None:
    static = on_node("proxy", owner="Node/n", annotations={"kubernetes.io/config.mirror": "x"}, cpu="2")
    settings = ScaleDown(ignore_mirror_pods_utilization=True)
    assert used(a_node(cpu="4", memory="64Gi"), static, on_node("web", cpu="1"), settings=settings).cpu == 0.5


def test_a_pod_that_should_be_gone_does_not_count() -> None:
    pod = on_node("a", cpu="1")
    leaving = [
        replace(pod, metadata=replace(pod.metadata, name=name, deletion_timestamp=NOW - ago))
        for name, ago in (("late", timedelta(seconds=61)), ("ending", timedelta(seconds=60)))
    ]
    assert used(a_node(cpu="4", memory="64Gi"), *leaving).cpu == 0.25
