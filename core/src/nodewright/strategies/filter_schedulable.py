"""Processor ``filter-schedulable``: pods that fit on nodes that are there, or on their way, need no more nodes."""

from collections.abc import Callable, Sequence

from nodewright.api import PendingPodsProcessor, PodSet, ProcessorContext, Reason, Simulation


class FilterSchedulable(PendingPodsProcessor):
    """Places pods, the more important first, and takes off those that found room; they keep it in the simulation.

    Those for which nodes were ordered go onto these nodes before all others: nothing is ordered for them again, in
    whatever order they come.
    """

    reason = Reason.FITS

    def process(self, pods: Sequence[PodSet], context: ProcessorContext) -> Sequence[PodSet]:
        """Return the pods that fit nowhere."""
        expected = _on_ordered_nodes(pods, context) if context.intended else set()
        by_priority = sorted(pods, key=lambda same: -(same.pod.spec.priority or 0))
        waiting = [rest for same in by_priority if (rest := same.without(expected) if expected else same)]
        left = _placed_once(waiting, context.simulation)
        # Whoever has found a place by now may be the neighbour that another one needs.
        while _count(left) < _count(waiting) and any(map(_minds_others, left)):
            waiting, left = left, _placed_once(left, context.simulation, _minds_others)
        return left


def _placed_once(
    pods: Sequence[PodSet], simulation: Simulation, wanted: Callable[[PodSet], bool] = lambda _: True
) -> list[PodSet]:
    """Place those of *pods* that are *wanted*, each in its turn, and return who is left."""
    left = (same.without(simulation.place(same)) if wanted(same) else same for same in pods)
    return [rest for rest in left if rest is not None]


def _count(pods: Sequence[PodSet]) -> int:
    return sum(map(len, pods))


def _minds_others(pods: PodSet) -> bool:
    """Tell whether pods of other sets can make room for these by being there."""
    spec = pods.pod.spec
    near = spec.affinity.pod_affinity if spec.affinity else None
    hard = any(each.when_unsatisfiable != "ScheduleAnyway" for each in spec.topology_spread_constraints)
    return hard or bool(near and near.required)


def _on_ordered_nodes(pods: Sequence[PodSet], context: ProcessorContext) -> set[str]:
    waiting = {key for same in pods for key in same.keys}
    placed: set[str] = set()
    for intended in context.intended:
        still = intended.pods.only(waiting.__contains__)
        if still is not None:
            placed.update(context.simulation.place(still, on=intended.nodes))
    return placed
