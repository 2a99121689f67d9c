"""Removals are compared in words that do not contradict themselves."""

from datetime import timedelta

import pytest
from nodewright.api import Decision, Reason, Verdict
from nodewright.shadow.observation import Actions, MarkedNode
from nodewright.shadow.removals import NodeViews, RemovalComparison
from nodewright.testing import EPOCH

NOW = EPOCH + timedelta(hours=1)


def judged(verdict, **pauses):
    """What is said of a node that the other one has marked, on which we had a verdict in the loop before."""
    comparison = RemovalComparison(timedelta(minutes=2), settled=EPOCH)
    actions = Actions(at=NOW, began={"n": MarkedNode(group="g", provider_id="x", since=NOW)})
    (judgement,) = comparison.compare(actions, NodeViews(verdicts={"n": verdict}, pauses=pauses), Decision(at=NOW), {})
    return str(judgement)


@pytest.mark.parametrize("reason", [Reason.NOT_LONG_ENOUGH, Reason.NOT_UNREADY_LONG_ENOUGH])
def test_a_node_that_was_about_to_go_is_said_to_go_when_its_time_is_over(reason) -> None:
    told = judged(Verdict(reason=reason, until=NOW + timedelta(seconds=5)))
    assert told == "node n of g: we would remove it at 01:00:05; they removed it, 5s earlier"


def test_so_is_one_that_only_a_pause_kept() -> None:
    told = judged(Verdict(reason=Reason.COOLING_DOWN), g=NOW + timedelta(seconds=5))
    assert told == "node n of g: we would remove it at 01:00:05; they removed it, 5s earlier"


def test_a_node_that_had_long_to_wait_is_said_to_wait_and_why() -> None:
    told = judged(Verdict(reason=Reason.NOT_LONG_ENOUGH, until=NOW + timedelta(minutes=5)))
    assert told == (
        "node n of g: we would wait until 01:05:00 (not unneeded for long enough); they removed it, 5m earlier"
    )
