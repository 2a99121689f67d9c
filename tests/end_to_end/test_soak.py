"""An hour in which something goes wrong all the time: no limit is broken meanwhile, and all is well in the end."""

import pytest

from tests.end_to_end.chaos import Chaos
from tests.end_to_end.scenarios import a_deployment, a_group, a_scenario

MOST_NODES = 14
MOST_REPLICAS = {"web": 14, "batch": 16, "wide": 5}
POOLS = ["eu-a/fitting", "eu-b/fitting", "eu-b/roomy", "*/spot"]
SCENARIO = a_scenario(
    a_group("fixed", min=1, max=3),
    a_group("slow-to-go", max=6, zone="eu-b", deleteTime="40s"),
    a_group("spot", max=8, spot=True),
    a_group("roomy", max=4, instanceType="roomy", zone="eu-b"),
    deployments=[
        a_deployment("web", replicas=2),
        a_deployment("batch", cpu="500m", replicas=0),
        a_deployment("wide", cpu="3", memory="4Gi", replicas=0),
    ],
    daemonSets=[{"name": "agent", "cpu": "100m", "memory": "64Mi"}],
    budgets=[{"for": "web", "maxUnavailable": 1}],
)
SETTINGS = """
scaleDown: {unneededTime: 1m, delayAfterAdd: 30s, delayAfterFailure: 1m, unremovableRecheck: 1m, maxDrainParallelism: 2}
health: {maxNodeProvisionTime: 3m, backoff: {initial: 1m, max: 4m, resetAfter: 20m}}
"""
#: What of the memory is empty while all is well.
PASSING = [
    *("requests", "intentions", "shortages", "removals"),
    *("unregistered_since", "failed_since", "backoffs", "pools", "unhealthy_since"),
]


def check_deletions(life):
    """No minimum was in the way of what was asked for, and no machine is deleted under pods that have to move."""
    assert not any("its minimum is" in line for line in life.diary.against_limits)
    at_work = {pod["spec"].get("nodeName") for pod in life.pods() if "deletionTimestamp" not in pod["metadata"]}
    for machine in life.world.cloud.fleet.all():
        assert not (machine.going and machine.name in at_work), f"{machine.name} is deleted with pods on it"


def check_memory(memory):
    """What is remembered is about nodes, machines, groups, pools and kinds of pods that are there, or just were."""
    kept = [value for each in memory.slices().values() for value in vars(each).values()]
    assert all(len(value) <= 3 * MOST_NODES for value in kept if isinstance(value, dict | tuple))


def check_end(life):
    """All pods run, nothing is on its way and nobody is left marked."""
    deployments = life.world.store.list("deployments.apps", "default")
    assert len(life.pods("Running")) == len(life.pods()) == sum(each["spec"]["replicas"] for each in deployments)
    slices = life.autoscaler.memory.slices()
    memory = {name: value for each in slices.values() for name, value in vars(each).items()}
    assert {name: memory[name] for name in PASSING if memory[name]} == {}
    assert life.marked == []
    assert set(life.hinted) == slices["unneeded"].since.keys()


@pytest.mark.parametrize("seed", [4])
def test_an_hour_of_faults_break_no_limit_and_leave_nothing_behind(begin, seed) -> None:
    life = begin(SCENARIO, SETTINGS, most_nodes=MOST_NODES)
    chaos = Chaos(life, seed, MOST_REPLICAS, POOLS)
    for _ in range(360):
        chaos.strike()
        life.go_on(10)
        check_deletions(life)
        check_memory(life.autoscaler.memory)
    assert chaos.unlucky.hits
    assert sum(life.world.cloud.gate.refused.values()) > 20
    chaos.end()
    # What failed last is forgotten after 20 minutes.
    life.go_on(2400)
    check_deletions(life)
    check_end(life)
    orders = [line for line in life.diary.lines if " grow " in line]
    life.go_on(300)
    assert [line for line in life.diary.lines if " grow " in line] == orders
