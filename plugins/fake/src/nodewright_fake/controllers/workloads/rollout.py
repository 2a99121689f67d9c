"""How far a rolling update may go in one step."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """Of a ReplicaSet: how many pods it is told to have, and how many of them serve."""

    replicas: int
    available: int


def next_sizes(
    wanted: int, current: Size, old: Sequence[Size], *, surge: int, unavailable: int
) -> tuple[int, list[int]]:
    """Return how many replicas the set with the newest template and the old ones should have next.

    There are never more than *wanted* + *surge* pods asked for, nor fewer than *wanted* - *unavailable* serving
    because of the update. Old pods that do not serve are given up first: nobody misses them.
    """
    others = sum(size.replicas for size in old)
    if current.replicas > wanted:
        newest = wanted
    else:
        room = max(0, wanted + surge - current.replicas - others)
        newest = min(wanted, current.replicas + room)
    enough = wanted - unavailable
    newest_serving = min(current.available, newest)
    spare = others + newest_serving - enough
    sizes = [size.replicas for size in old]
    for position, size in enumerate(old):
        idle = max(0, min(spare, size.replicas - size.available))
        sizes[position] -= idle
        spare -= idle
    for position, left in enumerate(sizes):
        step = max(0, min(spare, left))
        sizes[position] -= step
        spare -= step
    return newest, sizes
