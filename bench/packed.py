"""A cluster that is nearly full: how many of its nodes could be removed, and how long the search takes."""

from bisect import bisect_right
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random

from nodewright.api import GroupOptions, Pod
from nodewright.cluster import Cluster
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.decision.world import World
from nodewright.testing.builders import a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy

from bench.in_order import Machine, all_fit_without, removable
from bench.measure import Case, Figure, duration, median_of, timed
from bench.shapes import Shape, run_on

_MILLI, _MEMORY, _PODS = 16_000, 64 * 2**30, 110
_APPS = 200
#: Of ten nodes, nine are nearly full and one is less so, which makes 93 % of all cpu.
_FULL, _LESS = (0.90, 1.0), (0.55, 0.95)
#: Nodes below it are looked at: most of those that are less full, and a part of the others.
_THRESHOLD = 0.93


@dataclass(frozen=True, kw_only=True)
class Packed:
    """Nodes of 16 cpu and 64 GiB in ten groups, each filled to a random share with random pods of 200 ReplicaSets."""

    nodes: int
    seed: int = 0

    def world(self) -> World:
        """Return the whole world."""
        chance = Random(self.seed)
        shape = Shape(nodes=self.nodes, groups=10, pending=0)
        cluster, group_of = Cluster(), {}
        apps = sorted((_app(number, chance) for number in range(_APPS)), key=_milli)
        serial = 0
        for number in range(self.nodes):
            node = shape.node(number)
            cluster.put_node(node)
            group_of[node.name] = node.metadata.labels["pool"]
            load = chance.uniform(*(_LESS if chance.random() < 0.1 else _FULL))
            for app in _fill(int(_MILLI * load), apps, chance):
                run_on(cluster, app, f"running-{serial:06}", node.name)
                serial += 1
        options = GroupOptions(scale_down_utilization_threshold=_THRESHOLD)
        groups = tuple(replace(group, options=options) for group in shape.groups_of_nodes())
        return World(cluster=cluster, groups=groups, group_of=group_of)


def _app(number: int, chance: Random) -> Pod:
    """Return the requests of a ReplicaSet's pods: 100 milli to 4 cpu, small ones more often than large ones."""
    milli = 50 * round(2 * 40 ** chance.random())
    memory = int(milli / 1000 * chance.uniform(1, 4) * 1024)
    labels = {"app": f"running-{number}"}
    return a_pod("running", cpu=f"{milli}m", memory=f"{memory}Mi", labels=labels, owner=f"ReplicaSet/running-{number}")


def _fill(milli: int, apps: list[Pod], chance: Random) -> list[Pod]:
    """Return random pods that together request about *milli* cpu."""
    pods: list[Pod] = []
    memory = _MEMORY
    while fitting := bisect_right(apps, milli, key=_milli):
        app = apps[chance.randrange(fitting)]
        milli -= _milli(app)
        memory -= app.requests["memory"]
        if memory < 0:
            break
        pods.append(app)
    return pods


def _milli(pod: Pod) -> int:
    return pod.requests["cpu"]


def _machines(world: World) -> list[Machine]:
    machines = []
    for name in world.cluster.nodes:
        machine = Machine(name=name, free=(_MILLI, _MEMORY, _PODS))
        for row in world.cluster.pods_on(name):
            requests = row.pod_class.pod.requests
            machine.put((requests["cpu"], requests["memory"], 1))
        machines.append(machine)
    return machines


def _used(machine: Machine) -> float:
    return max(1 - machine.free[0] / _MILLI, 1 - machine.free[1] / _MEMORY)


def _packed(packed: Packed) -> Figure:
    world, policy = packed.world(), a_policy()
    machines = _machines(world)
    load = 1 - sum(machine.free[0] for machine in machines) / len(machines) / _MILLI
    assert 0.92 < load < 0.94, f"the cluster is {load:.1%} full"
    candidates = [machine.name for machine in machines if _used(machine) <= _THRESHOLD]

    decision, memory, _ = decide(world, Memory(), policy, EPOCH)
    found = set(memory.unneeded.since)
    assert set(decision.nodes) == set(world.cluster.nodes), "a node has no verdict"
    assert found <= set(candidates), "a node could go that is above the threshold"
    assert all_fit_without(_machines(world), found), "no place was found for the pods of all nodes that could go"
    in_order: list[str] = []
    reference = timed(lambda: in_order.extend(removable(machines, candidates)))
    wrong = [] if len(found) >= len(in_order) else ["fewer nodes could go than in Cluster Autoscaler's order"]

    later = EPOCH + timedelta(seconds=10)
    _, remembered, _ = decide(world, memory, policy, later)
    if lost := found - set(remembered.unneeded.since):
        wrong.append(f"{len(lost)} of them could not go any more in the next loop, though nothing had changed")
    seconds = median_of(lambda: decide(world, Memory(), policy, EPOCH))
    again = median_of(lambda: decide(world, memory, policy, later))
    note = f"{load:.1%} full, of {len(candidates)} candidates {len(found)} could go; in CA's order {len(in_order)}, "
    note += f"in {duration(reference)} of plain Python; next loop {duration(again)}"
    return Figure(seconds=seconds, note=note, wrong=wrong)


CASES = [
    Case(name="packed 500", run=lambda: _packed(Packed(nodes=500)), bar=0.1),
    Case(name="packed 5000", run=lambda: _packed(Packed(nodes=5_000)), bar=1.0),
]
