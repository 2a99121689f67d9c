"""How many nodes a group may lack, and how many may be unready."""

import pytest
from nodewright.config.model import Health
from nodewright.decision.health.census import AcceptableRange, acceptable_range, cluster_trouble, group_trouble
from nodewright.decision.health.readiness import Readiness
from nodewright.testing.builders import a_group

SETTINGS = Health.model_validate({"okTotalUnreadyCount": 3, "maxTotalUnreadyPercentage": 45})


@pytest.mark.parametrize(
    ("lost", "failed", "in_flight", "leaving", "low", "high"),
    [(0, 0, 0, 0, 10, 10), (2, 0, 0, 0, 8, 10), (0, 2, 0, 0, 8, 10), (1, 1, 3, 2, 5, 12), (0, 0, 12, 0, 0, 10)],
)
def test_the_range_leaves_out_what_will_not_come_and_what_is_on_its_way(
    lost, failed, in_flight, leaving, low, high
) -> None:
    group, readiness = a_group(size=10), Readiness(ready=1, long_unregistered=lost)
    found = acceptable_range(group, readiness, failed=failed, in_flight=in_flight, leaving=leaving)
    assert found == AcceptableRange(min=low, max=high)


@pytest.mark.parametrize(
    ("readiness", "least", "told"),
    [
        (Readiness(ready=5, unready=3), 9, "5 of 9 nodes are in service"),
        (Readiness(ready=3, suspended=2, unready=3), 9, "5 of 9 nodes are in service"),
        (Readiness(ready=4, suspended=2, unready=2), 9, ""),
        (Readiness(ready=6, unready=3), 10, ""),
        (Readiness(unregistered=1), 3, ""),
        (Readiness(), 3, "none of 3 nodes is there"),
        (Readiness(), 0, ""),
    ],
)
def test_a_group_is_in_trouble_if_it_lacks_more_than_a_few_and_more_than_a_part(readiness, least, told) -> None:
    trouble = group_trouble(a_group(size=10), readiness, AcceptableRange(min=least, max=10), SETTINGS)
    assert (trouble.detail if trouble else "") == told


@pytest.mark.parametrize(
    ("ready", "unready", "ill"), [(0, 3, False), (0, 4, True), (5, 4, False), (4, 4, True), (11, 9, False)]
)
def test_a_cluster_is_in_trouble_if_more_than_a_few_and_more_than_a_part_are_unready(ready, unready, ill) -> None:
    assert bool(cluster_trouble(Readiness(ready=ready, unready=unready), SETTINGS)) is ill
