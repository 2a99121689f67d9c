"""The random worlds: repeatable, varied enough to test something, and shrinking to what matters."""

from collections import Counter

import pytest
from nodewright.objects import PodSpec

from .filters import CHECKS
from .worlds import random_world, shrunk

SEEDS = range(600)


def test_the_same_seed_makes_the_same_world() -> None:
    assert random_world(7) == random_world(7)
    assert random_world(7) != random_world(8)


@pytest.fixture(scope="module")
def answers():
    """How often each filter refused, and how often none did."""
    answers = Counter()
    for world in map(random_world, SEEDS):
        oracle = world.oracle()
        for pod, *_ in world.pending:
            for node in world.nodes:
                refusal = oracle.refusal(pod, node.name)
                answers[refusal and refusal.filter] += 1
    return answers


def test_every_filter_gets_a_word_in(answers) -> None:
    # Pending pods name no node.
    assert {name for name in CHECKS if answers[name] < 40} == {"NodeName"}


def test_many_pods_fit_and_many_do_not(answers) -> None:
    assert 0.2 < answers[None] / answers.total() < 0.6


def test_the_oracle_never_breaks_its_own_rules() -> None:
    for world in map(random_world, SEEDS):
        oracle = world.oracle()
        oracle.place(pod for pods in world.pending for pod in pods)
        assert oracle.violations() == []


def test_a_failing_world_shrinks_to_what_makes_it_fail() -> None:
    def fails(world):
        return any(one.spec.unschedulable for one in world.nodes)

    world = next(world for world in map(random_world, SEEDS) if fails(world) and len(world.nodes) > 3)
    small = shrunk(world, fails)
    assert [node.spec.unschedulable for node in small.nodes] == [True]
    assert (small.running, small.claims, small.volumes) == ((), (), ())
    assert [pod.spec for pods in small.pending for pod in pods] == [PodSpec()]
