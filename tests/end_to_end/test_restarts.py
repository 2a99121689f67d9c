"""An autoscaler that is killed at any moment, and the next one."""

import pytest
from nodewright_fake.cloud.api_fault import ApiFault, ApiFaultKind
from nodewright_fake.cloud.shortage import ShortageMode

from tests.end_to_end.scenarios import a_scenario, two_choices

SCENARIO = a_scenario(*two_choices(bootTime="60s"), replicas=8)
SETTINGS = "scaleDown: {unneededTime: 1m, delayAfterAdd: 30s, maxDrainParallelism: 5}"
FORGETFUL = "memory: {store: none}"


@pytest.mark.parametrize("settings", ["", FORGETFUL])
@pytest.mark.parametrize("mode", [None, ShortageMode.WAIT])
def test_nothing_is_ordered_twice(begin, mode, settings) -> None:
    life = begin(SCENARIO, settings)
    if mode is not None:
        life.run_out("eu-a/*", mode)
    life.go_on(10)
    ordered = life.sizes()
    assert ordered == {"first-choice": 2}
    for _ in range(3):
        life.start_again()
        life.go_on(10)
        assert life.sizes() == ordered
    life.world.cloud.supply.lift_stocks("*")
    life.world.cloud.fill()
    life.until(lambda: len(life.pods("Running")) == 8)
    assert (life.ordered("first-choice"), life.ordered("fallback")) == (2, 0)


@pytest.mark.parametrize("settings", ["", FORGETFUL])
def test_nothing_is_ordered_twice_by_a_life_that_begins_while_the_cloud_can_not_be_read(begin, settings) -> None:
    life = begin(SCENARIO, settings)
    life.run_out("eu-a/*", ShortageMode.WAIT)
    life.go_on(10)
    assert life.sizes() == {"first-choice": 2}
    life.world.cloud.gate.add(ApiFault(ApiFaultKind.UNAVAILABLE, operations="snapshot"))
    life.start_again()
    life.go_on(20)
    life.world.cloud.gate.heal("*")
    life.go_on(30)
    assert life.sizes() == {"first-choice": 2}


def test_loops_that_follow_at_once_order_nothing_more(begin) -> None:
    life = begin(SCENARIO)
    assert life.go_on(10).grow
    for _ in range(3):
        assert life.autoscaler.step().quiet
    assert life.sizes() == {"first-choice": 2}


def test_a_removal_that_was_cut_short_is_undone_and_done_again_by_a_life_without_memory(begin) -> None:
    life = begin(SCENARIO, f"{SETTINGS}\n{FORGETFUL}")
    life.until(lambda: len(life.pods("Running")) == 8)
    life.scale("web", 2)
    life.until(lambda: any(" drain " in line for line in life.diary.lines))
    marked = [node for node in life.world.store.list("nodes") if node["spec"].get("unschedulable")]
    assert marked
    life.start_again()
    life.go_on(10)
    assert not any(node["spec"].get("unschedulable") for node in life.world.store.list("nodes"))
    life.until(lambda: len(life.nodes) == 1)
    life.until(lambda: len(life.pods("Running")) == 2)
