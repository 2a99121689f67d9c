import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nodewright.objects.duration import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("0", 0),
        ("0s", 0),
        ("+5s", 5_000_000),
        ("-5s", -5_000_000),
        ("10m", 600_000_000),
        ("1h30m", 5_400_000_000),
        ("1.5h", 5_400_000_000),
        (".5s", 500_000),
        ("1.s", 1_000_000),
        ("100ms", 100_000),
        ("1m0.5s", 60_500_000),
        ("3us", 3),
        ("3µs", 3),
        ("3μs", 3),
        ("1500ns", 1),
        ("1m1m", 120_000_000),
        ("30s1h", 3_630_000_000),
        ("87600h", 315_360_000_000_000),
    ],
)
def test_a_duration_means_what_go_says(text, microseconds) -> None:
    assert parse_duration(text) == timedelta(microseconds=microseconds)


@pytest.mark.parametrize(
    "text", ["", "10", "m", ".s", "1", "7d", "1 h", "h1", "10m ", "--1s", "1e3s", "٣s", "-", "+", "."]
)
def test_what_is_no_duration_is_quoted_with_an_example(text) -> None:
    words = f'write a duration such as 10m or 1h30m (units: h, m, s, ms), not "{text}"'
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        parse_duration(text)


def test_a_duration_that_go_could_not_hold_is_too_long() -> None:
    parse_duration("2562047h47m16.854775807s")
    with pytest.raises(ValueError, match='"2562048h" is too long: the longest duration is 2562047h'):
        parse_duration("2562048h")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (600, "10m"), (5400, "1h30m"), (90.5, "1m30.5s"), (0.1, "100ms"), (0.0015, "1.5ms"), (0.000007, "7us")],
)
def test_a_duration_is_written_in_few_units(seconds, text) -> None:
    assert format_duration(timedelta(seconds=seconds)) == text


@given(st.timedeltas(min_value=timedelta(days=-100_000), max_value=timedelta(days=100_000)))
def test_a_duration_that_was_written_is_read_as_the_same(duration) -> None:
    assert parse_duration(format_duration(duration)) == duration
