"""Nodes on their way are kept for the pods that they were ordered for, but not against pods of higher priority."""

from datetime import timedelta
from random import Random

import pytest
from msgspec.structs import replace
from nodewright.api import Reason
from nodewright.api.instance import InstanceState
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.scenario.rehearsal import carry_out
from nodewright.testing.builders import a_group, a_node, a_pod, a_template, an_instance
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
STEP = timedelta(seconds=10)


def workload(name, count, **fields):
    return [a_pod(f"{name}-{n}", owner=f"ReplicaSet/{name}", **fields) for n in range(count)]


def reasons(decision):
    return {key.removeprefix("default/"): verdict.reason for key, verdict in decision.pods.items()}


def ordered(pods, cpu="4", **group):
    """The world after nodes of *cpu* were ordered for *pods*, none of which is there yet, and what is remembered."""
    world = a_world(groups=[a_group("a", max_size=100, template=a_template(cpu=cpu), **group)], pods=pods)
    decision, memory, _ = decide(world, Memory(), a_policy(), NOW)
    return carry_out(decision, world), memory


def with_pods(world, pods):
    return a_world(groups=world.groups, pods=pods)


def test_a_pod_of_higher_priority_gets_the_room_and_the_pod_that_gives_way_brings_the_order() -> None:
    waiting = workload("low", 2, cpu="2", priority=1)
    world, memory = ordered(waiting)
    decision, _, _ = decide(with_pods(world, [*waiting, a_pod("high", cpu="4", priority=5)]), memory, a_policy(), NOW)
    assert reasons(decision) == {"high": Reason.FITS, "low-0": Reason.HELPED, "low-1": Reason.HELPED}
    assert [grow.count for grow in decision.grow] == [1]


@pytest.mark.parametrize("priority", [1, 0, None])
def test_a_pod_of_the_same_or_lower_priority_does_not_get_it(priority) -> None:
    waiting = workload("low", 2, cpu="2", priority=1)
    world, memory = ordered(waiting)
    late = a_pod("late", cpu="4", priority=priority, created=EPOCH - timedelta(days=1))
    decision, _, _ = decide(with_pods(world, [late, *waiting]), memory, a_policy(), NOW)
    assert reasons(decision) == {"late": Reason.HELPED, "low-0": Reason.FITS, "low-1": Reason.FITS}


def test_pods_that_give_way_fill_the_gaps_of_other_nodes_on_their_way() -> None:
    waiting = workload("low", 8, cpu="1500m", priority=1)
    world, memory = ordered(waiting)
    assert world.groups[0].target_size == 4
    # Each of them leaves room for one of the others, of which there were two on each node.
    high = workload("high", 4, cpu="2400m", priority=2)
    decision, _, _ = decide(with_pods(world, [*waiting, *high]), memory, a_policy(), NOW)
    assert sum(reason is Reason.FITS for reason in reasons(decision).values()) == 8
    assert [grow.count for grow in decision.grow] == [2]


def test_among_equals_of_high_priority_nodes_stay_with_those_that_they_were_ordered_for() -> None:
    waiting = workload("high", 2, cpu="3", priority=5)
    world, memory = ordered(waiting)
    earlier = workload("other", 1, cpu="2", priority=5, created=EPOCH - timedelta(days=1))
    decision, _, _ = decide(with_pods(world, [*earlier, *waiting]), memory, a_policy(), NOW)
    assert reasons(decision) == {"other-0": Reason.HELPED, "high-0": Reason.FITS, "high-1": Reason.FITS}


class Town:
    """A cluster of one group in which machines take their time, and a scheduler that serves higher priority first."""

    def __init__(self) -> None:
        self.pods = []
        self.sizes = []
        self._memory = Memory()
        self._ready = 0
        self._now = NOW

    def loop(self, *new_pods, ready=0):
        """Let *ready* machines become nodes, schedule, and decide with *new_pods*."""
        size = self.sizes[-1] if self.sizes else 0
        self._ready = min(size, self._ready + ready)
        self._now += STEP
        self.pods += new_pods
        self._schedule()
        nodes = [a_node(f"n-{n}", cpu="4", provider_id=f"fake://a-{n}") for n in range(self._ready)]
        machines = [
            an_instance(f"a-{n}", state=InstanceState.RUNNING if n < self._ready else InstanceState.CREATING)
            for n in range(size)
        ]
        group = a_group("a", size=size, max_size=100, template=a_template(cpu="4"), instances=machines)
        world = a_world(groups=[group], nodes={"a": nodes}, pods=self.pods)
        decision, self._memory, _ = decide(world, self._memory, a_policy(), self._now)
        self.sizes.append(size + sum(grow.count for grow in decision.grow))

    @property
    def waiting(self):
        return [pod for pod in self.pods if not pod.spec.node_name]

    def _schedule(self) -> None:
        free = {f"n-{n}": 4000 for n in range(self._ready)}
        for pod in self.pods:
            if pod.spec.node_name:
                free[pod.spec.node_name] -= pod.requests["cpu"]
        for pod in sorted(self.waiting, key=lambda pod: -(pod.spec.priority or 0)):
            place = max(free, key=free.__getitem__, default="")
            if place and free[place] >= pod.requests["cpu"]:
                free[place] -= pod.requests["cpu"]
                at = self.pods.index(pod)
                self.pods[at] = replace(pod, spec=replace(pod.spec, node_name=place))


@pytest.mark.parametrize("seed", range(12))
def test_what_is_ordered_in_mixed_priorities_is_enough_once_the_scheduler_places_them(seed) -> None:
    random, town = Random(seed), Town()
    for number in range(random.randint(3, 6)):
        cpu = random.choice(["500m", "900m", "1300m", "1700m", "2300m", "3", "3500m"])
        priority = number if random.random() < 0.7 else random.randint(0, 5)
        town.loop(*workload(f"app-{number}", random.randint(1, 8), cpu=cpu, priority=priority))
    town.loop()
    ordered_in_time = town.sizes[-1]
    while town.waiting:
        town.loop(ready=1)
    assert town.sizes[-1] == ordered_in_time
