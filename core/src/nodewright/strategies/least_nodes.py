"""Least nodes: how many nodes pods need at least, whatever the order in which they are placed."""

from collections.abc import Iterable, Sequence

from nodewright.api import PodSet, Resources

#: Amounts of one resource, with the number of pods that request each.
_Amounts = Sequence[tuple[int, int]]


def least_nodes(pods: Sequence[PodSet], room: Resources) -> int:
    """Return how many nodes with so much *room* the requests of *pods* need at least, each of which fits one node."""
    return max((_least(_amounts(pods, name), most) for name, most in room.items() if most > 0), default=0)


def _amounts(pods: Iterable[PodSet], name: str) -> _Amounts:
    requested = ((same.pod.requests.get(name, 0), len(same)) for same in pods)
    return [(amount, count) for amount, count in requested if amount]


def _least(amounts: _Amounts, room: int) -> int:
    """Return how many bins the amounts need at least: the bound L2 of Martello and Toth.

    No two amounts over half a bin share one. Those of at least some small amount fit only beside what leaves them
    room; which small amount says most is tried out.
    """
    most = 0
    for small in {0, *(amount for amount, _ in amounts if 2 * amount <= room)}:
        alone = sum(count for amount, count in amounts if amount > room - small)
        hosts = [(amount, count) for amount, count in amounts if room - small >= amount and 2 * amount > room]
        guests = sum(amount * count for amount, count in amounts if small <= amount and 2 * amount <= room)
        spare = sum((room - amount) * count for amount, count in hosts)
        bins = alone + sum(count for _, count in hosts)
        most = max(most, bins - (-max(0, guests - spare) // room))
    return most
