"""How rules are asked about a node's pods, and what nodes leave of disruption budgets for others."""

from datetime import timedelta

import pytest
from msgspec.structs import replace
from nodewright.api import DrainRule, PodFate
from nodewright.decision.scaledown.drain.drainability import Drainability
from nodewright.objects import LabelSelector, ObjectMeta, PodDisruptionBudget, Requirement
from nodewright.objects.budget import BudgetSpec, BudgetStatus
from nodewright.testing.builders import a_node, a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world, built_in_drain_rules

NOW = EPOCH + timedelta(hours=2)
ORDINAL = "statefulset.kubernetes.io/pod-name"


class Asked(DrainRule):
    """Notes about whom it was asked, and answers *said*."""

    def __init__(self, said=None, *, alike=False):
        super().__init__(self.Config())
        self.said = said
        self.alike = alike
        self.pods = []
        self.contexts = []

    def judge(self, pod, context):
        self.pods.append(pod)
        self.contexts.append(context)
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


def drainability(*pods, rules=None, budgets=(), controllers=None):
    nodes = [a_node(f"node-{number}") for number in (1, 2, 3)]
    world = a_world(nodes={"": nodes}, pods=pods, budgets=budgets, controllers=controllers)
    policy = a_policy(drain_rules=built_in_drain_rules() if rules is None else rules)
    return Drainability(world, policy, NOW), policy


def on(node, name, **changes):
    return a_pod(name, node=f"node-{node}", **changes)


def a_budget(allowed, *, labels=None, expressions=(), name="budget"):
    selector = LabelSelector(match_labels=labels or {}, match_expressions=expressions)
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=name, namespace="default"),
        spec=BudgetSpec(selector=selector),
        status=BudgetStatus(disruptions_allowed=allowed),
    )


def keys(rows):
    return [row.name for row in rows]


class TestAsking:
    def test_pods_that_are_alike_are_asked_about_once_if_the_rule_says_so(self) -> None:
        rule = Asked(alike=True)
        found, _ = drainability(on(1, "a"), on(1, "b"), on(2, "c"), rules={"asked": rule})
        assert keys(found.of("node-1").move) == ["a", "b"]
        assert keys(found.of("node-2").move) == ["c"]
        assert len(rule.pods) == 1

    def test_each_pod_is_asked_about_if_it_does_not(self) -> None:
        rule = Asked()
        found, _ = drainability(on(1, "a"), on(1, "b", created=NOW), rules={"asked": rule})
        found.of("node-1")
        assert [(pod.metadata.name, pod.metadata.creation_timestamp) for pod in rule.pods] == [
            ("a", EPOCH - timedelta(minutes=1)),
            ("b", NOW),
        ]

    def test_pods_of_other_controllers_are_asked_about_anew(self) -> None:
        rule = Asked(alike=True)
        controllers = {"ReplicaSet": {"default/big": 5}}
        pods = [on(1, "a", owner="ReplicaSet/big"), on(1, "b", owner="ReplicaSet/gone")]
        found, _ = drainability(*pods, rules={"asked": rule}, controllers=controllers)
        found.of("node-1")
        assert [(each.controller.exists, each.controller.replicas) for each in rule.contexts] == [
            (True, 5),
            (False, None),
        ]

    def test_a_rule_that_is_asked_about_each_pod_does_not_make_others_forget(self) -> None:
        special, rule = Asked(alike=True), Asked("InTheWay")
        found, _ = drainability(on(1, "a"), on(2, "b"), rules={"special": special, "asked": rule})
        assert found.of("node-1").blocker.pod == "default/a"
        assert found.of("node-2").blocker.pod == "default/b"

    def test_a_rule_sees_the_pod_as_it_runs(self) -> None:
        rule = Asked()
        pod = on(1, "a", labels={ORDINAL: "a", "app": "web"}, annotations={"nodewright.dev/x": "y", "other": "z"})
        found, _ = drainability(pod, rules={"asked": rule})
        found.of("node-1")
        seen = rule.pods[0]
        assert seen.metadata == replace(pod.metadata, annotations={"nodewright.dev/x": "y"})
        assert (seen.spec.node_name, seen.status.phase) == ("node-1", "Running")

    def test_the_part_of_a_pod_is_what_the_rule_says(self) -> None:
        for said, part in ((PodFate.WAITS, "waits"), (PodFate.MOVES, "move"), (None, "move")):
            found, _ = drainability(on(1, "a"), rules={"asked": Asked(said)})
            assert keys(getattr(found.of("node-1"), part)) == ["a"]


