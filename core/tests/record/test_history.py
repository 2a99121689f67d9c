"""What the record of decisions says of one pod."""

import json
from datetime import UTC, datetime

from nodewright.record.history import mentions

AT = datetime(2030, 1, 1, tzinfo=UTC)


def record(**fields):
    return json.dumps({"event": "decided", "at": AT.isoformat(), **fields}).encode()


def told(*lines):
    return [str(each) for each in mentions(lines, "shop/web-1")]


def test_what_was_done_for_a_pod_and_with_it_is_told_in_words() -> None:
    grow = {"action": "grow", "group": "a", "count": 2, "podCount": 1, "pods": ["shop/web-1"], "why": "chosen"}
    drain = {"action": "drain", "group": "a", "node": "n1", "podCount": 1, "pods": ["shop/web-1"], "why": "empty"}
    evict = {"action": "evict", "node": "n1", "podCount": 1, "pods": ["shop/web-1"]}
    assert told(record(actions=[grow]), record(actions=[drain, evict])) == [
        "a was grown by 2 for it: chosen",
        "node n1 was drained with it: empty",
        "it was evicted from node n1",
    ]


def test_what_a_dry_run_would_have_done_is_told_as_such() -> None:
    grow = {"action": "grow", "group": "a", "count": 2, "podCount": 1, "pods": ["shop/web-1"], "why": "chosen"}
    assert told(record(event="compared", wouldDo=[grow])) == ["a would grow by 2 for it: chosen"]


def test_growth_that_does_not_name_all_its_pods_may_have_been_for_it() -> None:
    some = {"action": "grow", "group": "a", "count": 9, "podCount": 30, "pods": ["shop/web-9"], "why": "chosen"}
    all_ = {"action": "grow", "group": "b", "count": 1, "podCount": 1, "pods": ["shop/web-9"], "why": "chosen"}
    assert told(record(actions=[some, all_])) == ["a was grown by 9 for it or for others: chosen"]


def test_damaged_lines_and_others_are_left_out() -> None:
    odd = [b"", b"[]", b"{", b'{"at": 3}', b'{"at": "2030-01-01T00:00:00Z", "actions": 3}', record(halted="x")]
    assert told(*odd) == []
