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

    def alone(self, sets: Order, counts: Sequence[int]) -> list[int]:
        """Return how many pods of each set find room on its number of nodes, if it has these for itself."""
        found = []
        with self._simulation.fork() as fork:
            # Nodes are added once, as that takes longer than anything else here.
            nodes = fork.add_nodes(self._group, min(max(counts, default=0), self._limit))
            for pods, count in zip(sets, counts, strict=True):
                with fork.fork() as inner:
                    found.append(len(inner.place(pods, on=nodes[:count])))
        return found

    def most_on_one(self, pods: PodSet) -> int:
        """Return how many pods like *pods* a node holds."""
        if id(pods.pod) not in self._most:
            self._meet([pods])
        return self._most[id(pods.pod)]

    def _meet(self, sets: Order) -> None:
        """Find out how many pods like those of *sets* a node holds."""
        for pods, most in zip(sets, self.alone(sets, [1] * len(sets)), strict=True):
            whole = most == len(pods)
            self._most[id(pods.pod)] = max(most, most_by_requests(pods, self.room)) if whole else most

    def least(self, sets: Order) -> int:
        """Return how many nodes *sets* need at least; a set may come in parts."""
        self._meet([pods for pods in sets if id(pods.pod) not in self._most])
        counts = count_by_pod(sets)
        needs = [-(-counts[id(pods.pod)] // self.most_on_one(pods)) for pods in sets]
        return max([least_nodes(sets, self.room), *needs])

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

    def evenly(self, count: int, order: Order) -> Estimate:
        """Place set after set on *count* nodes, each on those that are least full."""
        with self._simulation.fork() as fork:
            nodes = fork.add_nodes(self._group, min(count, self._limit))
            placed = list(zip(order, place_evenly(fork, order, nodes), strict=True))
            used = {node for _, here in placed for node in here.values()}
        return Estimate(nodes=len(used), pods=_helped(placed))

    def node_by_node(self, order: Order, *, even: bool) -> Estimate:
        """Fill one node after the other with what needs most nodes for its rest, the first of *order* among equals.

        If the nodes are to be *even*, each first takes its share of every set.
        """
        rest = {id(pods.pod): pods for pods in order}
        parts: list[PodSet] = []
        count = 0
        with self._simulation.fork() as fork:
            while rest and count < self._limit:
                node = fork.add_nodes(self._group, 1)
                before = len(parts)
                if even:
                    nodes = self.least(list(rest.values()))
                    parts += _moved(fork, node, [_share(pods, nodes) for pods in rest.values()], rest)
                urgent = sorted(rest.values(), key=lambda pods: -len(pods) / self.most_on_one(pods))
                parts += _moved(fork, node, urgent, rest)
                if len(parts) == before:
                    break
                count += 1
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


def place_well(simulation: Simulation, order: Order, nodes: Sequence[str]) -> list[Mapping[str, str]]:
    """Place set after set on *nodes*, filling one node after the other, or all evenly if more pods find a place then.

    Return the node by pod of each set. Estimates, orders and what is kept for ordered nodes go by this alike:
    otherwise, pods would find no room on nodes that were ordered for them.
    """
    if mind_each_other(order) and len(nodes) > 1:
        with simulation.fork() as fork:
            missing = sum(len(pods) - len(fork.place(pods, on=nodes)) for pods in order)
        if missing:
            with simulation.fork() as fork:
                evenly = sum(map(len, place_evenly(fork, order, nodes)))
            if evenly > sum(map(len, order)) - missing:
                return place_evenly(simulation, order, nodes)
    return [simulation.place(pods, on=nodes) for pods in order]


def place_evenly(simulation: Simulation, order: Order, nodes: Sequence[str]) -> list[Mapping[str, str]]:
    """Place set after set on *nodes*, each on those that have most room; return the node by pod of each set.

    That is how the scheduler goes about it. Sets of which a node takes few pods leave room on every node for the next.
    """
    room = {node: simulation.free(node) for node in nodes}
    most = {name: max(1, *(free.get(name, 0) for free in room.values())) for name in ("cpu", "memory")}
    free = {node: sum(here.get(name, 0) / most[name] for name in most) for node, here in room.items()}
    placed = []
    for pods in order:
        roomiest = sorted(nodes, key=lambda node: -free[node])
        with simulation.fork() as fork:
            each = len(fork.place(pods, on=roomiest[:1]))
        here = dict(simulation.place(pods, on=roomiest[: -(-len(pods) // max(1, each))]))
        if (rest := pods.without(here)) is not None:
            here |= simulation.place(rest, on=nodes)
        share = sum(pods.pod.requests.get(name, 0) / most[name] for name in most)
        for node in here.values():
            free[node] -= share
        placed.append(here)
    return placed


def mind_each_other(order: Order) -> bool:
    """Tell whether a node may have room for pods of these sets and yet not take them, because of others."""
    for pods in order:
        spec = pods.pod.spec
        apart = spec.affinity.pod_anti_affinity if spec.affinity else None
        if (
            spec.topology_spread_constraints
            or (apart and apart.required)
            or any(port.host_port for each in spec.containers for port in each.ports)
        ):
            return True
    return False


def share_of_node(group: GroupFacts, pods: PodSet) -> float:
    """How much of a node one pod takes: cpu and memory as shares of what a node has, added up."""
    allocatable = group.template.allocatable if group.template else {}
    requests = pods.pod.requests
    return sum(
        requests.get(resource, 0) / allocatable[resource] for resource in ("cpu", "memory") if allocatable.get(resource)
    )


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


def _share(pods: PodSet, nodes: int) -> PodSet:
    return PodSet(pod=pods.pod, keys=pods.keys[: -(-len(pods) // nodes)])


def _moved(simulation: Simulation, node: Sequence[str], order: Order, rest: dict[int, PodSet]) -> Sequence[PodSet]:
    """Place what fits of each set in *order* on a node, take it out of *rest* and return it."""
    parts = _helped([(pods, simulation.place(pods, on=node)) for pods in order])
    for part in parts:
        left = rest.pop(id(part.pod)).without(frozenset(part.keys))
        if left is not None:
            rest[id(part.pod)] = left
    return parts
