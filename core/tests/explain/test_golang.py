"""Values are printed as Go prints them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from nodewright.explain.golang import go_duration, go_float, go_quoted, go_time, go_yaml, rfc3339

NOON = datetime(2030, 1, 2, 12, 0, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (NOON, "2030-01-02 12:00:05 +0000 UTC"),
        (NOON.replace(microsecond=546_750), "2030-01-02 12:00:05.54675 +0000 UTC"),
        (NOON.replace(microsecond=1), "2030-01-02 12:00:05.000001 +0000 UTC"),
        (NOON.astimezone(timezone(timedelta(hours=2))), "2030-01-02 12:00:05 +0000 UTC"),
    ],
)
def test_times_have_a_fraction_only_where_they_need_one(time, expected) -> None:
    assert go_time(time) == expected
    assert rfc3339(time) == "2030-01-02T12:00:05Z"


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        (timedelta(0), "0s"),
        (timedelta(microseconds=5), "5µs"),
        (timedelta(milliseconds=1.5), "1.5ms"),
        (timedelta(seconds=1.25), "1.25s"),
        (timedelta(minutes=15, seconds=10), "15m10s"),
        (timedelta(hours=26), "26h0m0s"),
        (timedelta(seconds=-90), "-1m30s"),
    ],
)
def test_durations_have_the_largest_unit_first(span, expected) -> None:
    assert go_duration(span) == expected


def test_numbers_and_names_are_as_in_formatted_texts() -> None:
    assert [go_float(number) for number in (0.0, 1.0, 0.25, 1 / 3)] == ["0", "1", "0.25", "0.3333333333333333"]
    assert go_quoted('a "b"\\\n') == r'"a \"b\"\\\n"'


def test_yaml_is_sorted_and_lists_are_no_deeper_than_their_key() -> None:
    assert (
        go_yaml({"b": [{"u": 1, "t": "2030-01-01T00:00:00Z"}, "z"], "a": {"c": {}, "d": None, "e": []}, "0": "on"})
        == """\
"0": "on"
a:
  c: {}
  d: null
  e: []
b:
- t: "2030-01-01T00:00:00Z"
  u: 1
- z
"""
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("pool-1", "pool-1"),
        ("eu-a/c5.large", "eu-a/c5.large"),
        ("2030-01-01 00:00:00 +0000 UTC", "2030-01-01 00:00:00 +0000 UTC"),
        ("https://cloud/pools/a", "https://cloud/pools/a"),
        ("no room: it's full", "'no room: it''s full'"),
        ("12", '"12"'),
        ("", '""'),
        ("two\nlines", r'"two\nlines"'),
    ],
)
def test_texts_are_quoted_only_where_they_could_be_taken_for_something_else(text, written) -> None:
    assert go_yaml({"key": text}) == f"key: {written}\n"


@given(st.text())
def test_any_text_is_read_back_as_it_was(text) -> None:
    assert yaml.safe_load(go_yaml({"key": text, "more": [text]})) == {"key": text, "more": [text]}
