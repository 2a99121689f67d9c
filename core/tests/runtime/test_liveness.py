"""The health check fails when no loop begins, or none ends well, for too long."""

import pytest
from nodewright.config.model import Loop
from nodewright.runtime.liveness import Liveness

MINUTE = 60


class Life:
    """Liveness, and the seconds that pass for it."""

    def __init__(self, **limits):
        self.now = 1000.0
        self.liveness = Liveness(Loop(**limits), now=lambda: self.now)

    def loops(self, minutes, *, well=True):
        """Begin a loop every minute for so long, and end it well or not."""
        for _ in range(minutes):
            self.liveness.began()
            self.now += MINUTE
            if well:
                self.liveness.ended_well()

    def pause(self, minutes):
        self.now += minutes * MINUTE

    @property
    def trouble(self):
        return self.liveness.trouble()


@pytest.fixture
def life():
    return Life()


def test_a_replica_that_does_not_lead_is_well(life) -> None:
    life.pause(1000)
    assert life.trouble == ""


def test_one_that_leads_is_well_while_loops_begin_and_end_well(life) -> None:
    life.loops(100)
    life.pause(9)
    assert life.trouble == ""


def test_no_loop_for_ten_minutes_is_trouble(life) -> None:
    life.loops(3)
    life.pause(10)
    assert life.trouble == "no loop began for 660 s (at most 600 s are allowed)"
    life.liveness.began()
    assert life.trouble == ""


def test_no_good_loop_for_fifteen_minutes_is_trouble(life) -> None:
    life.loops(1)
    life.loops(15, well=False)
    assert life.trouble == ""
    life.loops(1, well=False)
    assert life.trouble == "no loop ended well for 960 s (at most 900 s are allowed)"
    life.liveness.ended_well()
    assert life.trouble == ""


def test_both_are_told(life) -> None:
    life.loops(1)
    life.pause(16)
    assert life.trouble == (
        "no loop began for 1020 s (at most 600 s are allowed); no loop ended well for 960 s (at most 900 s are allowed)"
    )


def test_the_first_good_loop_may_take_longer(life) -> None:
    life.liveness.began()
    life.pause(20)
    assert life.trouble == ""
    life.pause(1)
    limit = "for 1260 s (at most 1200 s are allowed)"
    assert life.trouble == f"no loop began {limit}; no loop ended well {limit}"


def test_the_first_good_loop_counts_from_the_first_try(life) -> None:
    life.loops(21, well=False)
    assert life.trouble == "no loop ended well for 1260 s (at most 1200 s are allowed)"


def test_the_first_good_loop_has_at_least_as_long_as_any_other() -> None:
    life = Life(maxStartupTime="1m", maxFailingTime="30m")
    life.liveness.began()
    life.pause(30)
    assert life.trouble == ""
    life.pause(1)
    assert life.trouble != ""


def test_other_limits_hold_at_once(life) -> None:
    life.loops(1)
    life.pause(5)
    life.liveness.loop = Loop(maxInactivity="2m")
    assert life.trouble == "no loop began for 360 s (at most 120 s are allowed)"
