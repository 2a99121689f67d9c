"""A cloud that asks for fewer calls is asked less, and what it has put off is done in the end."""

import pytest
from nodewright_fake.cloud.api_fault import ApiFault, ApiFaultKind

from tests.end_to_end.scenarios import a_group, a_scenario

FIRST, OTHER = "first-choice", "fallback"
SHRINKING = "scaleDown: {unneededTime: 30s, delayAfterAdd: 30s}"


def throttle(life, operations, retry_after=None, times=1):
    fault = ApiFault(ApiFaultKind.THROTTLED, operations=operations, times=times, retry_after=retry_after)
    life.world.cloud.gate.add(fault)


def calls(life, operation):
    return life.world.cloud.gate.calls.get(operation, 0)


def calls_in_each_loop(life, operation, loops):
    """How often the cloud was called in each of so many loops, ten seconds apart."""
    counts = []
    for _ in range(loops):
        before = calls(life, operation)
        life.go_on(10)
        counts.append(calls(life, operation) - before)
    return counts


def test_a_cloud_that_is_read_too_often_is_not_read_for_as_long_as_it_asked(begin) -> None:
    life = begin()
    life.go_on(10)
    throttle(life, "snapshot", retry_after=30)
    assert calls_in_each_loop(life, "snapshot", 5) == [1, 0, 0, 1, 1]
    life.until(lambda: len(life.pods("Running")) == 4)
    assert (life.ordered(FIRST), life.ordered(OTHER)) == (1, 0)


def test_pods_get_nodes_of_another_group_while_one_must_not_be_asked(begin) -> None:
    life = begin(most_nodes=1)
    throttle(life, "increase", retry_after=600)
    life.go_on(20)
    assert life.sizes() == {OTHER: 1}
    decision = life.diary.decisions[1]
    assert str(decision.groups[FIRST]).startswith("its cloud asked for fewer calls (until ")
    life.until(lambda: len(life.pods("Running")) == 4)
    assert life.autoscaler.memory.health.backoffs == {}


@pytest.mark.parametrize("killed_after", [None, 1, 2], ids=["one life", "killed at once", "killed a loop later"])
def test_a_group_is_not_asked_again_before_the_time_whoever_asks(begin, killed_after) -> None:
    life = begin(a_scenario(a_group("pool")))
    throttle(life, "increase", retry_after=35)
    counts = []
    for loop in range(1, 6):
        counts += calls_in_each_loop(life, "increase", 1)
        if loop == 2:
            told = life.told_to_pods("NotTriggerScaleUp")
        if loop == killed_after:
            life.start_again()
    assert counts == [1, 0, 0, 0, 1]
    assert all("1 its cloud asked for fewer calls (until " in message for message in told)
    life.until(lambda: len(life.pods("Running")) == 4)
    assert life.ordered("pool") == 1


def two_halves(begin):
    life = begin(a_scenario(a_group("pool", max=5, desired=2), replicas=4), SHRINKING)
    life.until(lambda: len(life.pods("Running")) == 4)
    return life


def restored(life):
    return [line for line in life.diary.lines if " restore " in line]


@pytest.mark.parametrize("killed", [False, True])
def test_a_drained_node_whose_deletion_is_put_off_goes_without_moving_its_pods_twice(begin, killed) -> None:
    life = two_halves(begin)
    throttle(life, "delete-instances", retry_after=35)
    life.until(lambda: calls(life, "delete-instances"))
    (going,) = life.marked
    if killed:
        life.start_again()
    assert calls_in_each_loop(life, "delete-instances", 4)[:3] == [0, 0, 0]
    assert calls(life, "delete-instances") == 2
    life.until(lambda: len(life.nodes) == 1)
    assert going not in life.nodes
    assert restored(life) == []
    assert len([line for line in life.diary.lines if " drain " in line]) == 1


def test_a_node_whose_deletion_is_put_off_twice_is_put_back(begin) -> None:
    life = two_halves(begin)
    throttle(life, "delete-instances", retry_after=15, times=2)
    life.until(lambda: restored(life))
    assert calls(life, "delete-instances") == 2
    why = "its machine could not be deleted: too many requests: delete-instances was throttled"
    assert f"its removal failed ({why})" in restored(life)[0]
    life.go_on(10)
    assert life.marked == []
