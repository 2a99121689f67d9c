"""Chance in a generated scenario, all of it from one seed."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Chance from a text: the same text gives the same throws."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed)

    def number(self, low: int, high: int) -> int:
        """Return a whole number, *low* and *high* included."""
        return self._random.randint(low, high)

    def pick(self, options: Sequence[T]) -> T:
        """Return one of *options*."""
        return self._random.choice(options)

    def chance(self, percent: float) -> bool:
        """Return True so often, False otherwise."""
        return self._random.random() * 100 < percent

    def some(self, options: Sequence[T], most: int) -> list[T]:
        """Return at least one, and at most *most*, different ones of *options*."""
        return self._random.sample(list(options), self._random.randint(1, min(most, len(options))))

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """Return *options* in any order."""
        return self._random.sample(list(options), len(options))


def stamp(time: datetime) -> str:
    """Return *time*, which is in UTC, as Kubernetes writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def ago(now: datetime, *, minutes: float = 0, seconds: float = 0) -> str:
    """Return, as Kubernetes writes it, when it was so long before *now*."""
    return stamp(now - timedelta(minutes=minutes, seconds=seconds))
