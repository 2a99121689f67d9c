"""A plan in simulation, as the core will try it: what of it holds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nodewright.api import Option, PodSet, Simulation


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """Options to take together, with the pods that find a place there."""

    options: tuple[Option, ...]
    #: Options, by number, not all of whose pods found a place.
    short: frozenset[int] = frozenset()

    @property
    def helped(self) -> int:
        """How many pods find a place."""
        return sum(option.pod_count for option in self.options)

    @property
    def nodes(self) -> int:
        """How many nodes are bought."""
        return sum(option.nodes for option in self.options)

    @property
    def cost(self) -> float:
        """What the nodes cost in an hour."""
        return sum((option.group.hourly_price or 0.0) * option.nodes for option in self.options)


class Stage:
    """One option with its nodes in simulation."""

    def __init__(self, option: Option, nodes: Sequence[str]) -> None:
        self._option = option
        self._nodes = nodes
        self._placed: dict[str, tuple[PodSet, dict[str, str]]] = {}

    def place(self, pods: PodSet, simulation: Simulation) -> PodSet | None:
        """Put *pods* onto the nodes; return those that found no place."""
        placed = simulation.place(pods, on=self._nodes)
        if not placed:
            return pods
        self._placed.setdefault(pods.pod.key, (pods, {}))[1].update(placed)
        return pods.without(placed)

    def result(self) -> Option | None:
        """Return the option with the nodes that are used and the pods that are there; None if there are none."""
        used = {node for _, placed in self._placed.values() for node in placed.values()}
        pods = tuple(PodSet(pod=same.pod, keys=tuple(placed)) for same, placed in self._placed.values())
        return replace(self._option, nodes=len(used), pods=pods) if used else None


def rehearse(plan: Sequence[Option], simulation: Simulation) -> Proposal:
    """Return what of *plan* holds: option by option, and then again as long as more pods find a place."""
    with simulation.fork() as trial:
        stages = []
        left: list[list[PodSet]] = []
        for option in plan:
            stages.append(Stage(option, trial.add_nodes(option.group, option.nodes)))
            left.append(list(_place(stages[-1], option.pods, trial)))
        before = -1
        while (waiting := sum(len(same) for each in left for same in each)) and waiting != before:
            before = waiting
            left = [list(_place(stage, pods, trial)) for stage, pods in zip(stages, left, strict=True)]
    return Proposal(
        options=tuple(filter(None, (stage.result() for stage in stages))),
        short=frozenset(number for number, pods in enumerate(left) if pods),
    )


def _place(stage: Stage, pods: Sequence[PodSet], simulation: Simulation) -> Iterator[PodSet]:
    for same in pods:
        if rest := stage.place(same, simulation):
            yield rest
