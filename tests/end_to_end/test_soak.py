"""Two hours in which something goes wrong all the time: no limit is broken meanwhile, and all is well in the end."""

from random import Random
from threading import Lock

import pytest
from nodewright.api import ErrorClass, InstanceError
from nodewright_fake.apiserver.status import StatusError
from nodewright_fake.apiserver.wire import ConnectionEndedError
from nodewright_fake.cloud.api_fault import ApiFault, ApiFaultKind
from nodewright_fake.cloud.boot_fault import BootFault, BootFaultKind
from nodewright_fake.cloud.shortage import ShortageMode

from tests.end_to_end.scenarios import a_deployment, a_group, a_scenario

MOST_NODES = 14
MOST_REPLICAS = {"web": 14, "batch": 16, "wide": 5}
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
BROKEN = InstanceError(error_class=ErrorClass.OTHER, code="BOOT_FAILED", message="it did not boot")


class UnluckyCloud(ApiFault):
    """Befalls a share of the calls, by chance."""

    def __init__(self, kind, chance, share):
        super().__init__(kind)
        self.chance = chance
        self.share = share

    def befalls(self, operation, now):
        return self.chance.random() < self.share


class UnluckyApiServer:
    """Refuses one of 20 requests that are no watches, or hangs up; what befalls one depends on no other's path."""

    def __init__(self, seed):
        self.seed = seed
        self.requests = {}
        self.hits = 0
        self.lock = Lock()

    def __call__(self, request):
        key = f"{request.method} {request.path}"
        with self.lock:
            self.requests[key] = number = self.requests.get(key, 0) + 1
        chance = Random(f"{self.seed} {key} {number}")
        if request.verb == "watch" or chance.random() >= 0.05:
            return
        self.hits += 1
        if chance.random() < 0.25:
            raise ConnectionEndedError
        raise StatusError(
            *chance.choice([(500, "InternalError"), (503, "ServiceUnavailable"), (409, "Conflict")]), "bad luck"
        )


class Chaos:
    """What happens to a life: rollouts, reclaims, empty pools, faults, and an autoscaler that is killed."""

    def __init__(self, life, seed):
        self.life = life
        self.chance = Random(seed)
        self.unlucky = UnluckyApiServer(seed)
        cloud = life.world.cloud
        for kind in (ApiFaultKind.UNAVAILABLE, ApiFaultKind.THROTTLED, ApiFaultKind.DENIED, ApiFaultKind.LOST):
            cloud.gate.add(UnluckyCloud(kind, Random(f"{seed} {kind}"), 0.0125))
        for kind in BootFaultKind:
            cloud.boot_faults.add(BootFault(groups="*", kind=kind, share=0.02, error=BROKEN))
        life.world.api_server.faults.append(self.unlucky)

    def strike(self):
        """Let something happen, or nothing."""
        life, chance = self.life, self.chance
        if chance.random() < 0.05:
            name = chance.choice(sorted(MOST_REPLICAS))
            life.scale(name, chance.randint(0, MOST_REPLICAS[name]))
        if chance.random() < 0.02:
            spot = [machine for machine in life.world.cloud.instances("spot") if machine.registered]
            if spot:
                life.world.cloud.fleet.reclaim(chance.choice(spot), chance.choice([0, 20]))
        if chance.random() < 0.02:
            life.run_out(
                chance.choice(["eu-a/fitting", "eu-b/fitting", "eu-b/roomy", "*/spot"]),
                chance.choice(list(ShortageMode)),
            )
        elif chance.random() < 0.04:
            life.world.cloud.supply.lift_stocks("*")
            life.world.cloud.fill()
        if chance.random() < 0.004:
            life.start_again()

    def end(self):
        """Let nothing go wrong any more, and ask for no more than surely fits into the most nodes there may be."""
        cloud = self.life.world.cloud
        cloud.gate.heal("*")
        cloud.boot_faults.heal("*")
        cloud.supply.lift_stocks("*")
        self.life.world.api_server.faults.remove(self.unlucky)
        for name, most in MOST_REPLICAS.items():
            self.life.scale(name, most // 2)


def check_deletions(life):
    """No minimum was in the way of what was asked for, and no machine is deleted under pods that have to move."""
    assert not any("its minimum is" in line for line in life.diary.lines)
    at_work = {pod["spec"].get("nodeName") for pod in life.pods() if "deletionTimestamp" not in pod["metadata"]}
    for machine in life.world.cloud.fleet.all():
        assert not (machine.going and machine.name in at_work), f"{machine.name} is deleted with pods on it"


def check_memory(memory):
    """What is remembered is about nodes, machines, groups, pools and kinds of pods that are there, or just were."""
    assert all(len(value) <= 3 * MOST_NODES for value in vars(memory).values() if isinstance(value, dict | tuple))


def check_end(life):
    """All pods run, nothing is on its way and nobody is left marked."""
    deployments = life.world.store.list("deployments.apps", "default")
    assert len(life.pods("Running")) == len(life.pods()) == sum(each["spec"]["replicas"] for each in deployments)
    memory = vars(life.autoscaler.memory)
    assert {name: memory[name] for name in PASSING if memory[name]} == {}
    assert life.marked == []
    assert set(life.hinted) == memory["unneeded_since"].keys()


@pytest.mark.parametrize("seed", [4])
def test_two_hours_of_faults_break_no_limit_and_leave_nothing_behind(begin, seed):
    life = begin(SCENARIO, SETTINGS, most_nodes=MOST_NODES)
    chaos = Chaos(life, seed)
    for _ in range(720):
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
