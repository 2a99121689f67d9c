"""What metrics tell of scale-down, by Cluster Autoscaler's names."""

from datetime import timedelta

import pytest
from nodewright.api import Decision, DeleteInstances, GpuConfig, Outcome, Reason, Verdict
from nodewright.config.model import Settings
from nodewright.memory import Memory, Removal, Standing
from nodewright.serve.metrics import Metrics
from nodewright.testing import EPOCH
from nodewright.testing.builders import a_group, a_node
from nodewright.testing.worlds import a_world
from nodewright.world import World

GPU = GpuConfig(label="accelerator", type="t4", resource="nvidia.com/gpu")


@pytest.fixture
def metrics():
    return Metrics()


def shown(metrics):
    lines = metrics.render().decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


def a_world_with_gpus(*names, ready=True):
    world = a_world(groups=[a_group("a")], nodes={"a": [a_node(name, ready=ready) for name in names]})
    gpus = {name: GPU for name in names if name.startswith("gpu")}
    return World(cluster=world.cluster, groups=world.groups, group_of=world.group_of, gpus=gpus)


def note(metrics, decision, memory=None, world=None):
    metrics.scale_down.note_decision(decision, memory or Memory(), world or a_world_with_gpus(), Settings())


def verdicts(**nodes):
    return Decision(at=EPOCH, nodes={name: Verdict(reason=reason) for name, reason in nodes.items()})


def test_nodes_that_can_not_go_are_counted_by_reason(metrics):
    note(
        metrics,
        verdicts(a=Reason.NEEDED, b=Reason.NEEDED, c=Reason.BLOCKED_BY_POD, d=Reason.EMPTY, e=Reason.NOT_OURS),
        Memory(unneeded_since={"d": EPOCH}, removals={"f": Removal(group="a", provider_id="", started=EPOCH)}),
    )
    found = {key: value for key, value in shown(metrics).items() if "unremovable" in key}
    assert found == {
        'cluster_autoscaler_unremovable_nodes_count{reason="NotUnderutilized"}': "2.0",
        'cluster_autoscaler_unremovable_nodes_count{reason="BlockedByPod"}': "1.0",
    }
    assert shown(metrics)["cluster_autoscaler_unneeded_nodes_count"] == "1.0"
    assert shown(metrics)["cluster_autoscaler_pending_node_deletions"] == "1.0"


def test_a_reason_that_holds_for_no_node_any_more_is_zero(metrics):
    note(metrics, verdicts(a=Reason.NEEDED))
    note(metrics, verdicts(a=Reason.EMPTY))
    assert shown(metrics)['cluster_autoscaler_unremovable_nodes_count{reason="NotUnderutilized"}'] == "0.0"


def test_nodes_that_pods_keep_are_counted_by_cause_also_while_nobody_looks_again(metrics):
    standing = Standing(reason=Reason.BLOCKED_BY_POD, since=EPOCH, pod="default/web", cause="NotReplicated")
    note(metrics, verdicts(a=Reason.RECENTLY_UNREMOVABLE), Memory(standings={"a": standing}))
    assert shown(metrics)['nodewright_nodes_blocked_by_pods{cause="NotReplicated"}'] == "1.0"


@pytest.mark.parametrize(("minutes", "cooling"), [(9, "1.0"), (11, "0.0")])
def test_a_pause_after_a_change_is_told(metrics, minutes, cooling):
    note(metrics, verdicts(), Memory(last_scale_up=EPOCH - timedelta(minutes=minutes)))
    assert shown(metrics)["cluster_autoscaler_scale_down_in_cooldown"] == cooling


def test_pods_that_have_only_just_come_are_a_pause_too(metrics):
    note(metrics, Decision(at=EPOCH, pods={"default/web": Verdict(reason=Reason.JUST_CREATED)}))
    assert shown(metrics)["cluster_autoscaler_scale_down_in_cooldown"] == "1.0"


def delete(*names, reason=Reason.EMPTY):
    nodes = () if reason is Reason.NEVER_REGISTERED else names
    verdict = Verdict(reason=reason)
    return Decision(at=EPOCH, delete=(DeleteInstances(group="a", instances=names, nodes=nodes, verdict=verdict),))


def outcome(target, *, ok=True, action="delete-instances", temporary=False):
    return (Outcome(at=EPOCH, action=action, target=target, ok=ok, temporary=temporary),)


@pytest.mark.parametrize(
    ("name", "reason", "ready", "labels"),
    [
        ("n", Reason.EMPTY, True, 'dra_drivers="",gpu_name="",gpu_resource_name="",reason="empty"'),
        ("n", Reason.DRAINED, True, 'dra_drivers="",gpu_name="",gpu_resource_name="",reason="underutilized"'),
        ("n", Reason.EMPTY, False, 'dra_drivers="",gpu_name="",gpu_resource_name="",reason="unready"'),
        (
            "gpu",
            Reason.DRAINED,
            False,
            'dra_drivers="",gpu_name="t4",gpu_resource_name="nvidia.com/gpu",reason="unready"',
        ),
    ],
)
def test_a_node_that_went_is_counted_by_why_and_by_its_gpus(metrics, name, reason, ready, labels):
    note(metrics, delete(name, reason=reason), world=a_world_with_gpus(name, ready=ready))
    # The answer may come loops later.
    note(metrics, verdicts())
    metrics.scale_down.note_outcomes(outcome(name))
    found = shown(metrics)
    assert found[f"cluster_autoscaler_scaled_down_nodes_total{{{labels}}}"] == "1.0"
    key = 'cluster_autoscaler_scaled_down_gpu_nodes_total{gpu_name="t4",gpu_resource_name="nvidia.com/gpu"}'
    assert (key in found) == (name == "gpu")


def test_a_node_that_did_not_go_is_not_counted(metrics):
    note(metrics, delete("n"), world=a_world_with_gpus("n"))
    metrics.scale_down.note_outcomes(outcome("n", ok=False))
    metrics.scale_down.note_outcomes(outcome("n"))
    assert "scaled_down_nodes_total{" not in metrics.render().decode()


def test_machines_that_never_became_nodes_are_counted_apart(metrics):
    note(metrics, delete("i-1", "i-2", reason=Reason.NEVER_REGISTERED))
    metrics.scale_down.note_outcomes(outcome("a"))
    assert shown(metrics)["cluster_autoscaler_old_unregistered_nodes_removed_count"] == "2.0"
    assert "scaled_down_nodes_total{" not in metrics.render().decode()


def test_an_eviction_that_is_refused_for_the_moment_has_not_failed(metrics):
    for ok, temporary in ((True, False), (False, True), (False, False), (False, False)):
        metrics.scale_down.note_outcomes(outcome("default/web", ok=ok, action="evict", temporary=temporary))
    found = shown(metrics)
    assert found['cluster_autoscaler_evicted_pods_total{eviction_result="succeeded"}'] == "1.0"
    assert found['cluster_autoscaler_evicted_pods_total{eviction_result="failed"}'] == "2.0"
