"""What people are told about groups that do not do as they are told."""

import pytest
from nodewright_aws.autoscaling.processes import can_grow, notes

from .an_aws import a_group

ZONES = ("eu-west-1a", "eu-west-1b")
QUIET = frozenset({"AZRebalance"})


@pytest.mark.parametrize(
    ("settings", "note"),
    [
        ({"suspended_processes": {"Launch"}}, "its process Launch is suspended"),
        ({"suspended_processes": {"Terminate"}}, "its process Terminate is suspended"),
        ({"zones": ZONES}, "it has several zones and AWS may terminate nodes"),
        ({"desired": 12}, "AWS is asked for 12 machines, outside its limits 0 to 10"),
    ],
)
def test_a_set_up_that_people_should_know_of_is_noted(settings, note) -> None:
    (said,) = notes(a_group(**settings))
    assert said.startswith(note)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"zones": ZONES, "suspended_processes": QUIET},
        {"zones": ZONES, "protects_new": True},
        {"zones": ZONES, "tags": {"eks:nodegroup-name": "workers"}},
    ],
)
def test_a_group_that_is_in_order_is_not_talked_of(settings) -> None:
    assert notes(a_group(**settings)) == ()


def test_only_a_suspended_launch_keeps_a_group_from_growing() -> None:
    assert can_grow(a_group(suspended_processes=QUIET))
    assert not can_grow(a_group(suspended_processes=QUIET | {"Launch"}))
