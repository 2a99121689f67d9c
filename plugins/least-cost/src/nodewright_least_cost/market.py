"""Converts options into a numeric problem, and its solution back into options."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from nodewright.api import Option, Pod, PodSet, Resources, Simulation

from nodewright_least_cost.neighbours import Neighbourhood
from nodewright_least_cost.places import is_spread_over_nodes, most_on
from nodewright_least_cost.problem import Amounts, Filling, Offer, Problem, Purchase
from nodewright_least_cost.proposal import Proposal, try_out

#: The pods of one node.
_Load = tuple[PodSet, ...]
#: Nodes of an option, by their pods.
_Part = tuple[Option, list[_Load]]
#: Pieces into which an option is split if first fit does not find the places.
_PIECES = 16


class Market:
    """The offers for the waiting pods. *caps* limits how many pods of a set, by number, one node takes."""

    def __init__(
        self,
        options: Sequence[Option],
        sets: Sequence[PodSet],
        simulation: Simulation,
        room: int | None,
        caps: Mapping[int, int] | None = None,
    ) -> None:
        self._options = options
        self._sets = sets
        self._simulation = simulation
        requested = {name for same in self._sets for name, amount in same.pod.requests.items() if amount}
        self._resources = tuple(sorted(requested))
        self._caps = caps or {}
        self._neighbourhood = neighbourhood = Neighbourhood(sets, options, simulation)
        self.problem = Problem(
            demand=tuple(len(same) for same in self._sets),
            sizes=tuple(self._amounts(same.pod.requests) for same in self._sets),
            offers=tuple(
                self._offer(option, cells) for option, cells in zip(options, neighbourhood.cells_of, strict=True)
            ),
            room=room,
            set_of=neighbourhood.set_of,
            rules=neighbourhood.numbered(),
            foes=neighbourhood.foes,
            huddled=neighbourhood.huddled,
        )

    def proposal(self, purchases: Sequence[Purchase], is_over: Callable[[], bool]) -> Proposal:
        """Return *purchases* as options whose pods find their places by first fit, as far as possible.

        When time *is_over*, it takes the fastest way.
        """
        parts = self._parts(purchases)
        proposal = self._tried_out(parts, is_over)
        if not proposal.short or is_over():
            return proposal
        # Nodes are more even for pods that are spread over nodes before other pods are placed.
        first = [part for number, part in enumerate(parts) if number in proposal.short]
        rest = [part for number, part in enumerate(parts) if number not in proposal.short]
        return max(proposal, self._tried_out(first + rest, is_over), key=lambda each: each.helped)

    def _parts(self, purchases: Sequence[Purchase]) -> list[_Part]:
        """Return the nodes of each option with the pods on them."""
        waiting = [iter(same.keys) for same in self._sets]
        parts = []
        for number, option in enumerate(self._options):
            fillings = (each.filling for each in purchases if each.offer == number for _ in range(each.nodes))
            loads = [load for filling in fillings if (load := self._load(filling, waiting))]
            if loads:
                parts.append((option, loads))
        return parts

    def _tried_out(self, parts: list[_Part], is_over: Callable[[], bool]) -> Proposal:
        """Return what works of *parts*; splits those in place for which first fit does not find the places."""
        while True:
            plan = [replace(option, nodes=len(loads), pods=_together(option, loads)) for option, loads in parts]
            proposal = try_out(plan, self._simulation)
            if all(len(parts[number][1]) == 1 for number in proposal.short):
                return proposal
            pieces = max(map(len, (loads for _, loads in parts))) if is_over() else _PIECES
            parts[:] = [
                (option, piece)
                for number, (option, loads) in enumerate(parts)
                for piece in (_pieces(loads, pieces) if number in proposal.short else [loads])
            ]

    def even_caps(self, purchases: Sequence[Purchase]) -> dict[int, int]:
        """Return caps that would spread pods evenly over the nodes of *purchases*."""
        caps = {}
        for index, skew in self._skews().items():
            offers = [number for number, offer in enumerate(self.problem.offers) if offer.most[index]]
            nodes = sum(each.nodes for each in purchases if each.offer in offers)
            even = -(-self.problem.demand[index] // max(1, nodes))
            most = max((self.problem.offers[number].most[index] for number in offers), default=0)
            caps[index] = max(skew, min(even, most - 1))
        return caps

    def least_caps(self) -> dict[int, int]:
        """Return caps with which the skew over nodes holds whatever is on other nodes."""
        return self._skews()

    def _skews(self) -> dict[int, int]:
        """Return the allowed skew of the sets that may have more pods than that on one node."""
        found: dict[int, int] = {}
        for index, (same, rules) in enumerate(zip(self._sets, self._neighbourhood.rules, strict=True)):
            skews = [rule.max_skew for rule in rules if is_spread_over_nodes(same.pod, rule)]
            if skews and max(offer.most[index] for offer in self.problem.offers) > min(skews):
                found[index] = min(skews)
        return found

    def _amounts(self, resources: Resources) -> Amounts:
        return tuple(resources.get(name, 0) for name in self._resources)

    def _offer(self, option: Option, cells: tuple[int, ...]) -> Offer:
        with self._simulation.fork() as trial:
            (node,) = trial.add_nodes(option.group, 1)
            return Offer(
                price=option.group.hourly_price or 0.0,
                limit=limit_of(option),
                free=self._amounts(trial.free(node)),
                most=tuple(
                    min(most_on(node, same, rules, trial), self._caps.get(index, len(same)))
                    for index, (same, rules) in enumerate(zip(self._sets, self._neighbourhood.rules, strict=True))
                ),
                cells=cells,
            )

    def _load(self, filling: Filling, waiting: Sequence[Iterator[str]]) -> _Load:
        """Take the pods of one node from those that are waiting."""
        taken = [tuple(islice(keys, count)) for count, keys in zip(filling, waiting, strict=True)]
        return tuple(PodSet(pod=same.pod, keys=keys) for same, keys in zip(self._sets, taken, strict=True) if keys)


def limit_of(option: Option) -> int:
    """Return how many nodes the option's own group may gain; similar groups have options of their own."""
    limit = max(option.nodes, option.limit)
    return min(limit, option.group.max_size - option.group.target_size) if option.similar else limit


