"""Windows open and shut by the clock of their time zone, also when clocks change."""

from datetime import UTC, datetime, timedelta

import pytest
from nodewright.config.model import Schedule
from nodewright.decision.scaledown.selection.budgets import open_until

BERLIN = "Europe/Berlin"


def schedule(opens, hours, zone=BERLIN):
    return Schedule(from_=opens, for_=timedelta(hours=hours), time_zone=zone)


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def until(opens, hours, now, zone=BERLIN):
    shuts = open_until(schedule(opens, hours, zone), at(now))
    return None if shuts is None else f"{shuts:%m-%d %H:%M}"


@pytest.mark.parametrize(
    ("now", "shuts"),
    [
        ("2030-01-01T07:59:59.999999", None),
        ("2030-01-01T08:00:00", "01-01 17:00"),
        ("2030-01-01T15:59:59.999999", "01-01 17:00"),
        ("2030-01-01T16:00:00", None),
        # In summer, nine in Berlin is seven by UTC.
        ("2030-07-01T07:00:00", "07-01 17:00"),
        ("2030-07-01T06:59:59", None),
        # A Saturday.
        ("2030-01-05T10:00:00", None),
    ],
)
def test_a_window_is_open_from_its_hour_on_for_as_long_as_it_says(now, shuts) -> None:
    assert until("0 9 * * mon-fri", 8, now) == shuts


def test_a_window_that_begins_before_midnight_is_open_after_it() -> None:
    assert until("0 22 * * fri", 12, "2030-01-05T08:59:00") == "01-05 10:00"
    assert until("0 22 * * fri", 12, "2030-01-05T09:00:00") is None


def test_windows_that_follow_each_other_are_one() -> None:
    assert until("0 9,13 * * *", 4, "2030-01-01T09:00:00") == "01-01 17:00"
    assert until("0 9,13 * * *", 3, "2030-01-01T09:00:00") == "01-01 12:00"


def test_a_window_that_would_open_in_the_hour_that_is_left_out_opens_after_it() -> None:
    # On 31 March 2030, two o'clock is three o'clock.
    assert until("30 2 * * *", 1, "2030-03-31T00:59:59") is None
    assert until("30 2 * * *", 1, "2030-03-31T01:00:00") == "03-31 04:00"
    assert until("30 2 * * *", 1, "2030-03-31T02:00:00") is None


def test_a_window_lasts_as_long_when_an_hour_comes_twice() -> None:
    # On 27 October 2030, three o'clock is two o'clock again: the window shuts after three hours, not four.
    assert until("0 1 * * *", 3, "2030-10-26T23:00:00") == "10-27 03:00"
    assert until("0 1 * * *", 3, "2030-10-27T01:59:59") == "10-27 03:00"
    assert until("0 1 * * *", 3, "2030-10-27T02:00:00") is None


def test_a_window_that_opens_in_an_hour_that_comes_twice_opens_the_first_time_and_once() -> None:
    assert until("30 2 * * *", 1, "2030-10-27T00:29:59") is None
    assert until("30 2 * * *", 1, "2030-10-27T00:30:00") == "10-27 02:30"
    # The clock shows a quarter past two again.
    assert until("30 2 * * *", 1, "2030-10-27T01:15:00") == "10-27 02:30"
    assert until("30 2 * * *", 1, "2030-10-27T01:30:00") is None


def test_without_a_time_zone_the_clock_is_that_of_greenwich() -> None:
    assert open_until(Schedule(from_="0 9 * * *", for_=timedelta(hours=1)), at("2030-07-01T09:30:00")) == at(
        "2030-07-01T10:00:00"
    )
