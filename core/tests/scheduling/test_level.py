"""Filling domains level by level."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from nodewright.scheduling.placement import fill_by_level

DOMAINS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), min_size=1, max_size=4)


def one_by_one(counts, capacity, skew, wanted):
    """How many pods go if each goes to a lowest domain with room that the skew allows: no order places more."""
    counts, capacity, placed = list(counts), list(capacity), 0
    while placed < wanted:
        open_ = [d for d in range(len(counts)) if capacity[d] and counts[d] + 1 - min(counts) <= skew]
        if not open_:
            break
        lowest = min(open_, key=lambda d: counts[d])
        counts[lowest] += 1
        capacity[lowest] -= 1
        placed += 1
    return placed


def fill(domains, skew, wanted):
    counts = np.array([count for count, _ in domains])
    capacity = np.array([room for _, room in domains])
    return counts, capacity, fill_by_level(counts, capacity, np.ones(len(domains), dtype=bool), skew, wanted)


@given(DOMAINS, st.integers(1, 3), st.integers(1, 20))
def test_as_many_pods_go_as_one_by_one(domains, skew, wanted) -> None:
    counts, capacity, filled = fill(domains, skew, wanted)
    assert filled.sum() == one_by_one(counts, capacity, skew, wanted)
    assert (filled <= capacity).all()
    assert (filled >= 0).all()


@given(DOMAINS, st.integers(1, 3), st.integers(1, 20))
def test_the_skew_holds_at_every_step_in_the_order_of_levels(domains, skew, wanted) -> None:
    counts, _, filled = fill(domains, skew, wanted)
    steps = sorted((counts[d] + number + 1, d) for d in range(len(counts)) for number in range(filled[d]))
    for reached, domain in steps:
        assert reached - counts.min() <= skew
        counts[domain] += 1
