"""Options made into a problem in numbers, and its answer made into options."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from nodewright.api import Option, Pod, PodSet, Resources, Simulation

from nodewright_least_cost.places import is_independent, most_on
from nodewright_least_cost.problem import Amounts, Filling, Offer, Problem, Purchase

#: The pods of one node.
_Load = tuple[PodSet, ...]


class Market:
    """What is offered for which pods. Pods whose places depend on what runs elsewhere take no part."""

    def __init__(self, options: Sequence[Option], simulation: Simulation, room: int | None) -> None:
        self._options = options
        self._simulation = simulation
        self._sets = _independent_sets(options)
        requested = {name for same in self._sets for name, amount in same.pod.requests.items() if amount}
        self._resources = tuple(sorted(requested))
        self.problem = Problem(
            demand=tuple(len(same) for same in self._sets),
            sizes=tuple(self._amounts(same.pod.requests) for same in self._sets),
            offers=tuple(self._offer(option) for option in options),
            room=room,
        )

    def options(self, purchases: Sequence[Purchase]) -> list[Option]:
        """Return *purchases* as options; in simulation, the pods of each find their places by first fit."""
        waiting = [iter(same.keys) for same in self._sets]
        found: list[Option] = []
        for number, option in enumerate(self._options):
            fillings = (each.filling for each in purchases if each.offer == number for _ in range(each.nodes))
            loads = [load for filling in fillings if (load := self._load(filling, waiting))]
            if loads:
                found += self._parts(option, loads)
        return found

    def _amounts(self, resources: Resources) -> Amounts:
        return tuple(resources.get(name, 0) for name in self._resources)

    def _offer(self, option: Option) -> Offer:
        with self._simulation.fork() as trial:
            (node,) = trial.add_nodes(option.group, 1)
            helped = {pods.pod.key for pods in option.pods}
            return Offer(
                price=option.group.hourly_price or 0.0,
                limit=option.nodes,
                free=self._amounts(trial.free(node)),
                most=tuple(most_on(node, same, trial) if same.pod.key in helped else 0 for same in self._sets),
            )

    def _load(self, filling: Filling, waiting: Sequence[Iterator[str]]) -> _Load:
        """Take the pods of one node off those that are waiting."""
        taken = [tuple(islice(keys, count)) for count, keys in zip(filling, waiting, strict=True)]
        return tuple(PodSet(pod=same.pod, keys=keys) for same, keys in zip(self._sets, taken, strict=True) if keys)

    def _parts(self, option: Option, loads: Sequence[_Load]) -> list[Option]:
        """Return one option for all *loads*, or several for parts of them where first fit would not find the way."""
        whole = replace(option, nodes=len(loads), pods=_together(option, loads))
        if len(loads) == 1 or self._holds(whole):
            return [whole]
        half = len(loads) // 2
        return self._parts(option, loads[:half]) + self._parts(option, loads[half:])

    def _holds(self, option: Option) -> bool:
        with self._simulation.fork() as trial:
            fresh = trial.add_nodes(option.group, option.nodes)
            return all(len(trial.place(pods, on=fresh)) == len(pods) for pods in option.pods)


def _independent_sets(options: Sequence[Option]) -> list[PodSet]:
    """Return the pods of all *options* that take part, like ones together: options may help different ones of them."""
    keys: dict[str, dict[str, None]] = {}
    pods: dict[str, Pod] = {}
    for same in (same for option in options for same in option.pods):
        if is_independent(same.pod):
            pods.setdefault(same.pod.key, same.pod)
            keys.setdefault(same.pod.key, {}).update(dict.fromkeys(same.keys))
    return [PodSet(pod=pod, keys=tuple(keys[name])) for name, pod in pods.items()]


def _together(option: Option, loads: Sequence[_Load]) -> tuple[PodSet, ...]:
    """Return the pods of several nodes, set by set, the biggest first."""
    sets: dict[str, PodSet] = {}
    for same in (same for load in loads for same in load):
        before = sets.get(same.pod.key)
        sets[same.pod.key] = replace(same, keys=(before.keys if before else ()) + same.keys)
    allocatable = option.group.template.allocatable if option.group.template else {}

    def size(same: PodSet) -> float:
        requests = same.pod.requests
        return sum(requests.get(name, 0) / allocatable[name] for name in ("cpu", "memory") if allocatable.get(name))

    return tuple(sorted(sets.values(), key=size, reverse=True))
