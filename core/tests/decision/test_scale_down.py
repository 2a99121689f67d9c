"""How a decision takes nodes away."""

from dataclasses import replace
from datetime import timedelta
from itertools import permutations

import msgspec
import pytest
from nodewright.api import Decision, Instance, InstanceState, Outcome, Plugin, Reason, Taint, Verdict, hookimpl
from nodewright.config.model import ScaleDown, Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import (
    Changes,
    CooldownMemory,
    Memory,
    OrderMemory,
    Removal,
    RemovalMemory,
    ScaleUpRequest,
    UnneededMemory,
)
from nodewright.objects import LabelSelector, ObjectMeta, PodDisruptionBudget
from nodewright.objects.budget import BudgetSpec, BudgetStatus
from nodewright.testing.builders import a_group, a_node, a_pod, a_template
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
LONG_AGO = NOW - timedelta(minutes=30)
TO_BE_DELETED = Taint(key="ToBeDeletedByClusterAutoscaler", value="0")


def group_of(count, **fields):
    return a_group("a", size=count, **fields)


def nodes(count, **fields):
    return {"a": [a_node(f"n{number}", provider_id=f"fake://a-{number}", **fields) for number in range(count)]}


def unneeded(*names):
    return Memory(unneeded=UnneededMemory(since=dict.fromkeys(names, LONG_AGO)))


def decide_on(world, memory=None, policy=None, now=NOW):
    return decide(world, memory or Memory(), policy or a_policy(), now)[:2]


def busy(node, cpu="3"):
    return a_pod(f"busy-{node}", node=node, cpu=cpu)


def test_an_empty_node_has_to_be_unneeded_for_long_enough() -> None:
    world = a_world(groups=[group_of(2)], nodes=nodes(2), pods=[busy("n0")])
    decision, memory = decide_on(world)
    assert not decision.drain
    assert decision.nodes["n1"].reason is Reason.NOT_LONG_ENOUGH
    assert decision.nodes["n0"].reason is Reason.NEEDED
    assert str(decision.nodes["n0"]) == "its utilization is above the threshold (75% of 50%)"
    assert str(decision.nodes["n1"]).endswith("(until 01:10:00, unneeded since 01:00:00)")
    not_yet, memory = decide_on(world, memory, now=NOW + timedelta(minutes=10))
    assert not not_yet.drain
    later, memory = decide_on(world, memory, now=NOW + timedelta(minutes=10, seconds=1))
    assert [drain.node for drain in later.drain] == ["n1"]
    assert memory.leaving.removals["n1"].provider_id == "fake://a-1"


def growing_at_its_minimum(minimum=1):
    """Group a, with one node that is hardly used, grows for a pod that needs a whole node; b has room for the rest."""
    groups = [
        a_group("a", size=1, min_size=minimum, template=a_template(cpu="4")),
        a_group("b", size=1, max_size=1, template=a_template(cpu="1")),
    ]
    pods = [a_pod("small", node="n0"), a_pod("busy", cpu="800m", node="other"), a_pod("large", cpu="4")]
    return a_world(
        groups=groups, nodes={**nodes(1), "b": [a_node("other", cpu="1", provider_id="fake://b-0")]}, pods=pods
    )


def test_a_group_that_grows_is_at_its_minimum_by_the_size_that_it_gets() -> None:
    decision, memory = decide_on(growing_at_its_minimum())
    assert [(grow.group, grow.count) for grow in decision.grow] == [("a", 1)]
    assert decision.nodes["n0"].reason is Reason.NOT_LONG_ENOUGH
    assert memory.unneeded.since == {"n0": NOW}


def test_a_group_that_grows_to_its_minimum_keeps_its_nodes() -> None:
    decision, memory = decide_on(growing_at_its_minimum(minimum=2))
    assert str(decision.nodes["n0"]) == "its group is at its minimum size (2 of 2)"
    assert memory.unneeded.since == {}


def test_no_node_goes_below_the_minimum_for_an_order_that_may_be_refused() -> None:
    policy = a_policy(Settings(scale_down=ScaleDown(delay_after_add=timedelta(0))))
    decision, _ = decide_on(growing_at_its_minimum(), unneeded("n0"), policy)
    assert not decision.drain
    assert decision.nodes["n0"].reason is Reason.GROUP_AT_MIN


