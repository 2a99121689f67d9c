"""What does not come, or is not well: nothing is ordered twice, and nobody knocks at a dry pool again."""

from nodewright.api import ErrorClass, InstanceError
from nodewright_fake.cloud.boot_fault import BootFault, BootFaultKind
from nodewright_fake.cloud.shortage import ShortageMode

SCENARIO = """
zones: [eu-a, eu-b]
instanceTypes:
  fitting: {cpu: 4, memory: 8Gi, price: 0.2}
  roomy: {cpu: 16, memory: 64Gi, price: 0.8}
groups:
  - {name: first-choice, zone: eu-a, instanceType: fitting, max: 20, bootTime: 30s}
  - {name: twin, zone: eu-a, instanceType: fitting, max: 20, bootTime: 30s}
  - {name: fallback, zone: eu-b, instanceType: roomy, max: 20, bootTime: 30s}
workloads:
  deployments:
    - {name: web, replicas: 4, cpu: "1", memory: 2Gi}
"""
NEVER_READY = BootFault(
    groups="*", kind=BootFaultKind.UNREADY, error=InstanceError(error_class=ErrorClass.OTHER, code="SLOW")
)


def test_a_group_that_draws_from_a_pool_that_ran_dry_is_not_even_tried(begin) -> None:
    life = begin(SCENARIO)
    life.run_out("eu-a/*", ShortageMode.REFUSE)
    life.go_on(20)
    assert life.sizes() == {"fallback": 1}
    assert sum(" failed" in line and "gave up on it" in line for line in life.diary.lines) == 1
    dry = "takes its machines from a capacity pool that is empty (STOCK_OUT of eu-a/fitting, until"
    assert any(dry in line for line in life.diary.lines)


def test_a_cluster_in_which_most_nodes_are_unready_is_left_alone_and_that_is_told_once(begin) -> None:
    life = begin(SCENARIO, "health: {okTotalUnreadyCount: 0, maxNodeStartupTime: 1m}")
    life.world.cloud.boot_faults.add(NEVER_READY)
    life.until(lambda: life.nodes)
    decision = life.go_on(120)
    assert "1 of 1 are unready" in str(decision.halted)
    life.scale("web", 20)
    assert life.go_on(60).quiet
    events = life.world.store.list("events", "kube-system")
    assert [event["count"] for event in events if event["reason"] == "ClusterUnhealthy"] == [1]


def test_nodes_that_were_starting_when_the_autoscaler_began_are_not_ordered_again(begin) -> None:
    life = begin(SCENARIO)
    life.world.cloud.boot_faults.add(NEVER_READY)
    life.until(lambda: life.nodes)
    ordered = life.sizes()
    life.start_again()
    life.go_on(30)
    assert life.sizes() == ordered
