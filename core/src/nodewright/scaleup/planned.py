"""Plans of expanders: held against what was offered, and against the simulation."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from nodewright.api.option import Option, PodSet
from nodewright.plugins.results import sequence_of
from nodewright.scheduling import ClusterSimulation


def plan_for(offered: Sequence[Option]) -> Callable[[object], tuple[Option, ...]]:
    """Expect a plan that is made of *offered*: see `nodewright.api.Expander.plan`."""

    def check(result: object) -> tuple[Option, ...]:
        nodes = {option.group.id: option.nodes for option in offered}
        waiting = {key for option in offered for pods in option.pods for key in pods.keys}
        plan = sequence_of(Option)(result)
        for option in plan:
            group = option.group.id
            if group not in nodes:
                raise TypeError(f"planned to grow {group}, which was not offered")
            nodes[group] -= option.nodes
            if option.nodes < 1 or nodes[group] < 0:
                raise TypeError(f"planned to grow {group} by less than one node or by more than was offered")
            for key in (key for pods in option.pods for key in pods.keys):
                if key not in waiting:
                    raise TypeError(f"planned for {key}, which is not one of the pods it was given, or not only once")
                waiting.remove(key)
        return plan

    return check


def hold(plan: Sequence[Option], simulation: ClusterSimulation, room: int | None) -> tuple[Option, ...]:
    """Return what of *plan* holds in simulation, one option for each group, the one that helps most pods first.

    All groups together get at most *room* nodes, if that is not None. What is tried in simulation is taken back.
    """
    held: dict[str, Option] = {}
    left = sum(option.nodes for option in plan) if room is None else room
    with simulation.fork():
        for option in plan:
            placed = _place(option, simulation, min(option.nodes, left))
            if placed is None:
                continue
            left -= placed.nodes
            before = held.get(option.group.id)
            held[option.group.id] = placed if before is None else _joined(before, placed)
    return tuple(sorted(held.values(), key=lambda option: -option.pod_count))


def _place(option: Option, simulation: ClusterSimulation, nodes: int) -> Option | None:
    """Put the pods of *option* onto new nodes; return what came of it, None if no pod found a place."""
    if nodes < 1:
        return None
    fresh = simulation.add_nodes(option.group, nodes)
    used: set[str] = set()
    helped: list[PodSet] = []
    for pods in option.pods:
        placed = simulation.place(pods, on=fresh)
        used.update(placed.values())
        if placed:
            helped.append(PodSet(pod=pods.pod, keys=tuple(placed)))
    simulation.remove_nodes([name for name in fresh if name not in used])
    return replace(option, nodes=len(used), pods=tuple(helped)) if used else None


def _joined(first: Option, second: Option) -> Option:
    return replace(first, nodes=first.nodes + second.nodes, pods=first.pods + second.pods)
