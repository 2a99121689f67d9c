"""What each drain rule says about a pod, and what follows from their order."""

from datetime import timedelta

import pytest
from msgspec.structs import replace
from nodewright.api import DrainContext, DrainSettings, PodFate
from nodewright.config.model import ScaleDown, Settings
from nodewright.decision.scaledown.drain.drainability import Drainability
from nodewright.objects import LabelSelector, ObjectMeta, PodDisruptionBudget
from nodewright.objects.budget import BudgetSpec, BudgetStatus
from nodewright.objects.volume import EmptyDir, Volume
from nodewright.strategies.drain_rules import Terminal
from nodewright.testing.builders import a_node, a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=2)
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
SAFE_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
DO_NOT_DISRUPT = "nodewright.dev/do-not-disrupt"
MIRROR = {"kubernetes.io/config.mirror": "x"}
ON_DISK = Volume(name="cache", empty_dir=EmptyDir())
IN_MEMORY = Volume(name="cache", empty_dir=EmptyDir(medium="Memory"))
ON_HOST = Volume(name="data", host_path={"path": "/data"})


def pod(*volumes, deleted=None, **changes):
    made = a_pod(node="node-1", **changes)
    spec = replace(made.spec, volumes=volumes)
    return replace(made, spec=spec, metadata=replace(made.metadata, deletion_timestamp=deleted))


def a_budget(allowed=1, *, name="budget", namespace="default", **labels):
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=name, namespace=namespace),
        spec=BudgetSpec(selector=LabelSelector(match_labels=labels)),
        status=BudgetStatus(disruptions_allowed=allowed),
    )


def drain(*pods, budgets=(), controllers=None, budgets_block=True, **settings):
    world = a_world(nodes={"": [a_node()]}, pods=pods, budgets=budgets, controllers=controllers)
    policy = a_policy(Settings(scale_down=ScaleDown(**settings)))
    return Drainability(world, policy, NOW).of("node-1", budgets_block=budgets_block)


def fate(one, **changes):
    """What becomes of one pod: why it blocks, or the name of the part of the node's pods that it is among."""
    drained = drain(one, **changes)
    if drained.blocker is not None:
        assert (drained.blocker.reason, drained.blocker.pod) == ("BlockedByPod", one.key)
        return str(drained.blocker.cause)
    return next((part for part in ("move", "daemons", "waits") if getattr(drained, part)), "stays behind")


def test_a_pod_about_which_no_rule_has_an_opinion_moves() -> None:
    assert fate(pod()) == "move"


def test_static_pods_stay_behind() -> None:
    assert fate(pod(owner="Node/n", annotations=MIRROR)) == "stays behind"


@pytest.mark.parametrize(("ago", "expected"), [(60, "NotReplicated"), (61, "stays behind")])
def test_a_pod_that_should_have_ended_half_a_minute_ago_stays_behind(ago, expected) -> None:
    assert fate(pod(owner="", deleted=NOW - timedelta(seconds=ago))) == expected


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController", "StatefulSet", "Job", "DaemonSet"])
def test_a_pod_blocks_whose_controller_is_gone(kind) -> None:
    controllers = {kind: {"default/other": 3, "elsewhere/web": 3}}
    assert fate(pod(owner=f"{kind}/web"), controllers=controllers) == "ControllerNotFound"


def test_a_controller_of_an_unwatched_kind_is_not_missed() -> None:
    assert fate(pod(owner="ReplicaSet/web"), controllers={"Job": {}}) == "move"


@pytest.mark.parametrize(
    ("kind", "replicas", "expected"),
    [
        ("ReplicaSet", 1, "MinReplicasReached"),
        ("ReplicationController", 1, "MinReplicasReached"),
        ("ReplicaSet", 2, "move"),
        ("StatefulSet", 1, "move"),
        ("Job", 1, "move"),
    ],
)
def test_a_pod_blocks_whose_replicaset_wants_too_few(kind, replicas, expected) -> None:
    controllers = {kind: {"default/web": replicas}}
    assert fate(pod(owner=f"{kind}/web"), controllers=controllers, min_replicas=2) == expected


def test_controllers_are_not_looked_up_where_those_of_other_kinds_are_fine() -> None:
    settings = {"skip_custom_controller_pods": False, "min_replicas": 2}
    assert fate(pod(owner="ReplicaSet/web"), controllers={"ReplicaSet": {}}, **settings) == "move"
    assert fate(pod(owner="ReplicaSet/web"), controllers={"ReplicaSet": {"default/web": 1}}, **settings) == "move"


