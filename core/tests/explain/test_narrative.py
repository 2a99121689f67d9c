"""Decisions in words."""

from nodewright.api import (
    Decision,
    DeleteInstances,
    Drain,
    Evict,
    Grow,
    Outcome,
    Reason,
    Restore,
    Shrink,
    Verdict,
)
from nodewright.explain.narrative import describe_actions, describe_failure
from nodewright.testing.clock import EPOCH


def test_every_action_is_one_line_with_its_reason() -> None:
    decision = Decision(
        at=EPOCH,
        restore=(Restore(node="n1", verdict=Verdict(reason=Reason.LEFTOVER)),),
        shrink=(Shrink(group="g", count=2, verdict=Verdict(reason=Reason.UNMET_TARGET)),),
        grow=(
            Grow(
                group="b",
                count=3,
                from_size=1,
                pods=("default/a", "default/b"),
                verdict=Verdict(reason=Reason.CHOSEN, detail="best of 2 options by least-waste"),
            ),
        ),
        delete=(
            DeleteInstances(group="g", instances=("i-1",), nodes=("n2",), verdict=Verdict(reason=Reason.DRAINED)),
            DeleteInstances(group="g", instances=("i-2", "i-3"), verdict=Verdict(reason=Reason.NEVER_REGISTERED)),
        ),
        drain=(
            Drain(
                node="n3",
                group="g",
                pods=("default/a", "default/b"),
                verdict=Verdict(reason=Reason.MOVABLE, detail="2 pods"),
            ),
            Drain(node="n5", group="g", verdict=Verdict(reason=Reason.EMPTY)),
        ),
        evict=(
            Evict(node="n4", pods={"default/a": 30}),
            Evict(node="n6", pods={"default/a": 30, "default/b": 30, "kube-system/c": 30}, daemons=1),
            Evict(node="n7", pods={"kube-system/c": 30, "kube-system/d": 30}, daemons=2),
        ),
        groups={"a": Verdict(reason=Reason.GROUP_BACKED_OFF, detail="StockOut, until 00:05:00")},
    )
    assert describe_actions(decision) == [
        "restore n1: is still marked by a removal that did not finish",
        "shrink g by 2: the cloud did not deliver in time",
        (
            "grow b 1 → 4 for 2 pods: best of 2 options by least-waste"
            " (not a: in backoff after failed scale-up (StockOut, until 00:05:00))"
        ),
        "delete n2 of g: its pods have left",
        "delete 2 machines of g: did not become a node in time",
        "drain n3 of g: all its pods fit elsewhere (2 pods)",
        "remove n5 of g: nothing runs on it that would have to move",
        "evict 1 pod from n4",
        "evict 2 pods and 1 DaemonSet pod from n6",
        "evict 2 DaemonSet pods from n7",
    ]


def test_a_quiet_decision_has_no_lines() -> None:
    assert describe_actions(Decision(at=EPOCH)) == []
    assert Decision(at=EPOCH).quiet


def test_a_failure_says_whether_it_will_be_tried_again() -> None:
    failed = Outcome(at=EPOCH, action="grow", target="g", ok=False, error="throttled", temporary=True)
    assert describe_failure(failed) == "grow g failed, will be tried again: throttled"


def test_what_could_not_be_tried_is_not_said_to_have_failed() -> None:
    error = "not tried: shed asked for fewer calls until 12:00:05"
    waiting = Outcome(at=EPOCH, action="grow", target="g", ok=False, error=error, temporary=True, tried=False)
    assert describe_failure(waiting) == "grow g was not tried: shed asked for fewer calls until 12:00:05"


def test_a_refused_eviction_is_always_tried_again() -> None:
    refused = Outcome(at=EPOCH, action="evict", target="default/x", ok=False, error="denied")
    assert describe_failure(refused) == "evict default/x failed, will be tried again: denied"
