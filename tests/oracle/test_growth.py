"""Decisions to grow are right in random worlds: legal, within limits, not too large, and leaving out nobody."""

from collections import Counter

import pytest

from .growth import decided, faults, random_case

_CASES = 200
_AT_ONCE = 25


@pytest.mark.parametrize("first", range(0, _CASES, _AT_ONCE))
def test_a_decision_to_grow_is_right_in_the_case_of_every_seed(first) -> None:
    """Every pod that is told so has a place, no limit is broken, no node is idle, no pod waits without need.

    And the decision leaves no trace in the cluster, and comes out the same again.
    """
    for seed in range(first, first + _AT_ONCE):
        assert list(faults(random_case(seed))) == [], seed


def test_the_cases_are_varied_enough_to_test_something() -> None:
    decisions = [decided(random_case(seed)) for seed in range(_CASES)]
    said = Counter(verdict.reason.name for decision in decisions for verdict in decision.pods.values())
    assert {"FITS", "HELPED", "NO_GROUP_FITS", "WAITING", "LIMIT_NODES", "LIMIT_RESOURCES"} <= said.keys()
    assert sum(bool(decision.grow) for decision in decisions) > 30
    assert sum(len(decision.grow) > 1 for decision in decisions) > 5
