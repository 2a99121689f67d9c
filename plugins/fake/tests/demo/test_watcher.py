"""What the demo notes of decisions and of how they go."""

from dataclasses import replace

import pytest
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
from nodewright.testing import EPOCH, SteppedClock
from nodewright_fake.demo.log import LineKind, Log
from nodewright_fake.demo.watcher import Cause, Watcher

DECISION = Decision(
    at=EPOCH,
    restore=(Restore(node="n-1", verdict=Verdict(reason=Reason.REMOVAL_FAILED, detail="a pod stayed")),),
    shrink=(Shrink(group="g", count=2, verdict=Verdict(reason=Reason.UNMET_TARGET)),),
    grow=(Grow(group="g", count=3, from_size=1, pods=("a/b",), verdict=Verdict(reason=Reason.CHOSEN, detail="why")),),
    delete=(
        DeleteInstances(group="g", instances=("i-1", "i-2"), verdict=Verdict(reason=Reason.CREATE_FAILED)),
        DeleteInstances(group="g", instances=("i-3",), nodes=("n-3",), verdict=Verdict(reason=Reason.DRAINED)),
    ),
    drain=(Drain(node="n-2", group="g", pods=("a/c",), verdict=Verdict(reason=Reason.MOVABLE)),),
    evict=(Evict(node="n-2", pods={"a/c": 30}),),
    nodes={"n-9": Verdict(reason=Reason.NEEDED)},
)
REFUSED = Outcome(
    at=EPOCH,
    action="evict",
    target="a/c",
    ok=False,
    error="POST /api/v1/namespaces/a/pods/c/eviction: Cannot evict pod.",
    temporary=True,
)


@pytest.fixture
def log():
    return Log(SteppedClock())


@pytest.fixture
def watcher(log):
    return Watcher(log)


def test_every_action_is_told_in_a_line_of_its_kind(watcher, log) -> None:
    watcher.on_decision(DECISION)
    assert [(line.kind, line.text.split(":")[0]) for line in log.after(0)] == [
        (LineKind.TROUBLE, "restore n-1"),
        (LineKind.TROUBLE, "shrink g by 2"),
        (LineKind.GROW, "grow g 1 → 4 for 1 pod"),
        (LineKind.TROUBLE, "delete 2 machines of g"),
        (LineKind.SHRINK, "delete n-3 of g"),
        (LineKind.DRAIN, "drain n-2 of g"),
        (LineKind.DRAIN, "evict 1 pod from n-2"),
    ]


def test_decisions_and_the_nodes_they_are_about_are_counted_by_reason(watcher) -> None:
    watcher.on_decision(DECISION)
    watcher.on_decision(Decision(at=EPOCH, grow=DECISION.grow))
    assert watcher.decisions == {
        Cause(action="restore", reason=Reason.REMOVAL_FAILED): 1,
        Cause(action="shrink", reason=Reason.UNMET_TARGET): 1,
        Cause(action="grow", reason=Reason.CHOSEN): 2,
        Cause(action="delete", reason=Reason.CREATE_FAILED): 1,
        Cause(action="delete", reason=Reason.DRAINED): 1,
        Cause(action="drain", reason=Reason.MOVABLE): 1,
    }
    assert watcher.nodes[Cause(action="grow", reason=Reason.CHOSEN)] == 6
    assert watcher.nodes[Cause(action="delete", reason=Reason.CREATE_FAILED)] == 2


def test_the_latest_verdicts_on_nodes_are_kept(watcher) -> None:
    watcher.on_decision(DECISION)
    assert watcher.verdicts == DECISION.nodes
    watcher.on_decision(Decision(at=EPOCH))
    assert watcher.verdicts == {}


def test_evictions_that_went_well_are_counted_and_not_told(watcher, log) -> None:
    watcher.on_outcome(Outcome(at=EPOCH, action="evict", target="a/c", ok=True))
    watcher.on_outcome(Outcome(at=EPOCH, action="grow", target="g", ok=True))
    assert watcher.evictions == 1
    assert log.after(0) == []


def test_refused_evictions_are_told_together_before_the_next_decision(watcher, log) -> None:
    watcher.on_outcome(REFUSED)
    watcher.on_outcome(replace(REFUSED, target="a/d"))
    assert log.after(0) == []
    watcher.on_decision(Decision(at=EPOCH))
    (line,) = log.after(0)
    assert line.text == "2 evictions refused, to be tried again: Cannot evict pod."
    assert watcher.troubles == {"evictions refused, and tried again": 2}
    assert watcher.evictions == 0


def test_other_failures_are_told_at_once(watcher, log) -> None:
    watcher.on_outcome(Outcome(at=EPOCH, action="grow", target="g", ok=False, error="no stock"))
    (line,) = log.after(0)
    assert (line.kind, line.text) == (LineKind.TROUBLE, "grow g failed, gave up on it: no stock")
    assert watcher.troubles == {"actions that failed: grow": 1}


def test_faults_of_plugins_are_told_and_counted(watcher, log) -> None:
    watcher.on_fault("mine", "best", "ValueError: no")
    assert [line.text for line in log.after(0)] == ["plugin mine failed in best: ValueError: no"]
    assert watcher.troubles == {"faults of plugin mine": 1}
