"""For which reason each node stays, and since when, is remembered."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import Reason, Verdict
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import LastVerdict, Memory, Removal, RemovalMemory, VerdictMemory
from nodewright.testing import EPOCH
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.worlds import a_policy, a_world

LATER = EPOCH + timedelta(minutes=7)
BLOCKED = Verdict(reason=Reason.BLOCKED_BY_POD, pod="default/web", cause=Reason.NOT_REPLICATED)


def noted(verdicts, last, failed=()):
    return VerdictMemory(last=last).noted(verdicts, failed, LATER).last


def after(verdict, *, known, failed=()):
    last = {"n": LastVerdict(reason=known.reason, since=EPOCH, pod=known.pod, cause=known.cause)}
    return noted({"n": verdict}, last, failed)["n"]


def test_a_node_that_is_seen_for_the_first_time_stands_so_since_now() -> None:
    assert noted({"n": BLOCKED}, {}) == {
        "n": LastVerdict(reason=Reason.BLOCKED_BY_POD, since=LATER, pod="default/web", cause="NotReplicated")
    }


def test_a_reason_that_holds_on_keeps_its_time_though_its_details_change() -> None:
    needed = Verdict(reason=Reason.NEEDED, detail="71% of 50%")
    assert after(replace(needed, detail="72% of 50%"), known=needed).since == EPOCH


def test_another_reason_has_a_time_of_its_own() -> None:
    assert after(Verdict(reason=Reason.EMPTY), known=BLOCKED) == LastVerdict(reason=Reason.EMPTY, since=LATER)


def test_another_pod_in_the_way_is_named_but_the_node_is_blocked_for_as_long() -> None:
    other = after(replace(BLOCKED, pod="default/db", cause=Reason.LOCAL_STORAGE), known=BLOCKED)
    assert (other.since, other.pod, other.cause) == (EPOCH, "default/db", "LocalStorageRequested")


@pytest.mark.parametrize("known", [BLOCKED, Verdict(reason=Reason.NO_PLACE, pod="default/web")])
def test_a_node_that_is_not_looked_at_for_a_while_stays_for_the_reason_that_was_found(known) -> None:
    assert after(Verdict(reason=Reason.RECENTLY_UNREMOVABLE), known=known).reason is known.reason


def test_a_node_that_there_was_no_time_for_stands_as_before() -> None:
    assert after(Verdict(reason=Reason.NOT_EXAMINED), known=Verdict(reason=Reason.EMPTY)).reason is Reason.EMPTY


def test_a_removal_that_failed_is_why_a_node_was_not_removed_a_short_while_ago() -> None:
    going = Verdict(reason=Reason.BEING_DELETED)
    recently = Verdict(reason=Reason.RECENTLY_UNREMOVABLE)
    failed = Verdict(reason=Reason.REMOVAL_FAILED, pod="default/web")
    verdict = after(recently, known=going, failed=[("n", failed)])
    assert verdict == LastVerdict(reason=Reason.REMOVAL_FAILED, since=LATER, pod="default/web")
    assert after(recently, known=failed).reason is Reason.REMOVAL_FAILED


def test_a_removal_that_fails_again_has_failed_just_now_and_for_its_own_reason() -> None:
    failed = Verdict(reason=Reason.REMOVAL_FAILED, detail="the disk is full")
    verdict = after(Verdict(reason=Reason.BEING_DELETED), known=failed, failed=[("n", replace(failed, detail="again"))])
    assert (verdict.since, verdict.detail) == (LATER, "again")


def test_nodes_that_are_gone_or_in_no_group_any_more_are_forgotten() -> None:
    last = {name: LastVerdict(reason=Reason.EMPTY, since=EPOCH) for name in ("gone", "stray", "here")}
    verdicts = {"stray": Verdict(reason=Reason.NOT_OURS), "here": Verdict(reason=Reason.EMPTY)}
    assert noted(verdicts, last) == {"here": last["here"]}


def test_last_are_the_same_value_while_nothing_changes() -> None:
    memory = VerdictMemory(last={"n": LastVerdict(reason=Reason.NEEDED, since=EPOCH)})
    assert memory.noted({"n": Verdict(reason=Reason.NEEDED, detail="90%")}, (), LATER) is memory


class TestInADecision:
    def world(self, *pods, ready=True):
        nodes = [a_node(f"n{number}", provider_id=f"fake://a-{number}", ready=ready) for number in range(2)]
        return a_world(groups=[a_group("a", size=2)], nodes={"a": nodes}, pods=pods)

    def test_a_blocked_node_is_blocked_since_it_was_found_to_be(self) -> None:
        world = self.world(a_pod("busy", node="n0", cpu="3"), a_pod("alone", node="n1", owner=""))
        memory = Memory()
        for minute in range(8):
            decision, memory, _ = decide(world, memory, a_policy(), EPOCH + timedelta(minutes=minute))
        assert decision.nodes["n1"].reason is Reason.RECENTLY_UNREMOVABLE
        assert memory.verdicts.last == {
            "n0": LastVerdict(reason=Reason.NEEDED, since=EPOCH),
            "n1": LastVerdict(reason=Reason.BLOCKED_BY_POD, since=EPOCH, pod="default/alone", cause="NotReplicated"),
        }

    def test_nothing_is_forgotten_while_the_cluster_is_unwell(self) -> None:
        settings = Settings.model_validate({"health": {"okTotalUnreadyCount": 0}})
        known = Memory(verdicts=VerdictMemory(last={"n0": LastVerdict(reason=Reason.NEEDED, since=EPOCH)}))
        decision, memory, _ = decide(self.world(ready=False), known, a_policy(settings), EPOCH + timedelta(days=1))
        assert decision.halted is not None
        assert memory.verdicts.last == known.verdicts.last

    def test_a_node_that_goes_stands_so(self) -> None:
        removal = Removal(group="a", provider_id="fake://a-1", started=EPOCH, deleted_at=EPOCH)
        _, memory, _ = decide(self.world(), Memory(leaving=RemovalMemory(removals={"n1": removal})), a_policy(), LATER)
        assert memory.verdicts.last["n1"] == LastVerdict(reason=Reason.BEING_DELETED, since=LATER)
