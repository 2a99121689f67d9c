"""The summary in words and figures."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import Reason
from nodewright_fake.demo.report import report
from nodewright_fake.demo.summary import Bill, Summary, Tally, Trouble, percentile
from nodewright_fake.demo.watcher import Cause

SUMMARY = Summary(
    elapsed=timedelta(minutes=30),
    placed_at_once=7,
    waits=(10.0, 20.0, 30.0, 60.0),
    still_waiting=0,
    first_nodes=2,
    peak_nodes=9,
    last_nodes=2,
    bills=(Bill(group="system", hours=1.0, cost=0.2), Bill(group="spot-market", hours=0.5, cost=0.04)),
    peak_rate=0.96,
    tallies=(
        Tally(cause=Cause(action="grow", reason=Reason.CHOSEN), decisions=2, nodes=7),
        Tally(cause=Cause(action="delete", reason=Reason.EMPTY), decisions=1, nodes=1),
        Tally(cause=Cause(action="delete", reason=Reason.CREATE_FAILED), decisions=3, nodes=4),
    ),
    evictions=1,
    troubles=(Trouble(what="small", times=1), Trouble(what="big", times=12)),
)
REPORT = """\
time       30m00s of the cluster's time
pods       4 pods waited for a node, 7 found one at once
           waiting time: mean 30 s, p50 20 s, p95 60 s, max 60 s
           1 pod moved off nodes that were drained
nodes      2 at the start, 9 at the peak, 2 at the end
cost                    node-hours    cost
           system             1.00  $0.200
           spot-market        0.50  $0.040
           in all             1.50  $0.240
           a static cluster of the size of the peak: $0.480, 50% saved
decisions    3×  delete   CreateFailed: the cloud could not make it (4 nodes)
             1×  delete   Empty: nothing runs on it that would have to move
             2×  grow     Chosen (7 nodes)
failures    12×  big
             1×  small"""


def test_a_report_has_all_figures() -> None:
    assert report(SUMMARY) == REPORT


def test_a_report_of_a_demo_that_was_interrupted_at_once_divides_by_nothing() -> None:
    empty = replace(
        SUMMARY,
        elapsed=timedelta(),
        placed_at_once=0,
        waits=(),
        still_waiting=3,
        bills=(),
        peak_rate=0.0,
        tallies=(),
        evictions=0,
        troubles=(),
    )
    assert report(empty).splitlines()[1:4] == [
        "pods       0 pods waited for a node, 0 found one at once",
        "           3 pods still waiting",
        "           0 pods moved off nodes that were drained",
    ]
    assert report(empty).splitlines()[-2:] == ["decisions  none", "failures   none"]


def test_long_lines_are_wrapped_within_their_column() -> None:
    lines = report(SUMMARY, width=60).splitlines()
    assert max(len(line) for line in lines) <= 60
    assert "             1×  delete   Empty: nothing runs on it that" in lines
    assert "               would have to move" in lines


@pytest.mark.parametrize(("share", "value"), [(0.0, 1), (0.5, 10), (0.95, 19), (0.951, 20), (1.0, 20)])
def test_a_percentile_is_the_smallest_value_that_so_many_do_not_exceed(share, value) -> None:
    assert percentile(range(20, 0, -1), share) == value
