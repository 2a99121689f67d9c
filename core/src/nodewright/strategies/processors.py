"""The built-in steps of ``processors.pendingPods``, in the order in which the chain has them by default."""

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import attrgetter

from msgspec.structs import replace

from nodewright.api import PendingPodsProcessor, Pod, PodSet, ProcessorContext, Reason, Simulation
from nodewright.strategies.packing import place_well

_TPU = "cloud-tpus.google.com/"


class ClearTpuRequests(PendingPodsProcessor):
    """Removes requests for Cloud TPUs from pods; nothing else about them changes.

    Cloud TPUs are outside the cluster, so no node has to have them.
    """

    def process(self, pods: Sequence[PodSet], context: ProcessorContext) -> Sequence[PodSet]:
        """Return all pods, as if they requested none."""
        return [PodSet(pod=_cleared(same.pod), keys=same.keys) if _asks(same.pod) else same for same in pods]


def _asks(pod: Pod) -> bool:
    return any(name.startswith(_TPU) for container in pod.spec.containers for name in container.resources.requests)


def _cleared(pod: Pod) -> Pod:
    containers = []
    for container in pod.spec.containers:
        requests = {name: amount for name, amount in container.resources.requests.items() if not name.startswith(_TPU)}
        containers.append(replace(container, resources=replace(container.resources, requests=requests)))
    return replace(pod, spec=replace(pod.spec, containers=tuple(containers)))


class FilterExpendable(PendingPodsProcessor):
    """Takes off pods below ``scaleUp.expendablePriorityCutoff``; a pod without priority is never expendable."""

    reason = Reason.EXPENDABLE

    def process(self, pods: Sequence[PodSet], context: ProcessorContext) -> Sequence[PodSet]:
        """Return the pods that are worth a node."""
        cutoff = context.expendable_priority_cutoff
        return [same for same in pods if not same.pod.is_expendable(cutoff)]


class AddReturningPods(PendingPodsProcessor):
    """Adds the pods of nodes that are being drained, after those that wait already: they will need another place."""

    adds_pods = True

    def process(self, pods: Sequence[PodSet], context: ProcessorContext) -> Sequence[PodSet]:
        """Return all of them, each pod once."""
        if not context.returning:
            return pods
        known = {key for same in pods for key in same.keys}
        returning = (same.without(known) for same in context.returning)
        return [*pods, *(same for same in returning if same is not None)]


class FilterSchedulable(PendingPodsProcessor):
    """Takes off pods that fit on nodes that exist or are on their way; in the simulation they keep their places.

    Pods of higher priority are placed first, as the scheduler does it. Within one priority, those come first for which
    nodes were ordered: they go onto these nodes, so that nothing is ordered for them again, whatever the order of the
    list.
    """

    reason = Reason.FITS

    def process(self, pods: Sequence[PodSet], context: ProcessorContext) -> Sequence[PodSet]:
        """Return the pods that fit nowhere."""
        waiting: list[PodSet] = []
        left: list[PodSet] = []
        for level in _by_priority(pods):
            expected = _on_ordered_nodes(level, context)
            level = [rest for same in level if (rest := same.without(expected) if expected else same)]
            waiting += level
            left += _placed_once(level, context.simulation)
        # A pod that has just been placed may be the neighbour that another pod needs.
        while _count(left) < _count(waiting) and any(map(_minds_others, left)):
            waiting, left = left, _placed_once(left, context.simulation, _minds_others)
        return left


def _by_priority(pods: Sequence[PodSet]) -> list[list[PodSet]]:
    """Return *pods* by levels of priority, the highest first."""
    levels: dict[int, list[PodSet]] = {}
    for same in pods:
        levels.setdefault(same.pod.spec.priority or 0, []).append(same)
    return [levels[priority] for priority in sorted(levels, reverse=True)]


def _placed_once(
    pods: Sequence[PodSet], simulation: Simulation, wanted: Callable[[PodSet], bool] = lambda _: True
) -> list[PodSet]:
    """Place those of *pods* that are *wanted*, one set after the other, and return the pods that are left."""
    left = (same.without(simulation.place(same)) if wanted(same) else same for same in pods)
    return [rest for rest in left if rest is not None]


def _count(pods: Sequence[PodSet]) -> int:
    return sum(map(len, pods))


def _minds_others(pods: PodSet) -> bool:
    """Tell whether pods of other sets can make a place for these by being there."""
    spec = pods.pod.spec
    near = spec.affinity.pod_affinity if spec.affinity else None
    hard = any(each.when_unsatisfiable != "ScheduleAnyway" for each in spec.topology_spread_constraints)
    return hard or bool(near and near.required)


def _on_ordered_nodes(level: Sequence[PodSet], context: ProcessorContext) -> set[str]:
    """Place those pods of one *level* of priority for which nodes were ordered on these, and return their keys."""
    placed: set[str] = set()
    if not context.intended:
        return placed
    waiting = {key for same in level for key in same.keys}
    # Those that were ordered for together are placed together.
    left = [
        (nodes, [still for each in together if (still := each.pods.only(waiting.__contains__)) is not None])
        for nodes, together in groupby(context.intended, key=attrgetter("nodes"))
    ]
    before = -1
    # Pods that are spread need their count to rise elsewhere, too.
    while left and len(placed) > before:
        before = len(placed)
        for nodes, sets in left:
            placed.update(*place_well(context.simulation, sets, nodes))
        left = [(nodes, rest) for nodes, sets in left if (rest := _without(sets, placed))]
    return placed


def _without(sets: Sequence[PodSet], keys: set[str]) -> list[PodSet]:
    return [rest for same in sets if (rest := same.without(keys)) is not None]


class FilterDaemonSetPods(PendingPodsProcessor):
    """Takes off pods of DaemonSets: such a pod comes with its node and brings none."""

    reason = Reason.DAEMON

    def process(self, pods: Sequence[PodSet], context: ProcessorContext) -> Sequence[PodSet]:
        """Return the pods that no DaemonSet runs."""
        return [same for same in pods if not same.pod.is_daemon]
