"""Why a node stays, what it would take, and since when."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import Reason
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import LastVerdict, Memory, UnneededMemory, VerdictMemory
from nodewright.explain.documents import group_document
from nodewright.explain.explanation import UnknownError, explain_group, explain_node, explain_pod
from nodewright.explain.look import Look
from nodewright.explain.overview import overview
from nodewright.objects import LabelSelector, ObjectMeta, PodDisruptionBudget
from nodewright.objects.budget import BudgetSpec, BudgetStatus
from nodewright.testing import EPOCH
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
BUSY = a_pod("busy", node="n0", cpu="3")


def look_at(*pods, budgets=(), memory=None, now=NOW, settings=None, others=(), **node):
    nodes = [a_node("n0", provider_id="fake://a-0"), a_node("n1", provider_id="fake://a-1", **node), *others]
    world = a_world(groups=[a_group("a", size=len(nodes))], nodes={"a": nodes}, pods=[BUSY, *pods], budgets=budgets)
    decision, memory, findings = decide(world, memory or Memory(), a_policy(settings), now, in_depth=True)
    return Look(world=world, decision=decision, memory=memory, findings=findings)


def test_a_pod_that_keeps_a_node_is_named_with_the_reason_and_the_remedy() -> None:
    assert explain_node(look_at(a_pod("alone", node="n1", owner="")), "n1") == [
        "node n1 of group a",
        "  stays: a pod must not be moved (default/alone: NotReplicated) [BlockedByPod]",
        "  pod default/alone: no controller of a known kind would recreate it",
        (
            "  what it would take: give default/alone a controller, "
            'or the annotation cluster-autoscaler.kubernetes.io/safe-to-evict: "true"; '
            "for controllers of any kind, turn scaleDown.skipCustomControllerPods off"
        ),
        "  utilization: 2% of its cpu",
    ]


def test_what_was_found_is_shown_while_the_node_is_not_examined_again() -> None:
    pod = a_pod("alone", node="n1", owner="")
    memory = look_at(pod).memory
    lines = explain_node(look_at(pod, memory=memory, now=NOW + timedelta(minutes=2)), "n1")
    assert lines[1:4] == [
        "  stays: could not be removed a short while ago (until 01:05:00) [RecentlyUnremovable]",
        "  what was found then: a pod must not be moved (default/alone: NotReplicated) [BlockedByPod]",
        "  pod default/alone: no controller of a known kind would recreate it",
    ]
    assert "  BlockedByPod since 2030-01-01 01:00:00" in lines


def test_a_removal_that_failed_is_told_with_what_failed_when_and_when_the_node_has_its_next_turn() -> None:
    failed = LastVerdict(
        reason=Reason.REMOVAL_FAILED, since=NOW, detail="default/web could not be evicted in 2 minutes"
    )
    memory = Memory(
        unneeded=UnneededMemory(unremovable_until={"n1": NOW + timedelta(minutes=5)}),
        verdicts=VerdictMemory(last={"n1": failed}),
    )
    lines = explain_node(look_at(memory=memory, now=NOW + timedelta(minutes=1)), "n1")
    assert lines[1:5] == [
        "  stays: could not be removed a short while ago (until 01:05:00) [RecentlyUnremovable]",
        "  what was found then: its removal failed (default/web could not be evicted in 2 minutes) [ScaleDownFailed]",
        "  what it would take: what failed has to work; the node is looked at again at 01:05:00",
        "  ScaleDownFailed since 2030-01-01 01:00:00",
    ]


def test_a_spent_budget_is_named() -> None:
    budgets = [
        PodDisruptionBudget(
            metadata=ObjectMeta(name=name, namespace="default"),
            spec=BudgetSpec(selector=LabelSelector(match_labels={"app": app})),
            status=BudgetStatus(disruptions_allowed=allowed),
        )
        for name, app, allowed in (("web", "web", 0), ("roomy", "web", 1), ("db", "db", 0))
    ]
    lines = explain_node(look_at(a_pod("web", node="n1", labels={"app": "web"}), budgets=budgets), "n1")
    assert lines[2:4] == [
        "  pod default/web: its disruption budgets are spent, or will be by nodes that may go first",
        (
            "  what it would take: more ready replicas beside default/web, "
            "or a PodDisruptionBudget that allows to evict one: default/web"
        ),
    ]


def test_a_budget_that_nodes_share_lets_one_go_after_the_other() -> None:
    budget = PodDisruptionBudget(
        metadata=ObjectMeta(name="web", namespace="default"),
        spec=BudgetSpec(selector=LabelSelector(match_labels={"app": "web"})),
        status=BudgetStatus(disruptions_allowed=1),
    )
    pods = [a_pod(f"web-{node}", node=node, labels={"app": "web"}) for node in ("n1", "n2")]
    look = look_at(*pods, budgets=[budget], others=[a_node("n2", provider_id="fake://a-2")])
    (waits,) = (name for name, verdict in look.decision.nodes.items() if verdict.reason is Reason.BLOCKED_BY_POD)
    assert explain_node(look, waits)[3] == (
        "  what it would take: nothing but time: nodes that may go first take up what its PodDisruptionBudgets allow"
    )


def test_a_node_in_use_has_to_be_used_less() -> None:
    settings = Settings.model_validate({"groups": [{"match": "a", "scaleDown": {"utilizationThreshold": 0.6}}]})
    lines = explain_node(look_at(settings=settings), "n0")
    assert lines[1:3] == [
        "  stays: its utilization is above the threshold (75% of 60%) [NotUnderutilized]",
        "  what it would take: its utilization has to fall to 60%, or scaleDown.utilizationThreshold to be higher",
    ]


def test_an_unneeded_node_says_when_it_may_go_and_one_that_goes_needs_nothing() -> None:
    memory = Memory(unneeded=UnneededMemory(since={"n1": NOW - timedelta(minutes=4)}))
    lines = explain_node(look_at(memory=memory), "n1")
    assert lines[1:] == [
        "  stays: not unneeded for long enough (until 01:06:00, unneeded since 00:56:00) [NotUnneededLongEnough]",
        "  what it would take: nothing but time: it may go at 01:06:00 if it is not needed before",
        "  unneeded since 2030-01-01 00:56:00",
        "  utilization: 0% of its memory",
    ]
    lines = explain_node(look_at(memory=memory, now=NOW + timedelta(minutes=6, seconds=1)), "n1")
    assert lines[1:3] == [
        "  goes: nothing runs on it that would have to move [Empty]",
        "  unneeded since 2030-01-01 00:56:00",
    ]


@pytest.mark.parametrize("reason", list(Reason))
def test_every_advice_can_be_filled_in(reason) -> None:
    reason.advice.format(pod="p", until="u", group="g", minimum=1, threshold="50%", budgets="")


def test_an_unneeded_node_says_where_its_pods_would_go() -> None:
    pods = [a_pod(name, node="n1", cpu="100m") for name in ("x", "y")]
    assert "  its pods would go to: n0" in explain_node(look_at(*pods), "n1")


def test_a_group_counts_its_nodes_by_the_reason_why_they_stay() -> None:
    lines = explain_group(look_at(a_pod("alone", node="n1", owner="")), "a")
    assert [line for line in lines if "of its nodes" in line] == [
        "  1 of its nodes: its utilization is above the threshold [NotUnderutilized]",
        "  1 of its nodes: a pod must not be moved [BlockedByPod]",
    ]


@pytest.mark.parametrize(
    ("pools", "expected"),
    [
        (("a/large",), []),
        (("a/large", "b/large"), ["  machines come from: a/large, b/large"]),
        (tuple("abcdefghijkl"), ["  machines come from: a, b, c, d, e, f, g, h, i, j and 2 more"]),
    ],
    ids=["one", "two", "many"],
)
def test_a_group_of_several_pools_names_them(pools, expected) -> None:
    world = a_world(groups=[replace(a_group("a", size=1), pools=pools)])
    decision, memory, findings = decide(world, Memory(), a_policy(), NOW, in_depth=True)
    lines = explain_group(Look(world=world, decision=decision, memory=memory, findings=findings), "a")
    assert lines[0] == "group a of provider fake: 1 node wanted, 0 to 10 allowed"
    assert [line for line in lines if "come from" in line] == expected


def test_an_overview_sums_nodes_up_by_reason_and_says_for_how_long() -> None:
    pod = a_pod("alone", node="n1", owner="")
    memory = look_at(pod).memory
    _, tables = overview(look_at(pod, memory=memory, now=NOW + timedelta(minutes=2)))
    reasons, nodes = tables[-2:]
    assert reasons[1:] == [("1", "NotUnderutilized", "n0"), ("1", "BlockedByPod: NotReplicated", "n1")]
    assert [row[3] for row in nodes[1:]] == ["2m", "2m"]


def while_unreadable(*faults, **world):
    world = replace(a_world(**world), unreadable=dict(faults))
    decision, memory, findings = decide(world, Memory(), a_policy(), NOW, in_depth=True)
    return Look(world=world, decision=decision, memory=memory, findings=findings)


SHED = ("shed", "no answer within 60 s")
BARN = ("barn", "the gate is shut")


def test_a_node_without_a_known_group_may_be_of_a_provider_that_cannot_be_read() -> None:
    look = while_unreadable(SHED, groups=[a_group("a", size=1)], nodes={"a": [a_node("n0")], "": [a_node("n1")]})
    assert explain_node(look, "n1") == [
        "node n1",
        "  stays: it is not known whether it belongs to a group [NotAutoscaled]",
        "  provider shed can't be read: no answer within 60 s; it may have a group of this node",
    ]
    assert not [line for line in explain_node(look, "n0") if "shed" in line]


def test_a_node_without_a_group_belongs_to_none_if_all_providers_can_be_read() -> None:
    look = while_unreadable(groups=[a_group("a", size=1)], nodes={"a": [a_node("n0")], "": [a_node("n1")]})
    assert explain_node(look, "n1")[1] == "  stays: belongs to no group [NotAutoscaled]"


@pytest.mark.parametrize(
    ("faults", "message"),
    [
        (
            [SHED],
            (
                "group pool is not known: provider shed can't be read: no answer within 60 s; "
                "it may have a group of this name"
            ),
        ),
        (
            [SHED, BARN],
            (
                "group pool is not known: provider shed can't be read: no answer within 60 s; "
                "provider barn can't be read: the gate is shut; one of them may have a group of this name"
            ),
        ),
        ([], "there is no group pool"),
    ],
    ids=["one provider", "two providers", "none"],
)
def test_a_group_that_is_not_known_may_be_of_a_provider_that_cannot_be_read(faults, message) -> None:
    with pytest.raises(UnknownError) as raised:
        explain_group(while_unreadable(*faults, groups=[a_group("a", size=1)]), "pool")
    assert str(raised.value) == message


def test_room_that_a_cloud_tells_of_is_no_promise() -> None:
    group = replace(a_group("pool", size=1), available=7)
    assert "  room for 7 more, as far as its cloud tells beforehand" in explain_group(
        while_unreadable(groups=[group]), "pool"
    )


def test_a_group_whose_id_is_a_url_goes_by_the_last_part_of_it() -> None:
    groups = [a_group(f"https://cloud/{place}", size=1) for place in ("a/web", "a/jobs", "b/jobs")]
    look = while_unreadable(groups=groups)

    assert explain_group(look, "web") == explain_group(look, "https://cloud/a/web")
    assert group_document(look, "web")["name"] == "https://cloud/a/web"
    with pytest.raises(UnknownError, match="group jobs: name one of https://cloud/a/jobs, https://cloud/b/jobs"):
        explain_group(look, "jobs")
    with pytest.raises(UnknownError, match=r"there is no group wbe: did you mean web\?"):
        explain_group(look, "wbe")


def test_a_group_that_can_not_be_read_is_told_with_its_limits_and_the_cause() -> None:
    group = replace(a_group("pool", size=0, template=None), min_size=1, max_size=5, error="the gate is shut")
    assert explain_group(while_unreadable(groups=[group]), "pool")[:2] == [
        "group pool of provider fake: size not known, 1 to 5 allowed",
        "  it can't be read, so it is left alone: the gate is shut",
    ]


def test_a_pod_that_no_group_helps_names_the_providers_whose_groups_are_not_known() -> None:
    known = replace(a_group("a", provider="barn"), error="the gate is shut")
    look = while_unreadable(SHED, BARN, groups=[known], pods=[a_pod("web", cpu="8"), a_pod("fits", cpu="1")])
    told = [line for line in explain_pod(look, "default/web") if "can't be read" in line]
    assert told == ["  provider shed can't be read: no answer within 60 s; its groups are not known"]


def test_an_overview_has_the_names_of_groups_whose_ids_are_urls_unless_they_share_one() -> None:
    web, jobs, others = (f"https://cloud/{place}" for place in ("a/web", "a/jobs", "b/jobs"))
    nodes = {web: [a_node("n0")], "": [a_node("n1")]}
    world = while_unreadable(groups=[a_group(each, size=1) for each in (web, jobs, others)], nodes=nodes)

    _, (groups, *_, verdicts) = overview(world)
    assert {row[0] for row in groups[1:]} == {"web", jobs, others}
    assert [row[1] for row in verdicts[1:]] == ["web", "-"]


def test_an_overview_names_providers_that_cannot_be_read() -> None:
    lines, _ = overview(while_unreadable(SHED))
    assert "provider shed can't be read: no answer within 60 s" in lines
