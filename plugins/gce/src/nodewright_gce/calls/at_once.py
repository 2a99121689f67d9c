"""Several calls at the same time."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def at_once(read: Callable[[T], R], items: Sequence[T], workers: int) -> list[R]:
    """Return what *read* returns for each of *items*, asked by up to so many *workers*; raises what it raises."""
    if len(items) < 2 or workers == 1:
        return [read(item) for item in items]
    with ThreadPoolExecutor(min(workers, len(items)), thread_name_prefix="gce") as pool:
        return list(pool.map(read, items))
