"""Pending pods: which of them need a node that is not there, and which pods will be pending soon."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from operator import attrgetter

import numpy as np

from nodewright.api.notice import Notice
from nodewright.api.option import PodSet
from nodewright.api.processor import PendingPodsProcessor
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster, PodClass, PodRow, PodSort, Rows
from nodewright.config.model import ScaleUp
from nodewright.decision.demand.pod_age import GPU_RESOURCES, find_burst, grown_up
from nodewright.decision.steps import Steps
from nodewright.decision.world import World
from nodewright.objects import Pod
from nodewright.objects.pod import Scheduling
from nodewright.plugins.results import added_to, flag, made_from

#: Up to so many sets, pods are placed in exactly the order in which they came.
_MOST_TURNS = 500

#: The turn of each pod of one sort by key, in order.
_Queue = dict[str, int]


@dataclass(frozen=True, kw_only=True)
class PendingPods:
    """The pods that a scale-up should help, and why the others are left out."""

    sets: tuple[PodSet, ...]
    verdicts: dict[str, Verdict]
    #: Whether there are pods to help, but all are so new that more may follow at once.
    all_new: bool = False
    #: When these were first seen, by pod.
    arrivals: Mapping[str, datetime] = field(default_factory=dict)
    #: When some of the pods that are too young will be old enough; None if there are none.
    again: datetime | None = None
    notices: tuple[Notice, ...] = ()


def find_pending(world: World, steps: Steps, seen: Mapping[str, datetime]) -> PendingPods:
    """Return the pods to help, some of which were *seen* before. All processors and hooks have their say."""
    settings, context = steps.policy.settings.scale_up, steps.context
    sieve = _Sieve(world.cluster, steps)
    sets = sieve.processed(in_turn(world.cluster, settings))
    old = grown_up(sets, world.cluster, settings.new_pod_delay, context.now)
    sieve.note(sets, old.sets, Verdict(reason=Reason.TOO_YOUNG))
    burst = None
    # Where the scheduler is not waited for, further pods are not either.
    if not settings.bypassed_schedulers:
        gpu_resources = GPU_RESOURCES | {gpu.resource for gpu in world.gpus.values()}
        burst = find_burst(old.sets, world.cluster, seen, gpu_resources, context.now)
    if burst is not None:
        sieve.note(old.sets, (), Verdict(reason=Reason.JUST_CREATED))
    return PendingPods(
        sets=tuple(_united(old.sets, world.cluster)) if burst is None else (),
        verdicts=sieve.verdicts,
        all_new=burst is not None,
        arrivals=burst.arrivals if burst is not None else {},
        again=min((time for time in (burst and burst.until, old.next_at) if time is not None), default=None),
        notices=old.notices,
    )


def returning_pods(cluster: Cluster, leaving: Iterable[str], allowed_schedulers: Collection[str]) -> tuple[PodSet, ...]:
    """Return the pods on the nodes *leaving* that will be created anew and will be pending then.

    A pod that is already ending counts only if its controller waits for the end: other controllers have created the
    next one already, or will in a moment. Pods of all schedulers count if *allowed_schedulers* names none.
    """
    together: dict[tuple[str, PodClass], list[str]] = {}
    for node in leaving:
        for row in cluster.pods_on(node):
            pod = row.pod_class.pod
            counts = not allowed_schedulers or pod.scheduler in allowed_schedulers
            if counts and _comes_back(row) and not pod.is_mirror and not pod.is_daemon:
                owner = row.owner.uid if row.owner else row.uid
                together.setdefault((owner, row.pod_class), []).append(row.key)
    return tuple(PodSet(pod=pod_class.pod, keys=tuple(keys)) for (_, pod_class), keys in together.items())


def in_turn(cluster: Cluster, settings: ScaleUp) -> list[PodSet]:
    """Return the pods that count as pending, higher priority first, then as they came; equals together.

    Equal pods with others in between form sets of their own, so that no pod is overtaken, unless there would be very
    many sets. A pod that is nominated for a node has its place: the pods in its way are being evicted.
    """
    levels: dict[int, list[_Queue]] = {}
    for sort, queue in cluster.waiting.sorts.items():
        if _counts(sort, settings):
            levels.setdefault(-(sort.pod_class.pod.spec.priority or 0), []).append(queue)
    lines = [sorted(levels[level], key=_first) for level in sorted(levels)]
    turns = [_turns(queues) for queues in lines]
    if sum(len(whose) for whose, _ in turns) > _MOST_TURNS:
        runs = [tuple(queue) for queues in lines for queue in queues]
    else:
        runs = [
            run for queues, (whose, lengths) in zip(lines, turns, strict=True) for run in _runs(queues, whose, lengths)
        ]
    return [PodSet(pod=_pod(cluster, run[0]), keys=run) for run in runs]


def _counts(sort: PodSort, settings: ScaleUp) -> bool:
    scheduler = sort.pod_class.pod.scheduler
    if settings.allowed_schedulers and scheduler not in settings.allowed_schedulers:
        return False
    if sort.scheduling is Scheduling.UNTRIED:
        return scheduler in settings.bypassed_schedulers
    return sort.scheduling is Scheduling.FAILED


def _pod(cluster: Cluster, key: str) -> Pod:
    row = cluster.pending[key]
    return row.pending or row.pod_class.pod


def _first(queue: _Queue) -> int:
    return next(iter(queue.values()))


def _turns(queues: Sequence[_Queue]) -> tuple[Rows, Rows]:
    """Return which of *queues*, given in the order of their first pods, has its turn, and for how many pods."""
    sizes = np.array([len(queue) for queue in queues], dtype=np.intp)
    if all(next(reversed(queue.values())) < _first(after) for queue, after in pairwise(queues)):
        return np.arange(len(queues)), sizes
    turns = np.concatenate([np.fromiter(queue.values(), np.int64, len(queue)) for queue in queues])
    whose = np.repeat(np.arange(len(queues)), sizes)[np.argsort(turns)]
    begins = np.flatnonzero(np.diff(whose, prepend=-1))
    return whose[begins], np.diff(begins, append=len(whose))


def _runs(queues: Sequence[_Queue], whose: Rows, lengths: Rows) -> Iterator[tuple[str, ...]]:
    keys, done = [tuple(queue) for queue in queues], [0] * len(queues)
    for queue, length in zip(whose.tolist(), lengths.tolist(), strict=True):
        yield keys[queue][done[queue] : done[queue] + length]
        done[queue] += length


class _Sieve:
    """Passes pending pods through processors and hooks, and notes why pods are left out."""

    def __init__(self, cluster: Cluster, steps: Steps) -> None:
        self._cluster = cluster
        self._steps = steps
        self._policy = steps.policy
        self.verdicts: dict[str, Verdict] = {}

    def processed(self, sets: Sequence[PodSet]) -> Sequence[PodSet]:
        """Return what all processors and hooks make of *sets*."""
        for name, processor in self._policy.pending_pods.items():
            kept = self._process(sets, name, processor)
            reason = self._steps.reason(name, processor)
            detail = name if reason is Reason.FILTERED else ""
            self.note(sets, kept, Verdict(reason=reason, detail=detail))
            sets = kept
        if not sets:
            return sets
        kept = self._policy.hooks.adjust_pending_pods(sets, self._steps.context.now)
        self.note(sets, kept, Verdict(reason=Reason.FILTERED, detail="a hook"))
        return [pods for pods in kept if pods.keys]

    def note(self, before: Sequence[PodSet], after: Sequence[PodSet], verdict: Verdict) -> None:
        """Give *verdict* to the pods that were there *before* and are not there *after*."""
        stayed = {id(pods) for pods in before} & {id(pods) for pods in after}
        changed = {key for pods in after if id(pods) not in stayed for key in pods.keys}
        for pods in before:
            if id(pods) not in stayed:
                left = [key for key in pods.keys if key not in changed] if changed else pods.keys
                self.verdicts.update(dict.fromkeys(left, verdict))

    def _process(self, sets: Sequence[PodSet], name: str, processor: PendingPodsProcessor) -> Sequence[PodSet]:
        """Return what *processor* makes of *sets*; they stay as they are if it fails."""
        adds = flag(self._policy.faults, name, processor, "adds_pods")
        if not sets and not adds:
            return sets
        keys: Callable[[PodSet], Sequence[str]] = attrgetter("keys")
        check = added_to(sets, PodSet, keys, self.verdicts) if adds else made_from(sets, PodSet, keys)

        def checked(result: object) -> Sequence[PodSet]:
            checked_sets = [pods for pods in check(result) if pods.keys]
            for pods in checked_sets:
                self._cluster.pod_classes.of(pods.pod)
            return checked_sets

        return self._steps.take(name, processor.process, sets, default=sets, returns=checked)


def _united(sets: Iterable[PodSet], cluster: Cluster) -> list[PodSet]:
    """Return *sets* with all equal pods of one controller in one set, at the place of the first."""
    united: dict[tuple[str, PodClass], list[PodSet]] = {}
    for pods in sets:
        row = cluster.pods.get(pods.keys[0])
        owner = row.owner if row else pods.pod.metadata.controller
        whose = owner.uid if owner else pods.keys[0]
        united.setdefault((whose, cluster.pod_classes.of(pods.pod)), []).append(pods)
    return [
        same[0] if len(same) == 1 else PodSet(pod=same[0].pod, keys=tuple(key for pods in same for key in pods.keys))
        for same in united.values()
    ]


def _comes_back(row: PodRow) -> bool:
    """Tell whether another pod will take its place that is not there yet."""
    return row.deleted is None or (row.owner is not None and row.owner.kind == "StatefulSet")
