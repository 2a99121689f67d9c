"""Moves: where the pods of nodes could run for less, and whether that is worth it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from functools import cached_property

from nodewright.api.group import GroupFacts
from nodewright.api.option import PodSet
from nodewright.cluster import Cluster
from nodewright.config.model.scale_down import Consolidation as ConsolidationSettings
from nodewright.decision.consolidation.candidate import Candidate, pod_sets
from nodewright.decision.limits import Limits
from nodewright.decision.scaledown.selection.disruption import disruption_of_all
from nodewright.decision.world import World
from nodewright.objects import Resources
from nodewright.scheduling import ClusterSimulation
from nodewright.scheduling.spreading import Spreading


@dataclass(frozen=True, kw_only=True)
class Move:
    """Some nodes go, and their pods run on nodes that are there and on *count* new nodes of *group*."""

    leaving: tuple[Candidate, ...]
    #: None if no new node is needed.
    group: GroupFacts | None = None
    count: int = 0
    #: Per hour.
    saving: float
    #: The saving, as a share of what the nodes that go cost.
    share: float
    #: The saving as a share of the cost of the groups concerned, over the disruption as a share of all theirs.
    score: float

    @property
    def pods(self) -> int:
        """How many pods have to move."""
        return sum(len(each.move) for each in self.leaving)

    def __str__(self) -> str:
        pods = f"{self.pods} pod" if self.pods == 1 else f"{self.pods} pods"
        return f"saves {self.saving:.4g}/h ({self.share:.0%}), moves {pods}, score {self.score:.2g}"


@dataclass(frozen=True)
class _Order:
    """New nodes of a group, or none."""

    group: GroupFacts | None = None
    count: int = 0

    @property
    def cost(self) -> float:
        """Per hour."""
        return self.count * _price(self.group) if self.group else 0.0

    @property
    def size(self) -> Resources:
        """What pods may use on one of them."""
        return self.group.template.allocatable if self.group and self.group.template else {}


class _Result(Enum):
    """The result of an order."""

    GOOD = "good"
    #: Pods that move would find no place, as the scheduler spreads them.
    HOMELESS = "homeless"
    #: The next pods that come would find less room.
    CROWDED = "crowded"


class Reserve:
    """Free room that consolidation keeps: as much as *simulation* now has for more pods like those of *sets*.

    Idle nodes look like waste, but as long as there are some, pods that come don't wait for a node. The pods of the
    last time stand for those that may come next. For one decision, on one thread.
    """

    def __init__(self, simulation: ClusterSimulation, sets: Iterable[PodSet]) -> None:
        self._sets = [replace(pods, keys=tuple(f"{key} again" for key in pods.keys)) for pods in sets]
        # Counted now: forks may change the simulation later.
        self._before = self._room(simulation)

    @classmethod
    def of_pods_since(cls, time: datetime, cluster: Cluster, simulation: ClusterSimulation) -> "Reserve":
        """Return the reserve for pods like those that came after *time*."""
        rows = [
            row
            for row in cluster.pods.values()
            if row.created is not None
            and row.created > time
            and row.deleted is None
            and not row.finished
            and not row.pod_class.pod.is_daemon
            and not row.pod_class.pod.is_mirror
        ]
        return cls(simulation, pod_sets(rows))

    def is_kept(self, simulation: ClusterSimulation) -> bool:
        """Tell whether a *simulation*, which is left as it is, has at least as much room for each kind of pod."""
        return all(room >= before for room, before in zip(self._room(simulation), self._before, strict=True))

    def _room(self, simulation: ClusterSimulation) -> list[int]:
        """Return how many pods of each kind find room if they all come again at once."""
        with simulation.fork() as fork:
            return [len(fork.place(pods)) for pods in self._sets]


class Moves:
    """Finds moves in *simulation*, which is the cluster as it will be without them and is left as it is.

    New nodes come from *sources*, groups with a price that can grow, within *limits*. The *reserve* is kept.
    """

    def __init__(
        self,
        world: World,
        simulation: ClusterSimulation,
        sources: Iterable[GroupFacts],
        limits: Limits,
        reserve: Reserve,
        settings: ConsolidationSettings,
    ) -> None:
        self._world = world
        self._simulation = simulation
        self._sources = sorted(sources, key=lambda facts: (_price(facts), facts.id))
        self._limits = limits
        self._reserve = reserve
        self._settings = settings
        self._totals: dict[str, tuple[float, float]] = {}

    def best(self, leaving: Sequence[Candidate]) -> Move | str:
        """Return the cheapest way to do without the nodes *leaving*, or why there is none that is worth it."""
        before = sum(each.price for each in leaving)
        objection = self._objection(self._move(leaving, _Order()))
        if objection is not None:
            # It is not worth it even if the pods ran for nothing: no need to look where they could.
            return f"at best {objection}"
        with self._simulation.fork() as fork:
            names = [each.node.name for each in leaving]
            guests = [pods for name in names for pods in fork.guests(name)]
            fork.remove_nodes(names)
            pods = pod_sets([row for each in leaving for row in each.move], guests)
            refusal = f"{'its' if len(leaving) == 1 else 'their'} pods fit on no cheaper nodes"
            for order in self._orders(pods, before):
                move = self._move(leaving, order)
                objection = self._objection(move)
                if objection is not None:
                    # All orders after it save less.
                    return objection
                result = self._try(pods, order)
                if result is _Result.GOOD:
                    return move
                if result is _Result.CROWDED:
                    refusal = "pods like those that came lately would find less room"
        return refusal

    def _objection(self, move: Move) -> str | None:
        if move.saving <= 0:
            return "saves nothing"
        if move.share * 100 < self._settings.min_saving_percentage:
            return f"{move}: less than {self._settings.min_saving_percentage:g} % are saved"
        if move.score < self._settings.threshold:
            return f"{move} of {self._settings.threshold:g}"
        return None

    def _orders(self, pods: Sequence[PodSet], before: float) -> list[_Order]:
        """Return what could be ordered for *pods* that costs less than *before*, the cheapest first."""
        orders = []
        with self._simulation.fork() as fork:
            left = place(fork, pods)
            if not left:
                orders.append(_Order())
            for facts in self._sources:
                least = self._needed(facts, left, before) if left else 1
                # With one more node, there is room even if the scheduler spreads pods wider.
                counts = (least, least + 1) if least else ()
                orders += [_Order(facts, count) for count in counts if self._allowed(facts, count) == count]
        return sorted((order for order in orders if order.cost < before), key=lambda order: order.cost)

    def _try(self, pods: Sequence[PodSet], order: _Order) -> _Result:
        """Try to place *pods* as the scheduler will: it spreads them, and does not fill one node after the other."""
        with self._simulation.fork() as fork:
            fresh = fork.add_nodes(order.group, order.count) if order.group else ()
            if not self._spreading.place(pods[::-1], fresh=fresh, size=order.size):
                return _Result.HOMELESS
            # Room on nodes that scale-down is about to remove does not count.
            fork.remove_nodes([name for name in fresh if order.group and self._is_idle(fork, name, order.group)])
            return _Result.GOOD if self._reserve.is_kept(fork) else _Result.CROWDED

    def _is_idle(self, simulation: ClusterSimulation, name: str, group: GroupFacts) -> bool:
        """Tell whether so little of a new node is used that scale-down would try to remove it."""
        size = group.template.allocatable if group.template else {}
        gpu = self._world.group_gpus.get(group.id)
        free, options = simulation.free(name), group.options
        threshold = (
            options.scale_down_utilization_threshold if gpu is None else options.scale_down_gpu_utilization_threshold
        )
        resources = ("cpu", "memory") if gpu is None else (gpu.resource,)
        return all(size[each] - free[each] <= threshold * size[each] for each in resources if size.get(each))

    @cached_property
    def _spreading(self) -> Spreading:
        return Spreading(self._simulation)

    def _needed(self, facts: GroupFacts, left: Sequence[PodSet], budget: float) -> int:
        """Return how many nodes of a group *left* needs that cost less than *budget* together; 0 if that can't be."""
        count = 0
        with self._simulation.fork() as fork:
            while left:
                count += 1
                if count * _price(facts) >= budget or self._allowed(facts, count) < count:
                    return 0
                still = place(fork, left, on=fork.add_nodes(facts, 1))
                if _count(still) == _count(left):
                    return 0
                left = still
        return count

    def _allowed(self, facts: GroupFacts, count: int) -> int:
        return self._limits.allowed(facts, min(count, facts.room))

    def _move(self, leaving: Sequence[Candidate], order: _Order) -> Move:
        totals = [self._total(facts) for facts in {each.group.id: each.group for each in leaving}.values()]
        cost, disruption = (sum(part) for part in zip(*totals, strict=True))
        disturbed = sum(each.disruption for each in leaving) / disruption
        before = sum(each.price for each in leaving)
        saving = before - order.cost
        return Move(
            leaving=tuple(leaving),
            group=order.group,
            count=order.count,
            saving=saving,
            share=saving / before if before else 0.0,
            score=saving / cost / disturbed if cost else 0.0,
        )

    def _total(self, facts: GroupFacts) -> tuple[float, float]:
        """Return what all nodes of a group cost per hour, and what it would cost to disrupt them all."""
        known = self._totals.get(facts.id)
        if known is None:
            nodes = self._world.nodes_of(facts.id)
            disruption = sum(disruption_of_all(self._world.cluster.pods_on(node.name)) for node in nodes)
            known = self._totals[facts.id] = len(nodes) * _price(facts), disruption
        return known


def place(simulation: ClusterSimulation, sets: Sequence[PodSet], *, on: Sequence[str] | None = None) -> list[PodSet]:
    """Place pods in *simulation*, also those that need each other as neighbours, and return those without a place."""
    left = list(sets)
    while left:
        still = [rest for pods in left if (rest := pods.without(simulation.place(pods, on=on))) is not None]
        if _count(still) == _count(left):
            break
        left = still
    return left


def _count(sets: Sequence[PodSet]) -> int:
    return sum(map(len, sets))


def _price(facts: GroupFacts) -> float:
    assert facts.hourly_price is not None, "groups without a price take no part"
    return facts.hourly_price
