"""Nodes are taken out of random worlds as a plain implementation does it: same homes, same pods without one."""

from collections import Counter

import pytest

from .relocation import PlainRelocation, disagreements, random_case

_CASES = 1200
_AT_ONCE = 100


@pytest.mark.parametrize("first", range(0, _CASES, _AT_ONCE))
def test_nodes_are_taken_out_as_a_plain_implementation_does_it(first) -> None:
    """Who goes where, who has no place, and what pods that come later are told."""
    for seed in range(first, first + _AT_ONCE):
        assert list(disagreements(random_case(seed))) == [], seed


def test_the_cases_are_varied_enough_to_test_something(monkeypatch) -> None:
    seen = Counter()
    remove = PlainRelocation.remove

    def watched(self, node, tenants, wished):
        choosy = sum(pod.key in self.choosy for pod in tenants)
        outcome = remove(self, node, tenants, wished)
        seen["stays"] += outcome.homeless is not None
        if outcome.homeless is None:
            seen["goes with choosy pods"] += choosy > 0
            seen["goes with plain pods"] += choosy < len(tenants)
            seen["goes with both"] += 0 < choosy < len(tenants)
            seen["goes with guests"] += len(outcome.homes) > len(tenants)
            seen["wishes come true"] += any(name in outcome.homes.values() for name, _ in wished)
        return outcome

    monkeypatch.setattr(PlainRelocation, "remove", watched)
    for seed in range(600):
        assert list(disagreements(random_case(seed))) == []
    assert {what: count for what, count in seen.items() if count < 20} == {}
