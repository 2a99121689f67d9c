"""Proposals: what works of a plan when it is tried out in simulation, as the core will."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nodewright.api import Option, PodSet, Simulation


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """Options to take together, with the pods that find a place there."""

    options: tuple[Option, ...]
    #: Numbers of the options with pods that found no place.
    short: frozenset[int] = frozenset()

    @property
    def helped(self) -> int:
        """The number of pods that find a place."""
        return sum(option.pod_count for option in self.options)

    @property
    def nodes(self) -> int:
        """The number of nodes that are bought."""
        return sum(option.nodes for option in self.options)

    @property
    def cost(self) -> float:
        """The hourly cost of the nodes."""
        return sum((option.group.hourly_price or 0.0) * option.nodes for option in self.options)


class SimulatedOption:
    """An option with its nodes in simulation."""

    def __init__(self, option: Option, nodes: Sequence[str]) -> None:
        self._option = option
        self._nodes = nodes
        self._placed: dict[str, tuple[PodSet, dict[str, str]]] = {}

    def place(self, pods: PodSet, simulation: Simulation) -> PodSet | None:
        """Place *pods* on the nodes; return those that found no place."""
        placed = simulation.place(pods, on=self._nodes)
        if not placed:
            return pods
        self._placed.setdefault(pods.pod.key, (pods, {}))[1].update(placed)
        return pods.without(placed)

    def result(self) -> Option | None:
        """Return the option with the nodes that are used and the pods on them; None if there are none."""
        used = {node for _, placed in self._placed.values() for node in placed.values()}
        pods = tuple(PodSet(pod=same.pod, keys=tuple(placed)) for same, placed in self._placed.values())
        return replace(self._option, nodes=len(used), pods=pods) if used else None


def try_out(plan: Sequence[Option], simulation: Simulation) -> Proposal:
    """Return what works of *plan*: option by option, and again as long as more pods find a place."""
    with simulation.fork() as trial:
        simulated: list[SimulatedOption] = []
        left: list[list[PodSet]] = []
        for option in plan:
            simulated.append(SimulatedOption(option, trial.add_nodes(option.group, option.nodes)))
            left.append(list(_place(simulated[-1], option.pods, trial)))
        before = -1
        while (waiting := sum(len(same) for each in left for same in each)) and waiting != before:
            before = waiting
            left = [list(_place(each, pods, trial)) for each, pods in zip(simulated, left, strict=True)]
    return Proposal(
        options=tuple(filter(None, (each.result() for each in simulated))),
        short=frozenset(number for number, pods in enumerate(left) if pods),
    )


def _place(each: SimulatedOption, pods: Sequence[PodSet], simulation: Simulation) -> Iterator[PodSet]:
    for same in pods:
        if rest := each.place(same, simulation):
            yield rest
