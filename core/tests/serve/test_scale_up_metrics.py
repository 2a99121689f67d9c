"""Metrics of scale-up, by Cluster Autoscaler's names."""

from dataclasses import replace

import pytest
from nodewright.api import (
    Decision,
    DeleteInstances,
    ErrorClass,
    GpuConfig,
    Grow,
    Instance,
    InstanceError,
    InstanceState,
    Outcome,
    Reason,
    Shrink,
    Verdict,
)
from nodewright.decision.memory import HealthMemory, Memory
from nodewright.testing import EPOCH
from nodewright.testing.builders import a_group, a_pod, a_template
from nodewright.testing.worlds import a_world

CA = "cluster_autoscaler_"
GPU = GpuConfig(label="accelerator", type="t4", resource="nvidia.com/gpu")
CHOSEN = Verdict(reason=Reason.CHOSEN)
NO_GPU = "dra_drivers=,gpu_name=,gpu_resource_name="
STOCK_OUT = InstanceError(error_class=ErrorClass.STOCK_OUT, code="ZONE_RESOURCE_POOL_EXHAUSTED")
GROUPS = [a_group("a"), a_group("gpu")]


def counted(watcher, name):
    return {key: value for key, value in watcher.of(CA + name).items() if value}


def grown(watcher, group="a", count=3, world=None, **outcome):
    """Place an order and report its outcome."""
    world = replace(world or a_world(groups=GROUPS), group_gpus={"gpu": GPU})
    order = Grow(group=group, count=count, from_size=0, pods=tuple(world.cluster.pending), verdict=CHOSEN)
    watcher.metrics.note_orders(Decision(at=EPOCH, grow=(order,)), world)
    outcome = Outcome(**{"at": EPOCH, "action": "grow", "target": group, "ok": True} | outcome)
    watcher.metrics.note_outcomes((outcome,))


def test_nodes_that_a_cloud_took_the_order_for_are_counted_with_their_gpus(watcher) -> None:
    grown(watcher)
    grown(watcher, "gpu", 2)
    assert counted(watcher, "scaled_up_nodes_total") == {
        NO_GPU: 3,
        "dra_drivers=,gpu_name=t4,gpu_resource_name=nvidia.com/gpu": 2,
    }
    assert counted(watcher, "scaled_up_gpu_nodes_total") == {"gpu_name=t4,gpu_resource_name=nvidia.com/gpu": 2}


@pytest.mark.parametrize(("cause", "reason"), [(None, "cloudProviderError"), (STOCK_OUT, STOCK_OUT.code)])
def test_an_order_that_was_refused_is_a_failed_scale_up(watcher, cause, reason) -> None:
    grown(watcher, "gpu", ok=False, error="no", cause=cause)
    gpu = "gpu_name=t4,gpu_resource_name=nvidia.com/gpu"
    assert counted(watcher, "scaled_up_nodes_total") == {}
    assert counted(watcher, "failed_scale_ups_total") == {f"dra_drivers=,{gpu},reason={reason}": 1}
    assert counted(watcher, "failed_gpu_scale_ups_total") == {f"{gpu},reason={reason}": 1}


def test_an_order_that_was_not_tried_is_no_failed_scale_up(watcher) -> None:
    grown(watcher, ok=False, error="not tried: a asked for fewer calls", temporary=True, tried=False)
    assert counted(watcher, "failed_scale_ups_total") == {}


def test_machines_that_the_cloud_could_not_make_are_counted_once_and_their_growth_as_one(watcher) -> None:
    machines = [Instance(id=f"fake://{n}", state=InstanceState.CREATING, error=STOCK_OUT) for n in range(3)]
    world = a_world(groups=[a_group("a", instances=machines)])
    failed = Memory(health=HealthMemory(failed_since={machine.id: EPOCH for machine in machines}))
    watcher.note(Decision(at=EPOCH), failed, world)
    watcher.note(Decision(at=EPOCH), failed, world, before=failed)
    assert counted(watcher, "failed_node_creations_total") == {f"reason={STOCK_OUT.code}": 3}
    assert counted(watcher, "failed_scale_ups_total") == {f"{NO_GPU},reason={STOCK_OUT.code}": 1}


