"""A day in a large cluster in which one of 20 calls fails: no limit is broken, nothing grows, no thread dies.

The day is cut short, and the cluster is small, unless SOAK_HOURS and SOAK_NODES say otherwise (``make soak``).
"""

import math
import os
import sys
import time
import tracemalloc

from nodewright.kube.kinds import KINDS
from nodewright.objects.pod import SAFE_TO_EVICT

from tests.end_to_end.chaos import Mischief
from tests.end_to_end.footprint import allocated_mb, growing, resident_mb, sizes, threads
from tests.end_to_end.guard import Guard
from tests.end_to_end.scenarios import a_deployment, a_group, a_scenario
from tests.end_to_end.test_safety import apart, check_end, spread

HOURS = float(os.environ.get("SOAK_HOURS", "1"))
NODES = int(os.environ.get("SOAK_NODES", "40"))
SEED = os.environ.get("SOAK_SEED", "1")
LOOPS = int(HOURS * 360)
#: How often the footprint is looked at.
SAMPLES = max(12, int(HOURS))
#: Whether it is counted what each line allocates, which takes twice as long.
TRACED = bool(os.environ.get("SOAK_TRACED"))
#: In seconds of real time; faults that hang are as long.
PATIENCE = 0.5
#: Pods of each deployment at the day's peak, when they fill nodes of four cpus by nine tenths.
APPS = 20
MOST = max(4, round(NODES * 3.6 / (APPS * 0.75)))
POOLS = ["eu-a/fitting", "eu-b/fitting", "*/spot", "*/roomy"]
SETTINGS = [
    f"scaleDown: {{unneededTime: 3m, delayAfterAdd: 1m, delayAfterFailure: 1m, unremovableRecheck: 2m, {each}}}\n"
    "health: {maxNodeProvisionTime: 5m, backoff: {initial: 2m, max: 10m, resetAfter: 1h}}\n"
    "loop: {actionTimeout: 300ms}"
    for each in ("maxDrainParallelism: 10", "maxDrainParallelism: 3, maxParallelism: 20", "utilizationThreshold: 0.7")
]
AGENT = {"name": "agent", "cpu": "100m", "memory": "64Mi"}