def test_a_node_that_is_needed_again_starts_over() -> None:
    world = a_world(groups=[group_of(1)], nodes=nodes(1), pods=[busy("n0")])
    _, memory = decide_on(world, unneeded("n0"))
    assert memory.unneeded.since == {}


def test_a_node_keeps_its_time_while_its_group_can_not_be_read() -> None:
    unread = replace(group_of(2), error="throttled")
    world = a_world(groups=[unread], nodes=nodes(2), pods=[busy("n0")])
    decision, memory = decide_on(world, unneeded("n1"))
    assert decision.nodes["n1"].reason is Reason.GROUP_FAULTY
    assert memory.unneeded.since == {"n1": LONG_AGO}


def test_pods_of_an_underused_node_must_fit_elsewhere() -> None:
    small = a_pod("small", node="n1", cpu="1")
    roomy = a_world(groups=[group_of(2)], nodes=nodes(2), pods=[busy("n0"), small])
    decision, _ = decide_on(roomy, unneeded("n1"))
    assert decision.drain[0].pods == ("default/small",)
    full = a_world(groups=[group_of(2)], nodes=nodes(2), pods=[busy("n0", cpu="3500m"), small])
    decision, memory = decide_on(full, unneeded("n1"))
    assert str(decision.nodes["n1"]) == "a pod fits nowhere else (default/small)"
    assert memory.unneeded.unremovable_until["n1"] == NOW + timedelta(minutes=5)


class TestANodeThatCouldNotGo:
    """Until its time is over, it is looked at again only if what kept it does not any more."""

    def then(self, before, after):
        """Return the verdict on a node a minute after the pods on it were found to keep it."""
        _, memory = decide_on(a_world(groups=[group_of(2)], nodes=nodes(2), pods=[busy("n0", cpu="3500m"), *before]))
        world = a_world(groups=[group_of(2)], nodes=nodes(2), pods=[busy("n0", cpu="3500m"), *after])
        decision, memory = decide_on(world, memory, now=NOW + timedelta(minutes=1))
        # What was found is not overruled by what was remembered before.
        decision, _ = decide_on(world, memory, now=NOW + timedelta(minutes=1, seconds=10))
        return decision.nodes["n1"].reason

    @pytest.mark.parametrize("kept", [a_pod("x", node="n1", owner=""), a_pod("x", node="n1", cpu="1")])
    def test_is_left_alone_while_the_pod_stays(self, kept) -> None:
        assert self.then([kept], [kept]) is Reason.RECENTLY_UNREMOVABLE
        assert self.then([kept, a_pod("y", node="n1", cpu="10m")], [kept]) is Reason.RECENTLY_UNREMOVABLE

    @pytest.mark.parametrize("kept", [a_pod("x", node="n1", owner=""), a_pod("x", node="n1", cpu="1")])
    def test_is_looked_at_again_once_the_pod_has_gone(self, kept) -> None:
        assert self.then([kept], []) is Reason.NOT_LONG_ENOUGH

    def test_is_looked_at_again_once_the_pod_may_move(self) -> None:
        safe = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}
        alone = [a_pod("x", node="n1", owner="", cpu="10m", annotations=each) for each in ({}, safe)]
        assert self.then(alone[:1], alone[1:]) is Reason.NOT_LONG_ENOUGH

    @pytest.mark.parametrize("size", ["1", "1500m"])
    def test_is_left_alone_while_a_pod_would_come_from_another_node_that_could_go(self, size) -> None:
        pods = [a_pod("x", node="n0", cpu=size), a_pod("y", node="n1", cpu="1")]
        world = a_world(groups=[group_of(2)], nodes=nodes(2), pods=pods)
        first, memory = decide_on(world)
        (kept,) = (name for name, verdict in first.nodes.items() if verdict.reason is Reason.NO_PLACE)
        for minute in (1, 2):
            decision, memory = decide_on(world, memory, now=NOW + timedelta(minutes=minute))
            assert decision.nodes[kept].reason is Reason.RECENTLY_UNREMOVABLE

    def test_is_looked_at_again_once_the_pod_is_on_a_node_that_stays(self) -> None:
        # As pods of a StatefulSet, it keeps its name.
        before, after = (a_pod("x", node=node, cpu=cpu) for node, cpu in (("n1", "1"), ("n0", "100m")))
        assert self.then([before], [after]) is Reason.NOT_LONG_ENOUGH

    def test_is_looked_at_again_once_budgets_can_be_seen(self) -> None:
        world = a_world(groups=[group_of(2)], nodes=nodes(2), pods=[busy("n0"), a_pod("x", node="n1", cpu="10m")])
        world.cluster.see_budgets(False)
        decision, memory = decide_on(world)
        assert decision.nodes["n1"].reason is Reason.BUDGETS_UNSEEN
        world.cluster.see_budgets(True)
        decision, _ = decide_on(world, memory, now=NOW + timedelta(minutes=1))
        assert decision.nodes["n1"].reason is Reason.NOT_LONG_ENOUGH


