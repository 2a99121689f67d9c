"""An autoscaler that is killed at any moment, and the next one, which remembers nothing."""

import pytest
from nodewright_fake.cloud.shortage import ShortageMode

SCENARIO = """
zones: [eu-a, eu-b]
instanceTypes:
  fitting: {cpu: 4, memory: 8Gi, price: 0.2}
  roomy: {cpu: 16, memory: 64Gi, price: 0.8}
groups:
  - {name: first-choice, zone: eu-a, instanceType: fitting, max: 20, bootTime: 60s}
  - {name: fallback, zone: eu-b, instanceType: roomy, max: 20, bootTime: 60s}
workloads:
  deployments:
    - {name: web, replicas: 8, cpu: "1", memory: 2Gi}
"""
SETTINGS = "scaleDown: {unneededTime: 1m, delayAfterAdd: 30s, maxDrainParallelism: 5}"


@pytest.mark.parametrize("mode", [None, ShortageMode.WAIT])
def test_nothing_is_ordered_twice(begin, mode):
    life = begin(SCENARIO)
    if mode is not None:
        life.run_out("eu-a/*", mode)
    life.go_on(10)
    ordered = life.sizes()
    assert ordered == {"first-choice": 2}
    for _ in range(3):
        life.start_again()
        life.go_on(10)
        assert life.sizes() == ordered


def test_a_removal_that_was_cut_short_is_undone_and_done_again(begin):
    life = begin(SCENARIO, SETTINGS)
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
