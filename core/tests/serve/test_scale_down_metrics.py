"""Metrics of scale-down, by Cluster Autoscaler's names."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import Decision, DeleteInstances, GpuConfig, Outcome, Reason, Verdict
from nodewright.config.model import Settings
from nodewright.config.model.process import Metrics as MetricSettings
from nodewright.decision.memory import (
    Changes,
    CooldownMemory,
    LastVerdict,
    Memory,
    Removal,
    RemovalMemory,
    UnneededMemory,
    VerdictMemory,
)
from nodewright.testing import EPOCH
from nodewright.testing.builders import a_group, a_node
from nodewright.testing.worlds import a_world

GPU = GpuConfig(label="accelerator", type="t4", resource="nvidia.com/gpu")
CA = "cluster_autoscaler_"
MINUTE = timedelta(minutes=1)


def a_world_with_gpus(*names, ready=True):
    world = a_world(groups=[a_group("a")], nodes={"a": [a_node(name, ready=ready) for name in names]})
    return replace(world, gpus={name: GPU for name in names if name.startswith("gpu")})


def verdicts(at=EPOCH, **nodes):
    return Decision(at=at, nodes={name: Verdict(reason=reason) for name, reason in nodes.items()})


def test_nodes_that_can_not_go_are_counted_by_reason(watcher) -> None:
    watcher.note(
        verdicts(a=Reason.NEEDED, b=Reason.NEEDED, c=Reason.BLOCKED_BY_POD, d=Reason.EMPTY, e=Reason.NOT_OURS),
        Memory(
            unneeded=UnneededMemory(since={"d": EPOCH}),
            leaving=RemovalMemory(removals={"f": Removal(group="a", provider_id="", started=EPOCH)}),
        ),
    )
    found = watcher.of(CA + "unremovable_nodes_count")
    assert found == {"reason=NotUnderutilized": 2, "reason=BlockedByPod": 1}
    assert watcher.of(CA + "unneeded_nodes_count") == {"": 1}
    assert watcher.of(CA + "pending_node_deletions") == {"": 1}


def test_a_reason_that_holds_for_no_node_any_more_is_zero(watcher) -> None:
    watcher.note(verdicts(a=Reason.NEEDED))
    watcher.note(verdicts(a=Reason.EMPTY))
    assert watcher.of(CA + "unremovable_nodes_count") == {"reason=NotUnderutilized": 0}


def test_nodes_that_pods_keep_are_counted_by_cause_even_while_not_examined(watcher) -> None:
    standing = LastVerdict(reason=Reason.BLOCKED_BY_POD, since=EPOCH, pod="default/web", cause="NotReplicated")
    watcher.note(verdicts(a=Reason.RECENTLY_UNREMOVABLE), Memory(verdicts=VerdictMemory(last={"a": standing})))
    assert watcher.of("nodewright_nodes_blocked_by_pods") == {"cause=NotReplicated": 1}


@pytest.mark.parametrize(("minutes", "cooling"), [(9, 1), (11, 0)])
def test_the_cooldown_after_a_change_is_shown(watcher, minutes, cooling) -> None:
    watcher.note(verdicts(), Memory(cooldown=CooldownMemory(cluster=Changes(grown=EPOCH - timedelta(minutes=minutes)))))
    assert watcher.of(CA + "scale_down_in_cooldown") == {"": cooling}


def test_pods_that_have_only_just_come_are_a_pause_too(watcher) -> None:
    watcher.note(Decision(at=EPOCH, pods={"default/web": Verdict(reason=Reason.JUST_CREATED)}))
    assert watcher.of(CA + "scale_down_in_cooldown") == {"": 1}


def delete(*names, reason=Reason.EMPTY, at=EPOCH):
    nodes = () if reason is Reason.NEVER_REGISTERED else names
    verdict = Verdict(reason=reason)
    return Decision(at=at, delete=(DeleteInstances(group="a", instances=names, nodes=nodes, verdict=verdict),))


def outcome(target, *, ok=True, action="delete-instances", temporary=False, at=EPOCH):
    return (Outcome(at=at, action=action, target=target, ok=ok, temporary=temporary),)


@pytest.mark.parametrize(
    ("name", "reason", "ready", "told"),
    [
        ("n", Reason.EMPTY, True, "empty"),
        ("n", Reason.DRAINED, True, "underutilized"),
        ("n", Reason.EMPTY, False, "unready"),
        ("gpu", Reason.DRAINED, False, "unready"),
    ],
)
def test_a_removed_node_is_counted_by_reason_and_gpu(watcher, name, reason, ready, told) -> None:
    watcher.note(delete(name, reason=reason), world=a_world_with_gpus(name, ready=ready))
    # The outcome may come several loops later.
    watcher.note(verdicts())
    watcher.metrics.note_outcomes(outcome(name))
    gpu, resource = ("t4", "nvidia.com/gpu") if name == "gpu" else ("", "")
    found = {key: value for key, value in watcher.of(CA + "scaled_down_nodes_total").items() if value}
    assert found == {f"dra_drivers=,gpu_name={gpu},gpu_resource_name={resource},reason={told}": 1}
    gpus = {f"gpu_name=t4,gpu_resource_name=nvidia.com/gpu,reason={told}": 1} if gpu else {}
    assert watcher.of(CA + "scaled_down_gpu_nodes_total") == gpus


def test_a_node_that_did_not_go_is_not_counted(watcher) -> None:
    watcher.note(delete("n"), world=a_world_with_gpus("n"))
    watcher.metrics.note_outcomes(outcome("n", ok=False))
    watcher.metrics.note_outcomes(outcome("n"))
    assert sum(watcher.of(CA + "scaled_down_nodes_total").values()) == 0


def test_machines_that_never_became_nodes_are_counted_apart(watcher) -> None:
    watcher.note(delete("i-1", "i-2", reason=Reason.NEVER_REGISTERED))
    watcher.metrics.note_outcomes(outcome("a"))
    assert watcher.of(CA + "old_unregistered_nodes_removed_count") == {"": 2}
    assert sum(watcher.of(CA + "scaled_down_nodes_total").values()) == 0


def test_an_eviction_that_is_refused_for_the_moment_has_not_failed(watcher) -> None:
    for ok, temporary in ((True, False), (False, True), (False, False), (False, False)):
        watcher.metrics.note_outcomes(outcome("default/web", ok=ok, action="evict", temporary=temporary))
    found = watcher.of(CA + "evicted_pods_total")
    assert found == {"eviction_result=succeeded": 1, "eviction_result=failed": 2}


def an_eligible_node(watcher, settings):
    """A node that is eligible after a minute, waits for the cool-down in the next minute, and is deleted then."""
    world, unneeded = a_world_with_gpus("n"), Memory(unneeded=UnneededMemory(since={"n": EPOCH}))
    for minutes, reason in ((0, Reason.NOT_LONG_ENOUGH), (1, Reason.COOLING_DOWN), (2, Reason.EMPTY)):
        watcher.note(verdicts(at=EPOCH + minutes * MINUTE, n=reason), unneeded, world, settings)
    return world


ASKED_FOR = Settings(metrics=MetricSettings(node_removal_latency=True, node_skip_time=True))


def test_how_long_a_node_took_to_go_is_counted_from_when_it_might_with_what_kept_it(watcher) -> None:
    world = an_eligible_node(watcher, ASKED_FOR)
    going = Memory(leaving=RemovalMemory(removals={"n": Removal(group="a", provider_id="", started=EPOCH)}))
    watcher.note(delete("n", at=EPOCH + 3 * MINUTE), going, world, ASKED_FOR)
    watcher.metrics.note_outcomes(outcome("n", at=EPOCH + 4 * MINUTE))
    found = watcher.of(CA + "node_removal_latency_seconds_sum")
    assert found == {"delay_reason=ScaleDownInCooldown,deleted=true": 180}


def test_a_node_that_is_needed_again_is_counted_as_not_deleted(watcher) -> None:
    an_eligible_node(watcher, ASKED_FOR)
    watcher.note(verdicts(at=EPOCH + 3 * MINUTE, n=Reason.NEEDED), settings=ASKED_FOR)
    found = watcher.of(CA + "node_removal_latency_seconds_sum")
    assert found == {"delay_reason=ScaleDownInCooldown,deleted=false": 120}


def test_removal_latency_is_measured_only_if_enabled(watcher) -> None:
    an_eligible_node(watcher, Settings())
    watcher.note(verdicts(at=EPOCH + 3 * MINUTE, n=Reason.NEEDED))
    assert watcher.of(CA + "node_removal_latency_seconds_count") == {}


@pytest.mark.parametrize(("settings", "seconds"), [(ASKED_FOR, 300), (Settings(), 0)])
def test_the_longest_time_without_examination_is_shown_if_enabled(watcher, settings, seconds) -> None:
    standings = {
        "new": LastVerdict(reason=Reason.NOT_EXAMINED, since=EPOCH + 4 * MINUTE),
        "old": LastVerdict(reason=Reason.NOT_EXAMINED, since=EPOCH),
        "other": LastVerdict(reason=Reason.NEEDED, since=EPOCH - MINUTE),
    }
    watcher.note(verdicts(at=EPOCH + 5 * MINUTE), Memory(verdicts=VerdictMemory(last=standings)), settings=settings)
    assert watcher.of(CA + "max_node_skip_eval_duration_seconds") == {"": seconds}