def test_daemon_pods_go_with_their_node() -> None:
    assert fate(pod(owner="DaemonSet/agent")) == "daemons"


def test_a_pod_moves_that_says_it_is_safe_to_evict() -> None:
    assert fate(pod(ON_HOST, owner="", annotations={SAFE_TO_EVICT: "true"})) == "move"


def test_a_pod_that_is_safe_to_evict_on_completion_is_waited_for() -> None:
    assert fate(pod(ON_HOST, owner="", annotations={SAFE_TO_EVICT: "on-completion"})) == "waits"


@pytest.mark.parametrize(
    ("phase", "restart", "expected"),
    [
        ("Failed", "Always", PodFate.MOVES),
        ("Succeeded", "Never", PodFate.MOVES),
        ("Succeeded", "OnFailure", PodFate.MOVES),
        ("Succeeded", "Always", None),
        ("Running", "Never", None),
    ],
)
def test_a_pod_moves_that_has_ended_for_good(phase, restart, expected) -> None:
    made = pod(owner="")
    ended = replace(made, spec=replace(made.spec, restart_policy=restart), status=replace(made.status, phase=phase))
    context = DrainContext(now=NOW, settings=DrainSettings())
    assert Terminal(Terminal.Config()).judge(ended, context) is expected


def test_a_bare_pod_blocks() -> None:
    assert fate(pod(owner="")) == "NotReplicated"


def test_a_pod_of_a_controller_of_another_kind_blocks_unless_these_are_fine() -> None:
    assert fate(pod(owner="Rollout/web")) == "NotReplicated"
    assert fate(pod(owner="Rollout/web"), skip_custom_controller_pods=False) == "move"
    assert fate(pod(owner=""), skip_custom_controller_pods=False) == "NotReplicated"


def test_a_young_system_pod_blocks_for_as_long_as_configured() -> None:
    system = pod(namespace="kube-system", created=NOW - timedelta(minutes=60))
    assert fate(system) == "UnmovableKubeSystemPod"
    assert fate(system, system_pods_block_for=timedelta(minutes=59)) == "move"
    assert fate(system, skip_system_pods=False) == "move"


def test_a_system_pod_with_a_budget_does_not_block() -> None:
    system = pod(namespace="kube-system", created=NOW, labels={"app": "dns"})
    assert fate(system, budgets=[a_budget(namespace="kube-system", app="dns")]) == "move"


def test_each_system_pod_is_as_old_as_it_is() -> None:
    old = pod(name="old", namespace="kube-system", created=NOW - timedelta(hours=2))
    young = pod(name="young", namespace="kube-system", created=NOW)
    assert drain(old, young).blocker.pod == "kube-system/young"


def test_a_pod_blocks_that_says_it_is_not_safe_to_evict() -> None:
    assert fate(pod(annotations={SAFE_TO_EVICT: "false"})) == "NotSafeToEvictAnnotation"


@pytest.mark.parametrize(
    ("volumes", "safe", "expected"),
    [
        ([ON_HOST], "", "LocalStorageRequested"),
        ([ON_DISK], "", "LocalStorageRequested"),
        ([IN_MEMORY], "", "move"),
        ([Volume(name="other")], "", "move"),
        ([ON_DISK, ON_HOST], "cache", "LocalStorageRequested"),
        ([ON_DISK, ON_HOST], "cache,data", "move"),
        ([ON_DISK, ON_HOST], "cache, data", "LocalStorageRequested"),
    ],
)
def test_a_pod_with_data_on_the_node_blocks_unless_it_gives_it_up(volumes, safe, expected) -> None:
    assert fate(pod(*volumes, annotations={SAFE_VOLUMES: safe})) == expected
    assert fate(pod(*volumes, annotations={SAFE_VOLUMES: safe}), skip_local_storage=False) == "move"


def test_a_pod_blocks_whose_budget_is_spent() -> None:
    web = pod(labels={"app": "web"})
    assert fate(web, budgets=[a_budget(1, app="web")]) == "move"
    assert fate(web, budgets=[a_budget(1, app="web"), a_budget(0, name="other", app="web")]) == "NotEnoughPdb"
    assert fate(web, budgets=[a_budget(0, app="db"), a_budget(0, name="far", namespace="far", app="web")]) == "move"


