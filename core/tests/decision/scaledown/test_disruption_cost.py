"""What it costs a node's pods that the node goes."""

import pytest
from nodewright.cluster import Cluster
from nodewright.decision.scaledown.selection.disruption import ORDINARY, disruption, pod_disruption
from nodewright.testing.builders import a_pod

COST = "controller.kubernetes.io/pod-deletion-cost"


@pytest.mark.parametrize(
    ("fields", "cost"),
    [
        ({}, ORDINARY),
        ({"priority": 0}, ORDINARY),
        ({"priority": 2**25}, 2 * ORDINARY),
        ({"priority": 1000}, ORDINARY + 4000),
        ({"priority": 2_000_000_000}, 10 * ORDINARY),
        ({"priority": -(2**31)}, 0),
        ({"annotations": {COST: "100"}}, ORDINARY + 100),
        ({"annotations": {COST: "-2147483648"}}, 0),
        ({"annotations": {COST: "a lot"}}, ORDINARY),
        ({"annotations": {COST: str(2**27)}, "priority": 2**25}, 3 * ORDINARY),
    ],
)
def test_a_pod_counts_by_its_priority_and_by_what_its_owner_says(fields, cost) -> None:
    assert pod_disruption(a_pod(**fields)) == cost


def test_a_node_counts_as_a_pod_more() -> None:
    cluster = Cluster()
    for number in range(3):
        cluster.put_pod(a_pod(f"p{number}", node="n", annotations={COST: str(number)}))
    assert disruption(cluster.pods_on("n")) == 4 * ORDINARY + 0 + 1 + 2
    assert disruption(()) == ORDINARY