class TestFaults:
    @pytest.mark.parametrize("said", [RuntimeError("no idea"), True, "", "  ", 7])
    def test_a_rule_that_fails_or_answers_nonsense_keeps_the_node_and_is_named(self, said) -> None:
        found, policy = drainability(on(1, "a"), rules={"mine": Asked(said)})
        assert str(found.of("node-1").blocker) == "a pod must not be moved (default/a: drain rule mine failed)"
        assert policy.faults.counts == {("mine", "judge"): 1}

    def test_a_rule_that_fails_keeps_no_node_about_whose_pods_another_has_decided(self) -> None:
        found, _ = drainability(on(1, "a"), rules={"first": Asked(PodFate.MOVES), "mine": Asked(RuntimeError("x"))})
        assert found.of("node-1").blocker is None


class TestBudgets:
    WEB = staticmethod(lambda node, name: on(node, name, labels={"app": "web"}))

    def test_nodes_that_are_taken_use_up_budgets_of_later_ones(self) -> None:
        pods = [self.WEB(1, "a"), self.WEB(2, "b"), self.WEB(3, "c")]
        found, _ = drainability(*pods, budgets=[a_budget(2, labels={"app": "web"})])
        found.spend(found.of("node-1"))
        assert found.of("node-2").blocker is None
        found.spend(found.of("node-2"))
        assert str(found.of("node-3").blocker) == "a pod must not be moved (default/c: NotEnoughPdb)"

    def test_a_node_with_more_pods_than_the_budget_allows_at_a_time_is_risky(self) -> None:
        pods = [self.WEB(1, "a"), self.WEB(1, "b"), self.WEB(2, "c")]
        found, _ = drainability(*pods, budgets=[a_budget(1, labels={"app": "web"})])
        assert found.of("node-1").risky
        assert not found.of("node-2").risky
        found.spend(found.of("node-1"))
        assert found.of("node-2").blocker is not None

    def test_only_pods_that_move_use_up_budgets(self) -> None:
        waiting = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "on-completion"}
        waits = on(1, "a", labels={"app": "web"}, annotations=waiting)
        daemon = on(1, "d", labels={"app": "web"}, owner="DaemonSet/d")
        found, _ = drainability(waits, daemon, self.WEB(2, "b"), budgets=[a_budget(1, labels={"app": "web"})])
        found.spend(found.of("node-1"))
        assert found.of("node-2").blocker is None

    def test_what_is_safe_to_evict_uses_up_budgets_that_it_does_not_need(self) -> None:
        safe = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}
        pods = [on(1, "a", labels={"app": "web"}, annotations=safe), self.WEB(2, "b")]
        found, _ = drainability(*pods, budgets=[a_budget(1, labels={"app": "web"})])
        found.spend(found.of("node-1"))
        assert found.of("node-2").blocker is not None

    @pytest.mark.parametrize(
        ("budget", "blocked"),
        [
            (a_budget(0, labels={"app": "web", "tier": "x"}), False),
            (a_budget(0, labels={"app": "web"}, expressions=(Requirement(key="tier", operator="DoesNotExist"),)), True),
            (a_budget(0, expressions=(Requirement(key="app", operator="In", values=("web",)),)), True),
            (a_budget(0, expressions=(Requirement(key="app", operator="NotIn", values=("web",)),)), False),
            (a_budget(0), True),
            (PodDisruptionBudget(metadata=ObjectMeta(name="none", namespace="default")), False),
        ],
        ids=["labels", "both", "in", "not in", "empty selects all", "none selects nothing"],
    )
    def test_a_budget_covers_what_its_selector_matches(self, budget, blocked) -> None:
        found, _ = drainability(self.WEB(1, "a"), budgets=[budget])
        assert (found.of("node-1").blocker is not None) == blocked

    @pytest.mark.parametrize("by", ["labels", "expressions"])
    def test_a_budget_for_one_pod_of_a_statefulset_covers_no_other(self, by) -> None:
        line = Requirement(key=ORDINAL, operator="In", values=("db-1",))
        budget = a_budget(1, labels={ORDINAL: "db-1"}) if by == "labels" else a_budget(1, expressions=(line,))
        pods = [on(1 + number % 2, f"db-{number}", labels={ORDINAL: f"db-{number}"}) for number in range(4)]
        found, _ = drainability(*pods, budgets=[budget])
        assert not found.of("node-1").budgeted
        found.spend(found.of("node-2"))
        assert found.of("node-1").blocker is None
        assert found.of("node-2").blocker.pod == "default/db-1"
