"""The core says what the oracle says, and places what the oracle would, in thousands of random worlds."""

from collections.abc import Callable, Iterator
from random import Random

import pytest
from hypothesis import given, note, settings

from .agreement import disagreements, disagreements_after_a_life, disagreements_in_forks
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
def test_the_core_agrees_with_the_oracle_about_the_world_of_every_seed(question, first):
    """Verdicts with their words, before and after placing; placements legal at each step, and maximal.

    The same after any history, and in forks without some nodes and with others.
    """
    for seed in range(first, first + _AT_ONCE):
        if _fails(random_world(seed), question):
            pytest.fail(_story(seed, question), pytrace=False)


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(worlds())
def test_the_core_agrees_with_the_oracle_about_any_world(world):
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
