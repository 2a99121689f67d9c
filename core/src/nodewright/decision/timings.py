"""Timings: how long the parts of a decision took, for those who watch it. Decisions do not depend on them."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Timings:
    """Takes the time of named parts; one may lie within another. For one thread."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    @contextmanager
    def time(self, name: str) -> Iterator[None]:
        """Take the time of the ``with`` block; those of one name add up."""
        began = perf_counter()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + perf_counter() - began

    def take(self) -> dict[str, float]:
        """Return the seconds of each part since the last time, and begin anew."""
        taken, self._seconds = self._seconds, {}
        return taken
