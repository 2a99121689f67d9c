"""Pods of many shapes at once: spread over zones and hosts, kept apart, and plain. One loop serves them all."""

from collections import Counter
from datetime import timedelta
from random import Random

import pytest
from msgspec.structs import replace
from nodewright.api import Reason
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.objects import LabelSelector
from nodewright.objects.affinity import Affinity, PodAffinity, PodAffinityTerm, TopologySpreadConstraint
from nodewright.objects.node import HOSTNAME, ZONE
from nodewright.scenario.rehearsal import carry_out
from nodewright.testing.builders import a_group, a_node, a_pod, a_template
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
MACHINES = [(4, 16), (8, 32), (16, 64), (16, 128), (32, 128)]
SHAPES, EACH, GROUPS = 40, 50, 30


def machine(number):
    cpu, memory = MACHINES[number % len(MACHINES)]
    zone = f"eu-{'abc'[number % 3]}"
    return {"cpu": str(cpu), "memory": f"{memory}Gi", "zone": zone, "labels": {"pool": f"pool-{number}"}}


def shape(number, random):
    app = {"app": f"app-{number:02}"}
    pod = a_pod(
        cpu=f"{random.choice([100, 250, 500, 1000, 2000, 3000])}m",
        memory=f"{random.choice([128, 512, 1024, 4096, 8192])}Mi",
        labels=app,
        owner=f"ReplicaSet/app-{number}",
    )
    itself = LabelSelector(match_labels=app)
    apart = PodAffinity(required=(PodAffinityTerm(label_selector=itself, topology_key=HOSTNAME),))
    match number % 5:
        case 1:
            return replace(pod, spec=replace(pod.spec, affinity=Affinity(pod_anti_affinity=apart)))
        case 2 | 4:
            rule = TopologySpreadConstraint(
                max_skew=1 + number % 3,
                topology_key=ZONE if number % 5 == 2 else HOSTNAME,
                when_unsatisfiable="DoNotSchedule",
                label_selector=itself,
            )
            return replace(pod, spec=replace(pod.spec, topology_spread_constraints=(rule,)))
    return pod


def a_mixed_world(seed):
    """Thirty groups with one full node each, and 2,000 pods of 40 shapes in any order."""
    random = Random(seed)
    groups = [a_group(f"group-{n:02}", size=1, max_size=100, template=a_template(**machine(n))) for n in range(GROUPS)]
    nodes = {
        group.id: [a_node(f"node-{n}", provider_id=group.instances[0].id, **machine(n))]
        for n, group in enumerate(groups)
    }
    busy = [a_pod(f"busy-{n}", cpu=machine(n)["cpu"], node=f"node-{n}") for n in range(GROUPS)]
    pods = []
    for number in range(SHAPES):
        like = shape(number, random)
        for n in range(EACH):
            name = f"app-{number}-{n}"
            pods.append(replace(like, metadata=replace(like.metadata, name=name, uid=name)))
    random.shuffle(pods)
    return a_world(groups=groups, nodes=nodes, pods=[*busy, *pods])


@pytest.mark.parametrize("seed", range(7, 11))
def test_all_pods_that_can_be_helped_are_helped_in_one_loop(seed) -> None:
    world = a_mixed_world(seed)
    decision, memory, _ = decide(world, Memory(), a_policy(), NOW)
    assert Counter(verdict.reason for verdict in decision.pods.values()) == {Reason.HELPED: SHAPES * EACH}
    assert sorted(key for grow in decision.grow for key in grow.pods) == sorted(decision.pods)
    assert all(grow.from_size + grow.count <= 100 for grow in decision.grow)
    # With the nodes that were ordered on their way, the next loop finds room for all: it may pack a little worse, and
    # then orders one node more.
    again, _, _ = decide(carry_out(decision, world), memory, a_policy(), NOW + timedelta(seconds=10))
    assert sum(grow.count for grow in again.grow) <= 1
    assert {verdict.reason for verdict in again.pods.values()} <= {Reason.FITS, Reason.HELPED}
