"""Where the chance in a world comes from: a seed, which is fast, or hypothesis, which shrinks what fails."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Dice(Protocol):
    """Chance. Plainer outcomes come first, so that a failing world shrinks towards a plain one."""

    def number(self, low: int, high: int) -> int:
        """A whole number, *low* and *high* included."""
        ...

    def pick(self, options: Sequence[T]) -> T:
        """One of *options*."""
        ...

    def chance(self, percent: int) -> bool:
        """True so often, False otherwise."""
        ...

    def some(self, options: Sequence[T], most: int) -> tuple[T, ...]:
        """At least one, and at most *most*, different ones of *options*."""
        ...


class SeededDice:
    """Chance from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def number(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def pick(self, options: Sequence[T]) -> T:
        return self._random.choice(options)

    def chance(self, percent: int) -> bool:
        return self._random.randrange(100) < percent

    def some(self, options: Sequence[T], most: int) -> tuple[T, ...]:
        return tuple(self._random.sample(options, self._random.randint(1, min(most, len(options)))))


class DrawnDice:
    """Chance from hypothesis."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw

    def number(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def pick(self, options: Sequence[T]) -> T:
        return self._draw(st.sampled_from(options))

    def chance(self, percent: int) -> bool:
        return self._draw(st.integers(0, 99)) >= 100 - percent

    def some(self, options: Sequence[T], most: int) -> tuple[T, ...]:
        return tuple(
            self._draw(st.lists(st.sampled_from(options), min_size=1, max_size=min(most, len(options)), unique_by=id))
        )