def test_a_node_whose_machine_the_cloud_deletes_is_not_removed_as_well() -> None:
    machines = [Instance(id="fake://a-0", state=InstanceState.DELETING)]
    world = a_world(groups=[group_of(1, instances=machines)], nodes=nodes(1))
    decision, memory = decide_on(world, unneeded("n0"))
    assert not decision.drain
    assert decision.nodes["n0"].reason is Reason.BEING_DELETED
    assert memory.unneeded.since == {}


def test_no_pod_is_moved_to_a_node_whose_machine_the_cloud_deletes() -> None:
    machines = [Instance(id="fake://a-0", state=InstanceState.DELETING)]
    world = a_world(groups=[group_of(2, instances=machines)], nodes=nodes(2), pods=[a_pod("x", node="n1")])
    decision, _ = decide_on(world, unneeded("n1"))
    assert str(decision.nodes["n1"]) == "a pod fits nowhere else (default/x)"


def test_a_pod_that_may_take_for_ever_to_end_is_never_taken_for_gone() -> None:
    pod = a_pod("x", node="n0")
    meta = msgspec.structs.replace(pod.metadata, deletion_timestamp=EPOCH)
    spec = msgspec.structs.replace(pod.spec, termination_grace_period_seconds=2**62)
    pod = msgspec.structs.replace(pod, metadata=meta, spec=spec)
    decision, _ = decide_on(a_world(groups=[group_of(1)], nodes=nodes(1), pods=[pod]))
    assert str(decision.nodes["n0"]) == "a pod fits nowhere else (default/x)"


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_order_in_which_nodes_came_makes_no_difference(order) -> None:
    come = [a_node(f"n{number}", provider_id=f"fake://a-{number}") for number in order]
    pods = [a_pod(f"small-n{number}", node=f"n{number}", cpu="1") for number in range(3)]
    world = a_world(groups=[group_of(3, min_size=1)], nodes={"a": come}, pods=pods)
    decision, _ = decide_on(world, unneeded("n0", "n1", "n2"))
    assert {name: verdict.reason for name, verdict in decision.nodes.items()} == {
        "n0": Reason.MOVABLE,
        "n1": Reason.BUDGET,
        "n2": Reason.NO_PLACE,
    }


def test_two_nodes_do_not_count_on_the_same_room() -> None:
    pods = [busy("n0"), a_pod("x", node="n1", cpu="1"), a_pod("y", node="n2", cpu="1")]
    settings = Settings.model_validate({"scaleDown": {"maxDrainParallelism": 5}})
    world = a_world(groups=[group_of(3)], nodes=nodes(3, cpu="4"), pods=pods)
    decision, _ = decide_on(world, unneeded("n1", "n2"), a_policy(settings))
    # n1's pod takes the last cpu of n0; n2's pod would fit on n1, which goes.
    assert [drain.node for drain in decision.drain] == ["n1"]
    assert decision.nodes["n2"] == Verdict(reason=Reason.NO_PLACE, pod="default/y")


def test_nodes_of_one_loop_share_disruption_budgets() -> None:
    pods = [busy("n0"), *(a_pod(f"web-{n}", node=f"n{n}", labels={"app": "web"}) for n in (1, 2))]
    world = a_world(groups=[group_of(3)], nodes=nodes(3), pods=pods, budgets=[a_budget(1, app="web")])
    decision, memory = decide_on(world)
    assert decision.nodes["n1"].reason is Reason.NOT_LONG_ENOUGH
    assert decision.nodes["n2"] == Verdict(
        reason=Reason.BLOCKED_BY_POD, pod="default/web-2", cause=Reason.NOT_ENOUGH_BUDGET
    )
    assert list(memory.unneeded.since) == ["n1"]


