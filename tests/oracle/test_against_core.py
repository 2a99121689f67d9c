"""The core says what the oracle says, and places what the oracle would, in thousands of random worlds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from random import Random
from typing import Any

import pytest
from hypothesis import given, note, settings
from nodewright.api import NodeTemplate, PodSet, Verdict
from nodewright.api.reasons import Reason
from nodewright.cluster import Cluster
from nodewright.objects import Pod
from nodewright.scheduling import ClusterSimulation
from nodewright.testing.builders import a_group

from .agreement import disagreements, disagreements_after_a_life, disagreements_in_forks
from .lives import new_cluster
from .objects import claim, line, node, pod, using, volume
from .worlds import World, random_world, shrunk, worlds

_WORLDS = 3000
_AT_ONCE = 100

Question = Callable[[World], Iterator[str]]


def _after_a_life(world: World) -> Iterator[str]:
    return disagreements_after_a_life(world, Random(1))


def _in_forks(world: World) -> Iterator[str]:
    return disagreements_in_forks(world, Random(1))


@pytest.mark.parametrize("first", range(0, _WORLDS, _AT_ONCE))
@pytest.mark.parametrize("question", [disagreements, _after_a_life, _in_forks])
def test_the_core_agrees_with_the_oracle_about_the_world_of_every_seed(question, first) -> None:
    """Verdicts with their words, before and after placing; placements legal at each step, and maximal.

    The same after any history, and in forks without some nodes and with others.
    """
    for seed in range(first, first + _AT_ONCE):
        if _fails(random_world(seed), question):
            pytest.fail(_story(seed, question), pytrace=False)


def test_the_core_agrees_with_the_oracle_about_new_nodes_with_pods_and_attach_limits() -> None:
    for seed in range(300):
        assert list(disagreements_in_forks(random_world(seed), Random(1), furnished=True)) == [], seed


def test_a_pod_that_comes_with_a_new_node_holds_its_port() -> None:
    agent = pod("agent", containers=[{"name": "main", "ports": [{"hostPort": 80}]}])
    with _new_node(new_cluster(_world(agent)), pods=(agent,)) as (simulation, name):
        assert simulation.why_not(PodSet(pod=agent, keys=("default/p",)), name) == Verdict(reason=Reason.PORTS)


def test_a_new_node_takes_as_many_volumes_as_its_template_says() -> None:
    wants = pod("p", volumes=using("c"))
    bound = {
        "claims": (claim("c", volumeName="v"),),
        "volumes": (volume("v", csi={"driver": "d", "volumeHandle": "h"}),),
    }
    with _new_node(new_cluster(_world(wants, **bound)), csi_drivers={"d": 0}) as (simulation, name):
        assert simulation.why_not(PodSet(pod=wants, keys=(wants.key,)), name) == Verdict(reason=Reason.VOLUME_LIMITS)


def test_a_label_with_an_underscore_is_no_number_to_the_core() -> None:
    term = {"matchExpressions": [line("gen", "Gt", "1")]}
    newer = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    assert list(disagreements(_world(pod(affinity=newer), nodes=(node(labels={"gen": "1_0"}),)))) == []


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(worlds())
def test_the_core_agrees_with_the_oracle_about_any_world(world) -> None:
    """The same, with worlds of hypothesis' choice, which looks for strange ones."""
    note(repr(world))
    assert list(disagreements(world)) == []


def _fails(world: World, question: Question) -> bool:
    try:
        return any(True for _ in question(world))
    except Exception:
        return True  # _story lets it out


def _story(seed: int, question: Question) -> str:
    world = shrunk(random_world(seed), lambda smaller: _fails(smaller, question))
    return "\n".join([f"The world of seed {seed}, as small as it still fails:", repr(world), *question(world)])


def _world(pending: Pod, **things: Any) -> World:
    """One node unless others are given, and one pod that waits."""
    return World(
        **{field.name: () for field in fields(World)} | {"nodes": (node(),), "pending": ((pending,),), **things}
    )


@contextmanager
def _new_node(cluster: Cluster, **furniture: Any) -> Iterator[tuple[ClusterSimulation, str]]:
    """A simulation with a new node."""
    room = {"cpu": 4000, "memory": 8 * 2**30, "pods": 110}
    template = NodeTemplate(capacity=room, allocatable=room, **furniture)
    simulation = ClusterSimulation(cluster)
    with simulation.fork():
        [name] = simulation.add_nodes(a_group(template=template), 1)
        yield simulation, name
