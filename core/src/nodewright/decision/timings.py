"""Timings: how long the parts of a decision took, for metrics. Decisions do not depend on them."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Timings:
    """Takes the time of named parts, which may be nested. For one thread."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    @contextmanager
    def time(self, name: str) -> Iterator[None]:
        """Take the time of the ``with`` block. Times with the same name add up."""
        began = perf_counter()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + perf_counter() - began

    def take(self) -> dict[str, float]:
        """Return the seconds of each part since the last call, and start from zero."""
        taken, self._seconds = self._seconds, {}
        return taken