def test_a_node_waits_for_pods_that_have_to_complete_before_it_goes() -> None:
    waiting = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "on-completion"}
    batch = a_pod("batch", node="n1", annotations=waiting)
    world = a_world(groups=[group_of(2)], nodes=nodes(2), pods=[busy("n0"), batch])
    decision, memory = decide_on(world, unneeded("n1"))
    assert not decision.drain
    assert decision.nodes["n1"] == Verdict(reason=Reason.BLOCKED_ON_COMPLETION, pod="default/batch")
    assert memory.unneeded.since == {"n1": LONG_AGO}
    world.cluster.drop_pod("default/batch")
    decision, _ = decide_on(world, memory)
    assert [drain.node for drain in decision.drain] == ["n1"]


def test_a_removal_ends_that_meets_a_pod_that_has_to_complete() -> None:
    waiting = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "on-completion"}
    batch = a_pod("batch", node="n1", annotations=waiting)
    world = a_world(groups=[group_of(2)], nodes=nodes(2, taints=[TO_BE_DELETED]), pods=[busy("n0"), batch])
    removal = Removal(group="a", provider_id="fake://a-1", started=LONG_AGO)
    decision, memory = decide_on(world, Memory(leaving=RemovalMemory(removals={"n1": removal})))
    assert not decision.delete
    restored = {restore.node: str(restore.verdict) for restore in decision.restore}
    assert "default/batch has to complete before" in restored["n1"]
    assert not memory.leaving.removals


def test_a_pod_that_moves_to_a_node_that_goes_too_has_to_find_a_place_again() -> None:
    settings = Settings.model_validate({"scaleDown": {"maxDrainParallelism": 5}})
    pods = [a_pod("x", node="n0", cpu="1"), a_pod("y", node="n1", cpu="1")]
    world = a_world(groups=[group_of(2)], nodes=nodes(2, cpu="4"), pods=pods)
    decision, _ = decide_on(world, unneeded("n0", "n1"), a_policy(settings))
    # x may go to n1, but then n1 can't go as well.
    assert [drain.node for drain in decision.drain] == ["n0"]
    assert str(decision.nodes["n1"]).startswith("a pod fits nowhere else")


def test_a_pending_pod_that_fits_keeps_the_node_it_needs() -> None:
    world = a_world(groups=[group_of(1)], nodes=nodes(1), pods=[a_pod("waiting", cpu="1")])
    decision, _ = decide_on(world, unneeded("n0"))
    assert decision.pods["default/waiting"].reason is Reason.FITS
    assert not decision.drain


def test_a_group_never_shrinks_below_its_minimum() -> None:
    world = a_world(groups=[group_of(3, min_size=2)], nodes=nodes(3))
    decision, _ = decide_on(world, unneeded("n0", "n1", "n2"))
    assert len(decision.drain) == 1
    at_minimum = a_world(groups=[group_of(2, min_size=2)], nodes=nodes(2))
    decision, _ = decide_on(at_minimum, unneeded("n0", "n1"))
    assert {verdict.reason for verdict in decision.nodes.values()} == {Reason.GROUP_AT_MIN}


def test_only_so_many_nodes_go_at_once() -> None:
    settings = Settings.model_validate({"scaleDown": {"maxParallelism": 2}})
    world = a_world(groups=[group_of(5)], nodes=nodes(5))
    decision, memory = decide_on(world, unneeded(*(f"n{number}" for number in range(5))), a_policy(settings))
    assert len(decision.drain) == 2
    assert sum(verdict.reason is Reason.BUDGET for verdict in decision.nodes.values()) == 3
    decision, _ = decide_on(world, memory, a_policy(settings))
    assert not decision.drain


@pytest.mark.parametrize(
    ("memory", "why"),
    [
        (
            Memory(cooldown=CooldownMemory(cluster=Changes(grown=NOW - timedelta(minutes=9)))),
            "until 01:01:00, after a scale-up",
        ),
        (
            Memory(cooldown=CooldownMemory(cluster=Changes(stuck=NOW - timedelta(minutes=2)))),
            "until 01:01:00, after a failed removal",
        ),
    ],
)
def test_scale_down_pauses_after_a_change(memory, why) -> None:
    memory = replace(memory, unneeded=replace(memory.unneeded, since={"n0": LONG_AGO}))
    decision, _ = decide_on(a_world(groups=[group_of(1)], nodes=nodes(1)), memory)
    assert not decision.drain
    assert str(decision.nodes["n0"]) == f"scale-down pauses after a recent change ({why})"


