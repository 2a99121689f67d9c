"""Plans of expanders: checked against what was offered, then tried in simulation."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from nodewright.api.option import Option, PodSet
from nodewright.plugins.results import all_of, sequence_of, whole_number
from nodewright.scheduling import ClusterSimulation


def checked_plan(offered: Sequence[Option], pending: Sequence[PodSet] = ()) -> Callable[[object], tuple[Option, ...]]:
    """Return a check for a plan made of *offered* options for *pending* pods: see `nodewright.api.Expander.plan`.

    The check raises `TypeError` if the result of an expander is no such plan.
    """

    def check(result: object) -> tuple[Option, ...]:
        nodes = {option.group.id: max(option.nodes, option.limit) for option in offered}
        facts = {option.group.id: option.group for option in offered}
        similar = {option.group.id: set(option.similar) for option in offered}
        sets = [*(pods for option in offered for pods in option.pods), *pending]
        waiting = {key for pods in sets for key in pods.keys}
        sound = all_of(PodSet, sets)
        plan = []
        for option in sequence_of(Option)(result):
            group = option.group.id
            if group not in nodes:
                raise TypeError(f"planned to grow {group}, which was not offered")
            if not set(option.similar) <= similar[group]:
                raise TypeError(f"planned to spread {group} over groups that are not similar to it")
            # The group is as it was offered, whatever the plan says of it.
            option = replace(
                option,
                group=facts[group],
                nodes=whole_number(option.nodes),
                limit=whole_number(option.limit),
                similar=tuple(option.similar),
                pods=sound(option.pods),
            )
            plan.append(option)
            if option.group.options.zero_or_max_node_scaling and option.nodes != nodes[group]:
                raise TypeError(f"planned to grow {group} by a part, or twice, though it is used whole or not at all")
            nodes[group] -= option.nodes
            if option.nodes < 1 or nodes[group] < 0:
                raise TypeError(f"planned to grow {group} by less than one node or by more than was offered")
            for key in (key for pods in option.pods for key in pods.keys):
                if key not in waiting:
                    raise TypeError(f"planned for {key}, which is not one of the pods it was given, or not only once")
                waiting.remove(key)
        return tuple(plan)

    return check


def workable(plan: Sequence[Option], simulation: ClusterSimulation, room: int | None) -> tuple[Option, ...]:
    """Return the part of *plan* that works in simulation. It must be carried out in the same order, part by part.

    All groups together get at most *room* nodes, unless that is None. The *simulation* is left as it was.
    """
    left = sum(option.nodes for option in plan) if room is None else room
    with simulation.fork():
        trials = []
        for option in plan:
            number = min(option.nodes, left)
            if option.group.options.zero_or_max_node_scaling and number < option.nodes:
                number = 0
            trials.append(_Trial(option, simulation.add_nodes(option.group, number)))
            left -= len(trials[-1].nodes)
            trials[-1].place_more(simulation)
        # Pods with spread constraints need their count to rise in all options together.
        while sum(trial.place_more(simulation) for trial in trials):
            pass
    return tuple(filter(None, (trial.result() for trial in trials)))


def most_helpful(plan: Sequence[Option], groups: int) -> list[Option]:
    """Return the part of *plan* for at most so many *groups*: those that help most pods."""
    helped: dict[str, int] = {}
    for option in plan:
        helped[option.group.id] = helped.get(option.group.id, 0) + option.pod_count
    chosen = sorted(helped, key=lambda group: -helped[group])[:groups]
    return [option for option in plan if option.group.id in chosen]


class _Trial:
    """One option of a plan in simulation: its nodes, and which of its pods found a place on them."""

    def __init__(self, option: Option, nodes: Sequence[str]) -> None:
        self.nodes = nodes
        self._option = option
        self._left: list[PodSet | None] = list(option.pods)
        self._placed: list[dict[str, str]] = [{} for _ in option.pods]

    def place_more(self, simulation: ClusterSimulation) -> int:
        """Place pods that have no place yet on the nodes, and return how many found one."""
        count = 0
        for index, pods in enumerate(self._left if self.nodes else ()):
            if pods is not None:
                placed = simulation.place(pods, on=self.nodes)
                self._placed[index].update(placed)
                self._left[index] = pods.without(placed)
                count += len(placed)
        return count

    def result(self) -> Option | None:
        """Return the option with those pods and the nodes that they use; None if no pod found a place.

        A group that is used whole keeps all of its nodes.
        """
        nodes = {node for placed in self._placed for node in placed.values()}
        sets = zip(self._option.pods, self._placed, strict=True)
        pods = tuple(PodSet(pod=same.pod, keys=tuple(placed)) for same, placed in sets if placed)
        whole = self._option.group.options.zero_or_max_node_scaling
        return replace(self._option, nodes=len(self.nodes if whole else nodes), pods=pods) if nodes else None
