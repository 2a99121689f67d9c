"""What it costs to disturb pods."""

import pytest
from nodewright.scaledown.disruption_cost import pod_cost
from nodewright.testing.builders import a_pod

COST = "controller.kubernetes.io/pod-deletion-cost"


@pytest.mark.parametrize(
    ("fields", "cost"),
    [
        ({}, 1),
        ({"priority": 2**25}, 2),
        ({"priority": 2_000_000_000}, 10),
        ({"annotations": {COST: str(2**26)}}, 1.5),
        ({"annotations": {COST: str(-(2**31))}}, 0),
        ({"priority": 2**26, "annotations": {COST: str(-(2**27))}}, 2),
        ({"annotations": {COST: "cheap"}}, 1),
    ],
)
def test_a_pod_costs_one_moved_by_its_priority_and_deletion_cost_within_bounds(fields, cost):
    assert pod_cost(a_pod(**fields)) == cost