def test_an_order_that_was_taken_in_part_counts_as_both(watcher) -> None:
    grown(watcher, ok=False, error="no", cause=STOCK_OUT, increased=2)
    assert counted(watcher, "scaled_up_nodes_total") == {NO_GPU: 2}
    assert counted(watcher, "failed_scale_ups_total") == {f"{NO_GPU},reason={STOCK_OUT.code}": 1}


def test_what_newly_keeps_machines_from_coming_is_a_failed_scale_up(watcher) -> None:
    world = a_world(groups=[replace(a_group("a"), errors=(STOCK_OUT, replace(STOCK_OUT, message="again")))])
    failed = Memory(health=HealthMemory(errors={"a": {f"StockOut:{STOCK_OUT.code}:": EPOCH}}))
    watcher.note(Decision(at=EPOCH), failed, world)
    watcher.note(Decision(at=EPOCH), failed, world, before=failed)
    assert counted(watcher, "failed_scale_ups_total") == {f"{NO_GPU},reason={STOCK_OUT.code}": 1}


def test_what_does_not_come_in_time_has_failed_once_however_often_it_is_given_up(watcher) -> None:
    unmet = Shrink(group="a", count=2, verdict=Verdict(reason=Reason.UNMET_TARGET))
    watcher.note(Decision(at=EPOCH, shrink=(unmet,)))
    never = DeleteInstances(group="b", instances=("i",), verdict=Verdict(reason=Reason.NEVER_REGISTERED))
    for _ in range(3):
        watcher.note(Decision(at=EPOCH, delete=(never,)))
    assert counted(watcher, "failed_scale_ups_total") == {f"{NO_GPU},reason=timeout": 2}


def test_limits_that_keep_groups_from_growing_and_nodes_from_going_are_counted(watcher) -> None:
    full = Verdict(reason=Reason.LIMIT_RESOURCES, detail='"cluster-wide", resources: cpu, memory; "cpu", resources: x')
    least = Verdict(reason=Reason.LIMIT_MIN_RESOURCES, detail='"cluster-wide", memory: at least 4Gi')
    other = Verdict(reason=Reason.LIMIT_RESOURCES, detail='"cpu", resources: nvidia.com/gpu')
    watcher.note(Decision(at=EPOCH, groups={"a": full, "b": other}, nodes={"n": least, "m": least}))
    assert watcher.of(CA + "skipped_scale_events_count") == {
        "direction=up,reason=CpuResourceLimit": 1,
        "direction=up,reason=MemoryResourceLimit": 1,
        "direction=down,reason=CpuResourceLimit": 0,
        "direction=down,reason=MemoryResourceLimit": 2,
    }


def test_the_number_of_pod_classes_for_which_a_group_grows_is_shown(watcher) -> None:
    group = a_group("a", template=a_template(cpu="3500m", instance_type="c5.large"))
    pods = [a_pod("web-1"), a_pod("web-2"), a_pod("big", cpu="2"), a_pod("web", namespace="shop")]
    grown(watcher, world=a_world(groups=[group], pods=pods))
    series = "cpu_count=4,instance_type=c5.large,namespace_count=2"
    assert watcher.of(CA + "binpacking_heterogeneity_sum") == {series: 3}


def test_codes_of_clouds_do_not_make_series_without_end(watcher) -> None:
    for number in range(200):
        cause = InstanceError(error_class=ErrorClass.OTHER, code=f"request-{number}")
        grown(watcher, ok=False, cause=cause)
    found = counted(watcher, "failed_scale_ups_total")
    assert len(found) < 70
    assert sum(found.values()) == 200
    assert found[f"{NO_GPU},reason=other"] > 100