def test_delays_may_hold_for_the_group_that_grew_alone() -> None:
    settings = Settings.model_validate({"scaleDown": {"delayPerGroup": True}})
    groups = [a_group("a", size=1), a_group("b", size=1)]
    members = {name: [a_node(f"{name}0", provider_id=f"fake://{name}-0", labels={"pool": name})] for name in "ab"}
    pods = [busy("a0"), a_pod("waiting", cpu="3", node_selector={"pool": "a"})]
    groups[0] = replace(groups[0], template=a_template(labels={"pool": "a"}))
    world = a_world(groups=groups, nodes=members, pods=pods)
    first, memory = decide_on(world, unneeded("b0"), a_policy(settings))
    assert [grow.group for grow in first.grow] == ["a"]
    assert [drain.node for drain in first.drain] == ["b0"]
    assert memory.cooldown.groups == {"a": Changes(grown=NOW)}
    together, _ = decide_on(world, unneeded("b0"))
    assert not together.drain


def test_nodes_of_no_group_and_marked_nodes_stay() -> None:
    world = a_world(
        groups=[group_of(1)],
        nodes={
            "": [a_node("mine")],
            "a": [a_node("n0", annotations={"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"})],
        },
    )
    decision, _ = decide_on(world, unneeded("mine", "n0"))
    assert decision.nodes["mine"].reason is Reason.NOT_OURS
    assert decision.nodes["n0"].reason is Reason.SCALE_DOWN_DISABLED


def a_budget(allowed, **labels):
    return PodDisruptionBudget(
        metadata=ObjectMeta(name="budget", namespace="default"),
        spec=BudgetSpec(selector=LabelSelector(match_labels=labels)),
        status=BudgetStatus(disruptions_allowed=allowed),
    )


