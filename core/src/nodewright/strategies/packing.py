"""Packing: ways to place pods on new nodes of a group. Each starts anew and leaves nothing in the simulation."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from nodewright.api import Estimate, GroupFacts, PodSet, Resources, Simulation
from nodewright.strategies.least_nodes import least_nodes

#: Sets of pods, in the order in which they are placed.
Order = Sequence[PodSet]


class Packing:
    """Places sets of pods on new nodes of *group*, at most *limit*."""

    def __init__(self, group: GroupFacts, simulation: Simulation, limit: int) -> None:
        self._group = group
        self._simulation = simulation
        self._limit = limit
        #: How many of a set one node holds, by the set's pod.
        self._most: dict[int, int] = {}
        #: How many of a set find room on so many nodes.
        self._alone: dict[tuple[int, int], int] = {}

    @cached_property
    def room(self) -> Resources:
        """What pods may use of a new node."""
        with self._simulation.fork() as fork:
            (name,) = fork.add_nodes(self._group, 1)
            return fork.free(name)

    def alone(self, pods: PodSet, count: int) -> int:
        """Return how many of *pods* find room on *count* nodes that they have for themselves."""
        count = min(count, self._limit)
        if (known := self._alone.get((id(pods.pod), count))) is not None:
            return known
        with self._simulation.fork() as fork:
            found = self._alone[id(pods.pod), count] = len(fork.place(pods, on=fork.add_nodes(self._group, count)))
        return found

    def most_on_one(self, pods: PodSet) -> int:
        """Return how many pods like *pods* a node holds."""
        most = self._most.get(id(pods.pod))
        if most is None:
            most = self.alone(pods, 1)
            if most == len(pods):
                most = max(most, most_by_requests(pods, self.room))
            self._most[id(pods.pod)] = most
        return most

    def least(self, sets: Order) -> int:
        """Return how many nodes *sets* need at least; a set may come in parts."""
        counts = count_by_pod(sets)
        needs = [-(-counts[id(pods.pod)] // self.most_on_one(pods)) for pods in sets]
        return max([least_nodes(sets, self.room), *needs])

    def needs(self, count: int, sets: Order) -> bool:
        """Tell whether *sets* need so many nodes at least."""
        # What requests add up to is known without a simulation.
        return count <= least_nodes(sets, self.room) or count <= self.least(sets)

    def growing(self, order: Order) -> Estimate:
        """Place set after set, adding nodes as long as that helps."""
        with self._simulation.fork() as fork:
            nodes = _GrowingNodes(self._group, fork, self._limit)
            placed = [(pods, nodes.place(pods)) for pods in order]
        return Estimate(nodes=len(nodes.used), pods=_helped(placed))

    def on_nodes(self, count: int, order: Order) -> Estimate:
        """Place set after set on *count* nodes, which are there from the beginning."""
        with self._simulation.fork() as fork:
            nodes = fork.add_nodes(self._group, min(count, self._limit))
            placed = [(pods, fork.place(pods, on=nodes)) for pods in order]
            used = {node for _, here in placed for node in here.values()}
        return Estimate(nodes=len(used), pods=_helped(placed))

    def in_blocks(self, size: int, order: Order, *, even: bool) -> Estimate:
        """Fill one block of *size* nodes after the other, with what needs most nodes for its rest.

        If the nodes are to be *even*, each block first takes its share of every set.
        """
        rest = {id(pods.pod): pods for pods in order}
        parts: list[PodSet] = []
        count = 0
        with self._simulation.fork() as fork:
            while rest and count < self._limit:
                block = fork.add_nodes(self._group, min(size, self._limit - count))
                before = len(parts)
                if even:
                    nodes = self.least(list(rest.values()))
                    parts += _moved(fork, block, [_share(pods, len(block), nodes) for pods in rest.values()], rest)
                urgent = sorted(rest.values(), key=lambda pods: -len(pods) / self.most_on_one(pods))
                parts += _moved(fork, block, urgent, rest)
                if len(parts) == before:
                    break
                count += len(block)
        return self.on_nodes(count, parts)


class _GrowingNodes:
    """New nodes of one group, as they fill."""

    def __init__(self, group: GroupFacts, simulation: Simulation, limit: int) -> None:
        self._group = group
        self._simulation = simulation
        self._limit = limit
        self._nodes: list[str] = []
        #: Those that got a pod.
        self.used: set[str] = set()

    def place(self, pods: PodSet) -> list[str]:
        """Place *pods*, adding nodes as long as that helps; return those that found room."""
        placed: list[str] = []
        rest: PodSet | None = pods
        fresh: Sequence[str] = self._nodes
        each = most_by_requests(pods, self._group.template.allocatable if self._group.template else {})
        while rest is not None:
            here = self._simulation.place(rest, on=fresh) if fresh else {}
            placed += here
            self.used.update(here.values())
            if here:
                rest = rest.without(here)
                # Equal pods fill equal nodes alike: what some held tells how many more it takes.
                each = max(1, len(here) // len(set(here.values()))) if fresh is not self._nodes else each
            # What does not fit while a node is empty fits on no further one.
            if rest is None or len(self.used) < len(self._nodes) or len(self._nodes) >= self._limit:
                break
            fresh = self._simulation.add_nodes(self._group, min(-(-len(rest) // each), self._limit - len(self._nodes)))
            self._nodes = [*self._nodes, *fresh]
        return placed


def count_by_pod(sets: Iterable[PodSet]) -> dict[int, int]:
    """Return how many pods there are of each set, by the identity of its pod; a set may come in parts."""
    counts: dict[int, int] = {}
    for pods in sets:
        counts[id(pods.pod)] = counts.get(id(pods.pod), 0) + len(pods)
    return counts


def most_by_requests(pods: PodSet, room: Resources) -> int:
    """Return how many of *pods* a node with so much *room* holds at most, by what they request."""
    requests = pods.pod.requests
    return max(1, min(room.get(name, 0) // amount for name, amount in requests.items() if amount))


def _helped(placed: Sequence[tuple[PodSet, Mapping[str, str] | Sequence[str]]]) -> tuple[PodSet, ...]:
    return tuple(PodSet(pod=pods.pod, keys=tuple(here)) for pods, here in placed if here)


def _share(pods: PodSet, block: int, nodes: int) -> PodSet:
    return PodSet(pod=pods.pod, keys=pods.keys[: -(-len(pods) * block // nodes)])


def _moved(simulation: Simulation, block: Sequence[str], order: Order, rest: dict[int, PodSet]) -> Sequence[PodSet]:
    """Place what fits of each set in *order* on a block of nodes, take it out of *rest* and return it."""
    parts = _helped([(pods, simulation.place(pods, on=block)) for pods in order])
    for part in parts:
        left = rest.pop(id(part.pod)).without(frozenset(part.keys))
        if left is not None:
            rest[id(part.pod)] = left
    return parts