def test_a_spent_budget_does_not_end_a_drain_that_is_under_way() -> None:
    assert fate(pod(labels={"app": "web"}), budgets=[a_budget(0, app="web")], budgets_block=False) == "move"


def test_a_pod_that_is_ending_already_does_not_end_a_drain_that_is_under_way() -> None:
    ending = pod(deleted=NOW)
    assert fate(ending, controllers={"ReplicaSet": {}}) == "ControllerNotFound"
    assert fate(ending, controllers={"ReplicaSet": {}}, budgets_block=False) == "move"
    assert fate(pod(), controllers={"ReplicaSet": {}}, budgets_block=False) == "ControllerNotFound"


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({DO_NOT_DISRUPT: "true"}, "DoNotDisrupt"),
        ({DO_NOT_DISRUPT: "false"}, "move"),
        ({DO_NOT_DISRUPT: "2030-01-01T02:00:01Z"}, "DoNotDisrupt"),
        ({DO_NOT_DISRUPT: "2030-01-01T02:00:00Z"}, "move"),
        ({DO_NOT_DISRUPT: "2030-01-01T02:30:00+01:00"}, "move"),
        ({DO_NOT_DISRUPT: "2h1m1s"}, "DoNotDisrupt"),
        ({DO_NOT_DISRUPT: "2h1m"}, "move"),
        ({DO_NOT_DISRUPT: "a while"}, "DoNotDisrupt"),
        ({DO_NOT_DISRUPT: "2030-01-01T01:00:00"}, "DoNotDisrupt"),
        ({"karpenter.sh/do-not-disrupt": "true"}, "DoNotDisrupt"),
        ({"karpenter.sh/do-not-disrupt": "4h"}, "move"),
    ],
)
def test_a_pod_that_is_not_to_be_disturbed_blocks_for_as_long_as_it_says(annotations, expected) -> None:
    assert fate(pod(annotations=annotations)) == expected


@pytest.mark.parametrize(
    ("one", "changes", "expected"),
    [
        (pod(owner="DaemonSet/agent"), {"controllers": {"DaemonSet": {}}}, "ControllerNotFound"),
        (pod(annotations={SAFE_TO_EVICT: "true"}), {"controllers": {"ReplicaSet": {}}}, "ControllerNotFound"),
        (pod(owner="", annotations={SAFE_TO_EVICT: "true"}), {}, "move"),
        (pod(labels={"a": "b"}, annotations={SAFE_TO_EVICT: "true"}), {"budgets": [a_budget(0, a="b")]}, "move"),
        (pod(ON_HOST, namespace="kube-system", created=EPOCH), {}, "move"),
        (pod(ON_HOST, namespace="kube-system", created=NOW), {}, "UnmovableKubeSystemPod"),
        (pod(ON_HOST, annotations={SAFE_TO_EVICT: "false"}), {}, "NotSafeToEvictAnnotation"),
        (pod(ON_HOST, labels={"a": "b"}), {"budgets": [a_budget(0, a="b")]}, "LocalStorageRequested"),
        (pod(owner="Node/n", annotations=MIRROR | {DO_NOT_DISRUPT: "true"}), {}, "stays behind"),
        (pod(annotations={SAFE_TO_EVICT: "true", DO_NOT_DISRUPT: "true"}), {}, "DoNotDisrupt"),
        (pod(owner="DaemonSet/agent", annotations={DO_NOT_DISRUPT: "true"}), {}, "DoNotDisrupt"),
    ],
    ids=[
        "a missing controller blocks even a daemon pod",
        "a missing controller blocks even what is safe to evict",
        "safe to evict beats having no controller",
        "safe to evict beats a spent budget",
        "an old system pod beats local storage",
        "a young system pod is told before its storage",
        "not safe to evict is told before storage",
        "storage is told before budgets",
        "a static pod stays behind whatever it says",
        "do not disrupt beats safe to evict",
        "do not disrupt holds for daemon pods, too",
    ],
)
def test_the_first_rule_with_an_opinion_decides(one, changes, expected) -> None:
    assert fate(one, **changes) == expected


def test_the_first_pod_that_must_not_move_is_the_one_that_is_named() -> None:
    drained = drain(pod(name="a"), pod(name="b", owner=""), pod(ON_HOST, name="c"))
    assert str(drained.blocker) == "a pod must not be moved (default/b: NotReplicated)"
    assert drained.move == ()
