"""Drainability: which pods of a node have to move, and which must not."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import PodRow
from nodewright.config.model import ScaleDown
from nodewright.objects import Pod, PodDisruptionBudget
from nodewright.objects.pod import SAFE_TO_EVICT

_REPLICATED = frozenset(["ReplicationController", "ReplicaSet", "Job", "StatefulSet"])
_SAFE_LOCAL_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
_SYSTEM_POD_PATIENCE = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class Drainable:
    """What draining a node means for its pods."""

    #: Pods that have to find another node.
    move: tuple[PodRow, ...] = ()
    #: Why the node can't be drained: the first pod that must not move.
    blocker: Verdict | None = None


@dataclass(frozen=True, kw_only=True)
class _Case:
    """One pod under judgement."""

    row: PodRow
    #: A pod of its class: what it says of itself, all of them say.
    pod: Pod
    budgets: Sequence[PodDisruptionBudget]
    budgets_block: bool
    settings: ScaleDown
    now: datetime


class _Fate(Enum):
    """What a rule can decide, besides a reason that blocks."""

    STAYS_BEHIND = "goes down with its node"
    MOVES = "has to find another node"


_Rule = Callable[[_Case], _Fate | Reason | None]


def judge(
    pods: Iterable[PodRow],
    budgets: Iterable[PodDisruptionBudget],
    settings: ScaleDown,
    now: datetime,
    *,
    budgets_block: bool = True,
) -> Drainable:
    """Return what draining a node with *pods* means. The first rule that has an answer for a pod decides.

    Once a drain is under way, a spent budget only delays it (*budgets_block* False): the API server holds pods back.
    """
    budgets = tuple(budgets)
    move = []
    for row in pods:
        pod = row.pod_class.pod
        covering = [budget for budget in budgets if budget.covers(pod)]
        case = _Case(row=row, pod=pod, budgets=covering, budgets_block=budgets_block, settings=settings, now=now)
        fate = _fate(case)
        if isinstance(fate, Reason):
            return Drainable(blocker=Verdict(reason=Reason.BLOCKED_BY_POD, pod=row.key, cause=fate))
        if fate is _Fate.MOVES:
            move.append(row)
    return Drainable(move=tuple(move))


def is_long_terminating(row: PodRow, now: datetime) -> bool:
    """Tell whether the pod should have ended by now: it counts as gone."""
    if row.deleted is None:
        return False
    return row.deleted + timedelta(seconds=row.pod_class.pod.grace_seconds + 30) < now


def _fate(case: _Case) -> _Fate | Reason:
    for rule in _RULES:
        answer = rule(case)
        if answer is not None:
            return answer
    return _Fate.MOVES


def _mirror(case: _Case) -> _Fate | None:
    return _Fate.STAYS_BEHIND if case.pod.is_mirror else None


def _long_terminating(case: _Case) -> _Fate | None:
    return _Fate.STAYS_BEHIND if is_long_terminating(case.row, case.now) else None


def _daemon(case: _Case) -> _Fate | None:
    return _Fate.STAYS_BEHIND if case.pod.is_daemon else None


def _safe_to_evict(case: _Case) -> _Fate | None:
    return _Fate.MOVES if case.pod.metadata.annotations.get(SAFE_TO_EVICT) == "true" else None


def _not_replicated(case: _Case) -> Reason | None:
    owner = case.pod.metadata.controller
    if owner is None:
        return Reason.NOT_REPLICATED
    if case.settings.skip_custom_controller_pods and owner.kind not in _REPLICATED:
        return Reason.NOT_REPLICATED
    return None


def _system(case: _Case) -> _Fate | Reason | None:
    if not case.settings.skip_system_pods or case.pod.metadata.namespace != "kube-system" or case.budgets:
        return None
    born = case.row.created
    if born is not None and case.now - born > _SYSTEM_POD_PATIENCE:
        return _Fate.MOVES
    return Reason.SYSTEM_POD


def _not_safe_to_evict(case: _Case) -> Reason | None:
    marked = case.pod.metadata.annotations.get(SAFE_TO_EVICT)
    return Reason.NOT_SAFE_TO_EVICT if marked in ("false", "on-completion") else None


def _local_storage(case: _Case) -> Reason | None:
    if not case.settings.skip_local_storage:
        return None
    safe = case.pod.metadata.annotations.get(_SAFE_LOCAL_VOLUMES, "").split(",")
    for volume in case.pod.spec.volumes:
        on_disk = volume.empty_dir is not None and volume.empty_dir.medium != "Memory"
        if (volume.host_path is not None or on_disk) and volume.name not in safe:
            return Reason.LOCAL_STORAGE
    return None


def _budget(case: _Case) -> Reason | None:
    spent = any(budget.status.disruptions_allowed < 1 for budget in case.budgets)
    return Reason.NOT_ENOUGH_BUDGET if case.budgets_block and spent else None


#: Cluster Autoscaler's rules in its order.
_RULES: tuple[_Rule, ...] = (
    _mirror,
    _long_terminating,
    _daemon,
    _safe_to_evict,
    _not_replicated,
    _system,
    _not_safe_to_evict,
    _local_storage,
    _budget,
)