def sets_of(options: Sequence[Option], pending: Sequence[PodSet]) -> list[PodSet]:
    """Return the pods that any of *options* helps, plus equal *pending* pods, as sets of equal pods."""
    keys: dict[str, dict[str, None]] = {}
    pods: dict[str, Pod] = {}
    for same in (same for option in options for same in option.pods):
        pods.setdefault(same.pod.key, same.pod)
        keys.setdefault(same.pod.key, {})
    for same in (*pending, *(same for option in options for same in option.pods)):
        if same.pod.key in keys:
            keys[same.pod.key].update(dict.fromkeys(same.keys))
    return [PodSet(pod=pod, keys=tuple(keys[name])) for name, pod in pods.items()]


def size_on(option: Option, pods: PodSet) -> float:
    """Return the share of a node of *option* that one of *pods* takes: CPU plus memory."""
    allocatable: Mapping[str, int] = option.group.template.allocatable if option.group.template else {}
    requests = pods.pod.requests
    return sum(requests.get(name, 0) / allocatable[name] for name in ("cpu", "memory") if allocatable.get(name))


def _pieces(loads: list[_Load], count: int) -> list[list[_Load]]:
    size = max(1, len(loads) // count)
    return [loads[start : start + size] for start in range(0, len(loads), size)]


def _together(option: Option, loads: Sequence[_Load]) -> tuple[PodSet, ...]:
    """Return the pods of several nodes, set by set, the largest first."""
    sets: dict[str, PodSet] = {}
    for same in (same for load in loads for same in load):
        before = sets.get(same.pod.key)
        sets[same.pod.key] = replace(same, keys=(before.keys if before else ()) + same.keys)
    return tuple(sorted(sets.values(), key=lambda same: size_on(option, same), reverse=True))
