"""The core says what the oracle says, and places what the oracle would, in thousands of random worlds."""

import pytest
from hypothesis import given, note, settings

from .agreement import disagreements
from .worlds import World, random_world, shrunk, worlds

_WORLDS = 4000
_AT_ONCE = 100


@pytest.mark.parametrize("first", range(0, _WORLDS, _AT_ONCE))
def test_the_core_agrees_with_the_oracle_about_the_world_of_every_seed(first):
    """Verdicts with their words, before, between and after placing; placements legal at each step, and maximal."""
    for seed in range(first, first + _AT_ONCE):
        if _fails(random_world(seed)):
            pytest.fail(_story(seed))


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(worlds())
def test_the_core_agrees_with_the_oracle_about_any_world(world):
    """The same, with worlds of hypothesis' choice, which looks for strange ones."""
    note(repr(world))
    assert list(disagreements(world)) == []


def _fails(world: World) -> bool:
    try:
        return any(True for _ in disagreements(world))
    except Exception:
        return True  # told by _story, which lets it out


def _story(seed: int) -> str:
    world = shrunk(random_world(seed), _fails)
    return "\n".join([f"The world of seed {seed}, as small as it still fails:", repr(world), *disagreements(world)])