def an_app(number):
    """One of the deployments: ordinary ones, and some that are choosy or stubborn."""
    fields = {"cpu": f"{(500, 1000, 1200, 300)[number % 4]}m", "memory": "512Mi", "replicas": MOST // 3}
    special = {
        3: {"podSpec": spread("app3")},
        7: {"podSpec": spread("app7", "topology.kubernetes.io/zone", 2)},
        11: {"annotations": {SAFE_TO_EVICT: "false"}, "replicas": 2},
        15: {"podSpec": {"volumes": [{"name": "scratch", "emptyDir": {}}]}, "replicas": 2},
        17: {"podSpec": {"terminationGracePeriodSeconds": 90}},
        19: {"podSpec": apart("app19"), "cpu": "200m"},
    }
    return a_deployment(f"app{number}", **{**fields, **special.get(number, {})})


def the_cluster():
    """Eight groups, in two zones, and twenty deployments; with budgets for half of them, and jobs that come and go."""
    groups = [
        a_group("fixed", min=2, max=NODES // 2),
        a_group("plain-b", max=NODES // 2, zone="eu-b"),
        a_group("spot-a", max=NODES // 3, spot=True),
        a_group("spot-b", max=NODES // 3, zone="eu-b", spot=True),
        a_group("roomy-a", max=NODES // 10, instanceType="roomy"),
        a_group("roomy-b", max=NODES // 10, instanceType="roomy", zone="eu-b"),
        a_group("slow-to-go", max=NODES // 4, deleteTime="40s", bootTime="90s"),
        a_group("block", max=3, options={"zeroOrMaxNodeScaling": True}),
    ]
    budgets = [{"for": f"app{number}", "maxUnavailable": (1, "10%")[number % 4 > 1]} for number in range(0, APPS, 2)]
    jobs = [
        {
            "name": f"batch{number}",
            "namespace": "jobs",
            "cpu": "400m",
            "completions": 40,
            "parallelism": 4,
            "run": "90s",
        }
        for number in range(3)
    ]
    deployments = [an_app(number) for number in range(APPS)]
    return a_scenario(*groups, deployments=deployments, daemonSets=[AGENT], budgets=budgets, jobs=jobs)


class Day(Mischief):
    """All the mischief there is, and load that comes in the morning and goes in the evening."""

    def __init__(self, life, seed):
        stubborn = {"app11": 4, "app15": 4}
        most = {f"app{number}": MOST for number in range(APPS)} | stubborn
        super().__init__(life, seed, most, POOLS, SETTINGS, share=0.0075, patience=PATIENCE + 0.2)
        self.loop = 0
        self.kills = 0

    def strike(self):
        self.loop += 1
        super().strike()

    def happenings(self):
        return [
            (0.9, self.roll_out),
            (0.02, self._change_budget),
            (0.1, self._lose_pod),
            (0.05, self._change_pod),
            (0.03, self._change_node),
            (0.005, self._change_group),
            (0.003, self._change_configuration),
            (0.01, self._let_machine_hang),
            (0.01, self.life.world.api_server.drop_watches),
            (0.004, self._forget_versions),
            (0.003, self._kill),
        ]

    def roll_out(self):
        """Give a deployment about as many pods as suit the time of the day."""
        light = math.sin(math.pi * self.loop / LOOPS) ** 2
        name = self.chance.choice(sorted(self.most_replicas))
        most = self.most_replicas[name]
        self.life.scale(name, min(most, round(most * (0.2 + 0.8 * light) * self.chance.uniform(0.6, 1.2))))

    def _forget_versions(self):
        self.life.world.api_server.compact()
        self.life.world.api_server.drop_watches()

    def _kill(self):
        self.kills += 1
        super()._kill()


class Log:
    """A line now and then on how it goes, on the terminal if that is shown."""

    def __init__(self, life, guard, day):
        self.life, self.guard, self.day = life, guard, day
        self.began = time.monotonic()

    def tell(self):
        """Write one."""
        gate = self.life.world.cloud.gate
        what = {
            "hour": f"{self.day.loop / 360:.1f}",
            "nodes": len(self.life.nodes),
            "pods": len(self.life.pods()),
            "faults": self.day.unlucky.hits.total() + sum(gate.refused.values()),
            "kills": self.day.kills,
            "rss MB": round(resident_mb()),
            "core MB": round(allocated_mb(), 1),
            "threads": threads().total(),
            "seconds": round(time.monotonic() - self.began),
            **self.guard.seen,
        }
        sys.stdout.write("  ".join(f"{name} {value}" for name, value in what.items()) + "\n")
        sys.stdout.flush()


def check_threads(life):
    """Each reflector is at work, and nobody has left threads behind."""
    living = threads()
    wanted = {f"reflector-{kind.name}": 1 for kind in KINDS}
    assert {name: living[name] for name in wanted} == wanted, living
    assert living["provider-fake"] <= 1


def test_a_day_of_faults_breaks_no_limit_and_leaves_nothing_behind(begin) -> None:
    if TRACED:
        tracemalloc.start()
    guard = Guard(every=1 + NODES // 50)
    life = begin(the_cluster(), SETTINGS[0], most_nodes=NODES, observers={"guard": guard}, kept=200, patience=PATIENCE)
    guard.watch(life)
    day = Day(life, SEED)
    log = Log(life, guard, day)
    kept, allocated = [], []
    for number in range(LOOPS):
        day.strike()
        life.go_on(10)
        assert guard.wrongs == [], "\n".join([*guard.wrongs, *life.diary.lines])
        if number % (LOOPS // SAMPLES) == 0:
            check_threads(life)
            kept.append(sizes(life.autoscaler.autoscaler))
            allocated.append(allocated_mb())
            log.tell()
    assert growing(kept) == {}
    assert not growing([{"core MB": each} for each in allocated])
    assert day.unlucky.hits.total() > LOOPS / 30
    assert sum(life.world.cloud.gate.refused.values()) > LOOPS / 30
    assert set(map(type, day.unlucky.hits)) == {int, str}
    day.end()
    life.go_on(3600)
    log.tell()
    assert guard.wrongs == []
    check_threads(life)
    check_end(life)
