"""Relocation: nodes are taken out of a simulation one by one, and their pods move to the nodes that are left."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from nodewright.cluster import Cluster, PodClass, Rows
from nodewright.scheduling import placement
from nodewright.scheduling.filters import volumes
from nodewright.scheduling.room import PodShape, Room
from nodewright.scheduling.simulation import ClusterSimulation

#: The preferred nodes of pods, and how many pods should go to each.
Hints = tuple[tuple[str, int], ...]

#: This many places are examined first, before all others, because a look at each is expensive.
_FIRST_LOOK = 64


class Tenant(Protocol):
    """A pod that has to move; a `PodRow` is one."""

    @property
    def key(self) -> str:
        """``namespace/name``."""
        ...

    @property
    def pod_class(self) -> PodClass:
        """The class of the pod."""
        ...


class _Guest(NamedTuple):
    """A pod that was placed in the simulation."""

    key: str
    pod_class: PodClass


@dataclass(kw_only=True, slots=True, eq=False)
class Move:
    """Pods of one shape that went to one node."""

    node: str
    place: int
    shape: PodShape
    tenants: Sequence[Tenant]
    #: Whether their place did not depend on other pods.
    plain: bool = True
    #: Whether the columns contain them.
    noted: bool = False
    #: Whether they have moved on since.
    gone: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Relocated:
    """The result of taking a node out."""

    #: The pod without a place, which is why the node is still there. None if the node is out.
    homeless: Tenant | None = None
    #: Where the node's pods went, in the order in which they were placed.
    moves: Sequence[Move] = ()

    @property
    def hints(self) -> Hints:
        """Hints for the next time: how many plain pods went to which node."""
        return tuple((move.node, len(move.tenants)) for move in self.moves if move.plain)


class Relocation:
    """Takes nodes out of *simulation*, which it uses up. For the loop's thread, and in a fork only.

    Plain pods, which only need room and a class of nodes, are moved in lists of numbers, which is fast. The columns are
    updated only before a pod is placed whose place depends on other pods.

    *leaving* are the nodes that may be taken out, in the order in which they will be tried. Pods prefer to move to
    other nodes, and next to the nodes that are tried last.
    """

    def __init__(self, simulation: ClusterSimulation, leaving: Sequence[str]) -> None:
        self._simulation = simulation
        self._cluster = simulation.cluster
        self._table = self._cluster.table
        rows = [self._table.rows[name] for name in leaving]
        self._room = Room(self._cluster, _preference(self._cluster, rows))
        #: What came to each place.
        self._arrivals: dict[int, list[Move]] = {}
        self._choosy: dict[int, bool] = {}
        self._gone: list[str] = []
        #: Changes that the columns do not contain yet.
        self._out: list[str] = []
        self._moved: list[Move] = []
        #: The pods that were placed before.
        self._first: list[Move] = []
        for row in rows:
            if guests := self._cluster.guests(row):
                place = self._room.place_of[row]
                self._arrivals[place] = [
                    Move(
                        node=self._table.names[row],
                        place=place,
                        shape=self._room.shape(pod_class),
                        tenants=[_Guest(key, pod_class)],
                        noted=True,
                    )
                    # The order in which they came must make no difference.
                    for pod_class, key in sorted(guests, key=lambda guest: guest[1])
                ]
                self._first += self._arrivals[place]

    def guests(self, node: str) -> list[Tenant]:
        """Return the pods that came to *node* in the simulation, and have to move with those that run on it."""
        moves = self._arrivals.get(self._room.place_of[self._table.rows[node]], ())
        return [tenant for move in moves for tenant in move.tenants]

    @property
    def preference(self) -> list[str]:
        """The nodes in order of preference: each pod takes the first one that fits."""
        return [self._table.names[row] for row in self._room.rows]

    def remove(self, node: str, tenants: Iterable[Tenant], wished: Hints = ()) -> Relocated:
        """Take *node* out and move its *tenants*, and its guests, to other nodes.

        The pods whose place depends on other pods go first, in their order. The plain ones follow, the largest first:
        as many as possible of one shape go to the *wished* nodes, in order, and the others to the first node with room.
        If a pod has no place, nothing changes.
        """
        room = self._room
        place = room.place_of[self._table.rows[node]]
        choosy, plain = self._part([*tenants, *self.guests(node)] if place in self._arrivals else tenants)
        # The next one comes last.
        places = [(room.place_of.get(self._table.rows.get(name, -1), -1), count) for name, count in reversed(wished)]
        moves: list[Move] = []
        room.close(place)
        if choosy:
            self.tell()
            with self._simulation.fork():
                self._cluster.empty_node(node)
                homeless = self._move_choosy(choosy, self._table.rows[node], moves)
                homeless = homeless or self._move_plain(plain, places, moves)
                if homeless is None:
                    self._cluster.hide_node(node)
                    self._simulation.keep()
        else:
            homeless = self._move_plain(plain, places, moves)
            if homeless is None:
                self._out.append(node)
        if homeless is not None:
            room.undo()
            return Relocated(homeless=homeless)
        room.settle()
        self._gone.append(node)
        for gone in self._arrivals.pop(place, ()):
            gone.gone = True
        for move in moves:
            self._arrivals.setdefault(move.place, []).append(move)
        self._moved += [move for move in moves if not move.noted]
        return Relocated(moves=moves)

    def _part(self, tenants: Iterable[Tenant]) -> tuple[list[Tenant], list[tuple[PodShape, list[Tenant]]]]:
        """Return the pods whose place depends on other pods, and the plain ones by shape, the largest first."""
        choosy: list[Tenant] = []
        plain: dict[int, tuple[PodShape, list[Tenant]]] = {}
        known, shape_of = self._choosy, self._room.shape
        for tenant in tenants:
            pod_class = tenant.pod_class
            # Shapes must be computed before anything is taken out.
            shape = shape_of(pod_class)
            picky = known.get(pod_class.index)
            if picky is None:
                picky = known[pod_class.index] = not placement.is_plain(self._cluster, pod_class)
            if picky:
                choosy.append(tenant)
            elif (same := plain.get(id(shape))) is not None:
                same[1].append(tenant)
            else:
                plain[id(shape)] = (shape, [tenant])
        return choosy, sorted(plain.values(), key=_size) if len(plain) > 1 else list(plain.values())

    def _move_plain(
        self, plain: list[tuple[PodShape, list[Tenant]]], wished: list[tuple[int, int]], moves: list[Move]
    ) -> Tenant | None:
        """Place *plain* pods. Return one without a place, if any."""
        for shape, tenants in plain:
            found = self._room.take(shape, len(tenants), wished)
            if found is None:
                # Any of these equal pods: the choice must not depend on the order in which they came.
                return min(tenants, key=lambda tenant: tenant.key)
            done = 0
            for place, count in found:
                moves.append(self._move(place, shape, tenants[done : done + count]))
                done += count
        return None

    def _move_choosy(self, choosy: list[Tenant], leaving: int, moves: list[Move]) -> Tenant | None:
        """Place *choosy* pods of the row *leaving*, on the columns. Return one without a place, if any."""
        cluster, room = self._cluster, self._room
        for tenant in choosy:
            shape = room.shape(tenant.pod_class)
            row = self._find(tenant.pod_class, shape, leaving)
            if row is None:
                return tenant
            if volumes.matter(tenant.pod_class):
                volumes.assume(cluster, tenant.pod_class, row)
            cluster.take(tenant.pod_class, (tenant.key,), np.array([row], dtype=np.intp))
            place = room.place_of[row]
            room.charge(shape, place)
            moves.append(self._move(place, shape, [tenant], plain=False))
        return None

    def _move(self, place: int, shape: PodShape, tenants: Sequence[Tenant], *, plain: bool = True) -> Move:
        node = self._table.names[self._room.rows[place]]
        return Move(node=node, place=place, shape=shape, tenants=tenants, plain=plain, noted=not plain)

    def _find(self, pod_class: PodClass, shape: PodShape, leaving: int) -> int | None:
        rows = self._room.rows_of(shape)
        rows = rows[rows != leaving]
        for part in (rows[:_FIRST_LOOK], rows[_FIRST_LOOK:]):
            row = placement.first_row(self._cluster, pod_class, part) if len(part) else None
            if row is not None:
                return row
        return None

    def tell(self) -> None:
        """Bring the columns up to date with the lists."""
        for node in self._out:
            self._cluster.hide_node(node)
        self._out.clear()
        by_class: dict[PodClass, tuple[list[str], list[int]]] = {}
        for move in self._moved:
            if not move.gone:
                move.noted = True
                for tenant in move.tenants:
                    keys, rows = by_class.setdefault(tenant.pod_class, ([], []))
                    keys.append(tenant.key)
                    rows.append(self._room.rows[move.place])
        self._moved.clear()
        for pod_class, (keys, at) in by_class.items():
            self._cluster.take(pod_class, keys, np.array(at, dtype=np.intp))

    def repeat(self) -> None:
        """Repeat everything in the columns, after the fork in which it was done has ended."""
        first = set(map(id, self._first))
        self._out = list(self._gone)
        self._moved = [move for moves in self._arrivals.values() for move in moves if id(move) not in first]
        self.tell()


def _preference(cluster: Cluster, leaving: list[int]) -> Rows:
    """Return all rows with nodes: the fullest first, but those *leaving* at the end, in reverse order."""
    table = cluster.table
    present = np.flatnonzero(table.class_of[: table.size] >= 0)
    staying = present[~np.isin(present, np.array(leaving, dtype=np.intp))]
    fullest = staying[np.argsort(table.free[table.dimensions["cpu"], staying], kind="stable")]
    return np.concatenate([fullest, np.array(leaving[::-1], dtype=np.intp)])


def _size(plain: tuple[PodShape, list[Tenant]]) -> float:
    return -plain[0].size
