"""Waves: which pods of a node are asked to leave together, and how long each may take to end."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.cluster import PodRow
from nodewright.config.model import ScaleDown

_EVICT_DAEMON = "cluster-autoscaler.kubernetes.io/enable-ds-eviction"


@dataclass(frozen=True, kw_only=True)
class Wave:
    """Pods of one node that leave together; the next wave begins when they are gone."""

    #: The lowest priority of its pods.
    priority: int = 0
    pods: tuple[PodRow, ...]
    #: Pods that are evicted along with them, once: they are not waited for, and a refusal does no harm.
    along: tuple[PodRow, ...] = ()
    #: How long any of them may take to end.
    longest: timedelta

    def grace(self, row: PodRow) -> timedelta:
        """Return how long a pod of the wave may take."""
        return timedelta(seconds=min(row.pod_class.pod.grace_seconds, self.longest.total_seconds()))


def next_wave(move: Sequence[PodRow], daemons: Sequence[PodRow], settings: ScaleDown) -> Wave | None:
    """Return which pods leave next, of those that have to *move* and the *daemons* that are to be evicted with them.

    None if all pods that are waited for have gone. With priorities, waves follow one another from the lowest upwards,
    and DaemonSet pods are waited for like all others. A pod below the lowest priority leaves in the first wave.
    """
    bands = sorted(settings.drain_priorities, key=lambda band: band.priority)
    if not bands:
        longest = settings.max_graceful_termination
        return Wave(pods=tuple(move), along=tuple(daemons), longest=longest) if move else None
    floors = [band.priority for band in bands]
    in_band: dict[int, list[PodRow]] = {}
    for row in (*move, *daemons):
        at = max(0, bisect_right(floors, row.pod_class.pod.spec.priority or 0) - 1)
        in_band.setdefault(at, []).append(row)
    if not in_band:
        return None
    first = min(in_band)
    return Wave(priority=floors[first], pods=tuple(in_band[first]), longest=bands[first].max_graceful_termination)


def daemons_to_evict(daemons: Iterable[PodRow], default: bool, before: datetime) -> tuple[PodRow, ...]:
    """Return the DaemonSet pods that are to be evicted, by their own annotations or else by *default*.

    Only those created *before* count: a DaemonSet that tolerates the mark creates a new pod on a marked node.
    """
    return tuple(row for row in daemons if _wants_eviction(row, default) and _was_there(row, before))


def _wants_eviction(row: PodRow, default: bool) -> bool:
    written = row.pod_class.pod.metadata.annotations.get(_EVICT_DAEMON, "")
    return {"true": True, "false": False}.get(written, default)


def _was_there(row: PodRow, before: datetime) -> bool:
    return row.created is None or row.created <= before