@pytest.mark.parametrize(
    ("pod", "why"),
    [
        ({"owner": ""}, "NotReplicated"),
        ({"owner": "Custom/thing"}, "NotReplicated"),
        ({"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}}, "NotSafeToEvictAnnotation"),
        ({"namespace": "kube-system", "created": NOW - timedelta(minutes=59)}, "UnmovableKubeSystemPod"),
        ({"labels": {"app": "guarded"}}, "NotEnoughPdb"),
    ],
)
def test_a_pod_that_must_not_move_keeps_its_node(pod, why) -> None:
    pod = a_pod("web", node="n1", **pod)
    world = a_world(groups=[group_of(2)], nodes=nodes(2), pods=[busy("n0"), pod], budgets=[a_budget(0, app="guarded")])
    decision, _ = decide_on(world, unneeded("n1"))
    assert not decision.drain
    verdict = decision.nodes["n1"]
    assert (verdict.reason, verdict.pod, verdict.cause) == (Reason.BLOCKED_BY_POD, pod.key, why)
    assert str(verdict) == f"a pod must not be moved ({pod.key}: {why})"


@pytest.mark.parametrize(
    "pod",
    [
        {"owner": "", "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}},
        {"namespace": "kube-system", "created": NOW - timedelta(minutes=61)},
        {"owner": "DaemonSet/agent"},
        {"owner": "", "annotations": {"kubernetes.io/config.mirror": "x"}},
    ],
)
def test_other_pods_do_not(pod) -> None:
    world = a_world(groups=[group_of(2)], nodes=nodes(2), pods=[busy("n0"), a_pod("web", node="n1", **pod)])
    decision, _ = decide_on(world, unneeded("n1"))
    assert [drain.node for drain in decision.drain] == ["n1"]


class Keep(Plugin):
    @hookimpl
    def veto_scale_down(self, node, group):
        return "it is my favourite" if node.name == "n0" else None


class Broken(Plugin):
    @hookimpl
    def veto_scale_down(self, node, group):
        raise RuntimeError("oops")


def test_a_veto_keeps_a_node_and_a_broken_veto_keeps_all() -> None:
    world = a_world(groups=[group_of(2)], nodes=nodes(2))
    decision, _ = decide_on(world, unneeded("n0", "n1"), a_policy(hooks={"keep": Keep(Keep.Config())}))
    assert [drain.node for drain in decision.drain] == ["n1"]
    assert str(decision.nodes["n0"]) == "a plugin vetoed it (keep: it is my favourite)"
    decision, _ = decide_on(world, unneeded("n0", "n1"), a_policy(hooks={"broken": Broken(Broken.Config())}))
    assert not decision.drain


class TestRemovalsUnderWay:
    """A drain goes one step per loop, from what the cluster and memory say."""

    def leaving(self, *pods, deleted=False):
        node = a_node("n1", provider_id="fake://a-1", taints=[TO_BE_DELETED], unschedulable=True)
        instances = [Instance(id="fake://a-0", state=InstanceState.RUNNING)]
        state = InstanceState.DELETING if deleted else InstanceState.RUNNING
        instances.append(Instance(id="fake://a-1", state=state))
        return a_world(
            groups=[group_of(2, instances=instances)], nodes={"a": [*nodes(1)["a"], node]}, pods=[busy("n0"), *pods]
        )

    def started(self):
        world = a_world(groups=[group_of(2)], nodes=nodes(2), pods=[busy("n0"), a_pod("x", node="n1")])
        _, memory = decide_on(world, unneeded("n1"))
        return memory

    def test_nothing_is_evicted_before_the_taint_has_settled(self) -> None:
        decision, _ = decide_on(self.leaving(a_pod("x", node="n1")), self.started(), now=NOW + timedelta(seconds=4))
        assert decision.quiet

    def test_then_pods_are_evicted_with_their_own_grace(self) -> None:
        decision, _ = decide_on(self.leaving(a_pod("x", node="n1")), self.started(), now=NOW + timedelta(seconds=5))
        assert decision.evict[0].pods == {"default/x": 30}

    def test_pods_that_leave_bring_a_node_if_those_that_wait_take_the_room(self) -> None:
        pods = [a_pod("x", node="n1", cpu="1"), a_pod("waiting", cpu="1")]
        decision, _ = decide_on(self.leaving(*pods), self.started(), now=NOW + timedelta(seconds=5))
        assert decision.pods["default/waiting"].reason is Reason.FITS
        assert decision.pods["default/x"].reason is Reason.HELPED

    def test_an_eviction_that_is_refused_is_tried_again_every_ten_seconds(self) -> None:
        world = self.leaving(a_pod("x", node="n1"))
        memory, evictions = self.started(), []
        for second in range(5, 40):
            decision, memory = decide_on(world, memory, now=NOW + timedelta(seconds=second))
            evictions += [second for _ in decision.evict]
        assert evictions == [5, 15, 25, 35]

    def test_a_pod_that_never_leaves_ends_the_drain(self) -> None:
        world = self.leaving(a_pod("x", node="n1"))
        _, memory = decide_on(world, self.started(), now=NOW + timedelta(seconds=5))
        decision, memory = decide_on(world, memory, now=NOW + timedelta(minutes=3))
        assert str(decision.restore[0].verdict) == "its removal failed (default/x could not be evicted in 3 minutes)"
        assert memory.leaving.removals == {}
        assert memory.cooldown.cluster.stuck == NOW + timedelta(minutes=3)
        assert memory.unneeded.unremovable_until["n1"] == NOW + timedelta(minutes=8)

    def test_what_happens_to_a_node_is_remembered_of_its_group(self) -> None:
        deleted = NOW + timedelta(seconds=5)
        _, memory = decide_on(self.leaving(), self.started(), now=deleted)
        assert memory.cooldown.groups == {"a": Changes(shrunk=deleted)}
        lost = Outcome(at=NOW, action="delete-instances", target="n1", ok=False, error="no right to do that")
        _, memory = decide_on(replace(self.leaving(), outcomes=(lost,)), memory, now=deleted + timedelta(seconds=5))
        assert memory.cooldown.groups == {"a": Changes(shrunk=deleted, stuck=deleted + timedelta(seconds=5))}
        elsewhere = a_world(groups=[a_group("b", size=1)])
        _, memory = decide_on(elsewhere, memory, now=deleted + timedelta(seconds=10))
        assert memory.cooldown.groups == {}

    def test_an_empty_node_is_deleted_once(self) -> None:
        memory = self.started()
        decision, memory = decide_on(self.leaving(), memory, now=NOW + timedelta(seconds=5))
        assert (decision.delete[0].instances, decision.delete[0].nodes) == (("fake://a-1",), ("n1",))
        decision, memory = decide_on(self.leaving(deleted=True), memory, now=NOW + timedelta(seconds=6))
        assert decision.quiet
        gone = a_world(groups=[group_of(1)], nodes=nodes(1), pods=[busy("n0")])
        _, memory = decide_on(gone, memory, now=NOW + timedelta(seconds=7))
        assert memory.leaving.removals == {}

    def failing(self, world, action, target="n1"):
        outcome = Outcome(at=NOW, action=action, target=target, ok=False, error="no right to do that")
        return replace(world, outcomes=(outcome,))

    @pytest.mark.parametrize(
        ("action", "what"),
        [("drain", "it could not be marked"), ("delete-instances", "its machine could not be deleted")],
    )
    def test_a_step_that_fails_undoes_the_removal(self, action, what) -> None:
        memory = self.started()
        if action == "delete-instances":
            _, memory = decide_on(self.leaving(), memory, now=NOW + timedelta(seconds=5))
        decision, memory = decide_on(self.failing(self.leaving(), action), memory, now=NOW + timedelta(seconds=6))
        assert str(decision.restore[0].verdict) == f"its removal failed ({what}: no right to do that)"
        assert memory.leaving.removals == {}

    def test_a_node_whose_deletion_was_put_off_says_what_it_waits_for(self) -> None:
        _, memory = decide_on(self.leaving(), self.started(), now=NOW + timedelta(seconds=5))
        until = NOW + timedelta(seconds=30)
        outcome = Outcome(at=NOW, action="delete-instances", target="n1", ok=False, error="too many calls")
        outcome = replace(outcome, temporary=True, group="a", not_before=until)
        world = replace(self.leaving(), outcomes=(outcome,))
        decision, memory = decide_on(world, memory, now=NOW + timedelta(seconds=6))
        why = "is being deleted (the cloud is asked once more at 01:00:30: too many calls)"
        assert (str(decision.nodes["n1"]), decision.again) == (why, until)
        decision, memory = decide_on(self.leaving(), memory, now=until)
        assert (len(decision.delete), str(decision.nodes["n1"])) == (1, "is being deleted")

    def test_a_pod_that_must_not_move_and_came_late_ends_the_drain(self) -> None:
        late = a_pod("late", node="n1", owner="")
        decision, _ = decide_on(self.leaving(late), self.started(), now=NOW + timedelta(seconds=5))
        assert decision.restore[0].node == "n1"

    def test_a_mark_left_by_an_earlier_life_is_taken_off(self) -> None:
        decision, _ = decide_on(self.leaving(a_pod("x", node="n1")), Memory())
        assert [restore.node for restore in decision.restore] == ["n1"]
        assert decision.restore[0].verdict.reason is Reason.LEFTOVER

    def test_a_machine_that_is_deleted_though_the_answer_was_an_error_keeps_its_mark(self) -> None:
        memory = self.started()
        _, memory = decide_on(self.leaving(), memory, now=NOW + timedelta(seconds=5))
        lost = Outcome(at=NOW, action="delete-instances", target="n1", ok=False, error="no answer", temporary=True)
        world = replace(self.leaving(deleted=True), outcomes=(lost,))
        decision, memory = decide_on(world, memory, now=NOW + timedelta(seconds=15))
        assert decision.quiet
        assert memory.leaving.removals.keys() == {"n1"}

    def test_a_mark_stays_while_a_machine_is_deleted_on_the_order_of_an_earlier_life(self) -> None:
        decision, _ = decide_on(self.leaving(deleted=True), Memory())
        assert not decision.restore

    @pytest.mark.parametrize("failed", [True, False])
    def test_a_mark_stays_while_the_group_can_not_be_read(self, failed) -> None:
        _, memory = decide_on(self.leaving(), self.started(), now=NOW + timedelta(seconds=5))
        world = self.leaving()
        lost = Outcome(at=NOW, action="delete-instances", target="n1", ok=False, error="no answer", temporary=True)
        world = replace(
            world,
            groups=tuple(replace(facts, error="cloud down") for facts in world.groups),
            outcomes=(lost,) if failed else (),
        )
        decision, _ = decide_on(world, memory if failed else Memory(), now=NOW + timedelta(seconds=15))
        assert not decision.restore

    def test_a_decision_and_the_memory_survive_json(self) -> None:
        decision, memory = decide_on(
            self.leaving(a_pod("x", node="n1")), self.started(), now=NOW + timedelta(seconds=5)
        )
        assert msgspec.json.decode(msgspec.json.encode(decision), type=Decision) == decision
        assert Memory.from_json(memory.to_json()) == memory


def test_a_group_at_its_minimum_but_for_what_is_deleted_now_keeps_its_last_node() -> None:
    world = a_world(groups=[group_of(2, min_size=1)], nodes=nodes(2, taints=[TO_BE_DELETED]))
    removal = Removal(group="a", provider_id="fake://a-0", started=LONG_AGO)
    decision, _ = decide_on(world, replace(unneeded("n1"), leaving=RemovalMemory(removals={"n0": removal})))
    assert [delete.nodes for delete in decision.delete] == [("n0",)]
    assert not decision.drain
    assert decision.nodes["n1"].reason is Reason.GROUP_AT_MIN


def test_a_group_at_its_minimum_but_for_orders_that_are_given_up_keeps_its_last_node() -> None:
    there = Instance(id="fake://a-0", state=InstanceState.RUNNING)
    world = a_world(groups=[group_of(3, min_size=1, instances=[there])], nodes=nodes(1))
    request = ScaleUpRequest(at=LONG_AGO, count=2)
    decision, _ = decide_on(world, replace(unneeded("n0"), orders=OrderMemory(requests={"a": request})))
    assert [(shrink.group, shrink.count) for shrink in decision.shrink] == [("a", 2)]
    assert not decision.drain


def test_drains_are_counted_from_their_beginning() -> None:
    settings = Settings.model_validate({"scaleDown": {"maxDrainParallelism": 1, "delayAfterTaint": "60s"}})
    policy = replace(a_policy(), settings=settings)
    pods = [busy("n0"), a_pod("x", node="n1", cpu="100m"), a_pod("y", node="n2", cpu="100m")]
    world = a_world(groups=[group_of(3)], nodes=nodes(3), pods=pods)
    first, memory = decide_on(world, unneeded("n1", "n2"), policy)
    second, _ = decide_on(world, memory, policy, NOW + timedelta(seconds=10))
    assert (len(first.drain), len(second.drain)) == (1, 0)


class TestAGroupThatIsUsedWhole:
    SETTINGS = Settings.model_validate({"groups": [{"match": "a", "zeroOrMax": True}]})

    def decided(self, world, memory, **scale_down):
        settings = self.SETTINGS.model_copy(update={"scale_down": ScaleDown(**scale_down)})
        return decide_on(world, memory, replace(a_policy(), settings=settings))[0]

    def test_goes_when_none_of_its_nodes_is_needed(self) -> None:
        world = a_world(groups=[group_of(3)], nodes=nodes(3))
        decision = self.decided(world, unneeded("n0", "n1", "n2"))
        assert sorted(drain.node for drain in decision.drain) == ["n0", "n1", "n2"]

    def test_stays_as_long_as_one_of_them_is(self) -> None:
        world = a_world(groups=[group_of(3)], nodes=nodes(3), pods=[busy("n0")])
        decision = self.decided(world, unneeded("n1", "n2"))
        assert not decision.drain
        assert str(decision.nodes["n1"]).endswith("not all of its nodes can go (2 of 3 could go)")

    def test_does_not_go_by_halves_for_the_sake_of_a_budget_or_a_minimum(self) -> None:
        memory = unneeded("n0", "n1", "n2")
        budget = self.decided(a_world(groups=[group_of(3)], nodes=nodes(3)), memory, max_parallelism=0)
        assert {verdict.reason for verdict in budget.nodes.values()} == {Reason.BUDGET}
        minimum = self.decided(a_world(groups=[group_of(3, min_size=1)], nodes=nodes(3)), memory)
        assert {verdict.reason for verdict in minimum.nodes.values()} == {Reason.GROUP_AT_MIN}
        assert not budget.drain
        assert not minimum.drain
