"""Plans made by taking one option after the other in simulation. They work with all rules; others must beat them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from nodewright.api import Option, PodSet, Simulation

from nodewright_least_cost.market import limit_of, size_on
from nodewright_least_cost.proposal import Proposal, SimulatedOption


def _cost_per_pod(option: Option) -> float:
    return (option.group.hourly_price or 0.0) * option.nodes / option.pod_count


def _waste(option: Option) -> float:
    capacity = option.group.template.capacity if option.group.template else {}
    return -sum(
        option.requested(name) / (capacity[name] * option.nodes) for name in ("cpu", "memory") if capacity.get(name)
    )


def _cost_for_size(option: Option) -> float:
    price = option.group.hourly_price or 0.0
    return price * option.nodes / (sum(size_on(option, same) * len(same) for same in option.pods) or 1.0)


def rounds(
    options: Sequence[Option],
    sets: Sequence[PodSet],
    simulation: Simulation,
    room: int | None,
    is_over: Callable[[], bool],
) -> Iterator[Proposal]:
    """Yield the plans of repeatedly taking the best option, by several scores of what is best.

    Ends early, with the plan so far, when time *is_over*.
    """
    for score in (_cost_per_pod, _waste, _cost_for_size):
        with simulation.fork() as trial:
            yield _Rounds(options, sets, trial, room).run(score, is_over)
        if is_over():
            return


@dataclass(frozen=True, kw_only=True)
class _Estimate:
    option: Option
    #: The option's number.
    number: int


class _Rounds:
    def __init__(
        self, options: Sequence[Option], sets: Sequence[PodSet], simulation: Simulation, room: int | None
    ) -> None:
        self._options = options
        self._left = list(sets)
        self._simulation = simulation
        self._limits = [limit_of(option) for option in options]
        self._room = sum(self._limits) if room is None else room
        self._simulated: list[SimulatedOption] = []

    def run(self, score: Callable[[Option], float], is_over: Callable[[], bool]) -> Proposal:
        """Take options until none helps any pod."""
        while self._left and not is_over() and (estimates := self._estimates()):
            best = min(estimates, key=lambda each: score(each.option))
            self._take(best)
        return Proposal(options=tuple(filter(None, (each.result() for each in self._simulated))))

    def _estimates(self) -> list[_Estimate]:
        estimates = []
        for number, option in enumerate(self._options):
            with self._simulation.fork() as trial:
                found = _filled(option, self._left, trial, min(self._limits[number], self._room))
            if found is not None:
                estimates.append(_Estimate(option=found, number=number))
        return estimates

    def _take(self, best: _Estimate) -> None:
        option = best.option
        self._limits[best.number] -= option.nodes
        self._room -= option.nodes
        simulated = SimulatedOption(option, self._simulation.add_nodes(option.group, option.nodes))
        self._simulated.append(simulated)
        helped = {same.pod.key: same for same in option.pods}
        for same in [helped[each.pod.key] for each in self._left if each.pod.key in helped]:
            simulated.place(same, self._simulation)
        self._left = _without(self._left, option.pods)
        self._use_room()

    def _use_room(self) -> None:
        """Place more pods on the bought nodes: pods that are spread may fit now that other domains have more."""
        before = None
        while self._left and before != self._left:
            before = self._left
            for each in self._simulated:
                self._left = [rest for same in self._left if (rest := each.place(same, self._simulation))]


def _filled(option: Option, sets: Sequence[PodSet], simulation: Simulation, limit: int) -> Option | None:
    """Return *option* with as many of *sets* as its nodes hold, the largest first; None if it helps none."""
    nodes: list[str] = []
    simulated = SimulatedOption(option, nodes)
    for same in sorted(sets, key=lambda same: size_on(option, same), reverse=True):
        rest = simulated.place(same, simulation) if nodes else same
        added = 1
        while rest and len(nodes) < limit:
            fresh = simulation.add_nodes(option.group, min(added, limit - len(nodes)))
            before = len(rest)
            nodes.extend(fresh)
            rest = simulated.place(rest, simulation)
            got = before - (len(rest) if rest else 0)
            if not got:
                break
            # Equal pods fill equal nodes alike: what one node held tells how many more are needed.
            added = max(1, -(-(len(rest) if rest else 0) * len(fresh) // got))
    return simulated.result()


def _without(sets: Sequence[PodSet], helped: Sequence[PodSet]) -> list[PodSet]:
    keys = {key for same in helped for key in same.keys}
    return [rest for same in sets if (rest := same.without(keys))]
