"""Pod age: new pods wait a little, until more is known about them and others have followed."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.api.notice import Notice
from nodewright.api.option import PodSet
from nodewright.cluster import Cluster
from nodewright.objects.duration import parse_duration

#: On a pod: how old it has to be before it brings nodes, if that is more than the general delay.
DELAY = "cluster-autoscaler.kubernetes.io/pod-scale-up-delay"
#: Resources that are GPUs whatever the provider says.
GPU_RESOURCES = frozenset(
    ["nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "habana.ai/gaudi", "microsoft.com/directx"]
)

_BURST = timedelta(seconds=2)
#: A burst ends sooner if no pod has followed for so long: controllers create pods within milliseconds of each other.
_LULL = timedelta(milliseconds=600)
#: What creation times leave out is less than this.
_FRACTION = timedelta(seconds=1)
#: Pods with GPUs often come one after the other, and their nodes are expensive.
_GPU_BURST = timedelta(seconds=30)
_TICK = timedelta(milliseconds=1)


@dataclass(frozen=True, kw_only=True)
class GrownUp:
    """Which pods are old enough to bring nodes."""

    sets: tuple[PodSet, ...]
    #: When the first of the others will be old enough; None if there are no others.
    next_at: datetime | None = None
    #: About annotations that can't be read.
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Burst:
    """Pods that have only just come, so that more may follow."""

    until: datetime
    #: When each of them was first seen; empty if it is the age of pods with GPUs that counts.
    arrivals: Mapping[str, datetime]


def grown_up(sets: Sequence[PodSet], cluster: Cluster, delay: timedelta, now: datetime) -> GrownUp:
    """Return the pods that are older than *delay*, or than their own annotation says where that is longer."""
    kept: list[PodSet] = []
    notices: list[Notice] = []
    next_at: datetime | None = None
    for pods in sets:
        own, notice = _delay_of(pods, delay)
        notices += [notice] if notice else []
        if _all_older(pods, cluster, now - own):
            kept.append(pods)
            continue
        births = dict(zip(pods.keys, _births(pods, cluster), strict=True))
        young = {key: born for key, born in births.items() if born is not None and now - born <= own}
        if old := pods.without(young):
            kept.append(old)
        if young:
            # A pod has to be older than the delay, not just as old.
            due = min(young.values()) + own + _TICK
            next_at = min(due, next_at or due)
    return GrownUp(sets=tuple(kept), next_at=next_at, notices=tuple(notices))


def find_burst(
    sets: Iterable[PodSet],
    cluster: Cluster,
    seen: Mapping[str, datetime],
    gpu_resources: Collection[str],
    now: datetime,
) -> Burst | None:
    """Return the burst that all of *sets* belong to, so that more of their kind may follow; None if some do not.

    They do until the oldest is two seconds old, or none has followed for 0.6 s since the last was *seen*. If some
    of them request GPUs, those alone decide, and count as new for longer.
    """
    sets = list(sets)
    with_gpus = [pods for pods in sets if not pods.pod.requests.keys().isdisjoint(gpu_resources)]
    # Most of the time some pod is older: then no arrival counts.
    oldest = _oldest(sets, cluster, now - _BURST)
    oldest_with_gpus = _oldest(with_gpus, cluster, now - _GPU_BURST)
    arrivals: dict[str, datetime] = {}
    ends = []
    if oldest is not None:
        arrivals = {key: seen.get(key, now) for pods in sets for key in pods.keys}
        births = ((key, born) for pods in sets for key, born in zip(pods.keys, _births(pods, cluster), strict=True))
        newest = max(_came(born, arrivals[key]) for key, born in births if born is not None)
        ends.append(min(oldest + _BURST, newest + _LULL))
    if oldest_with_gpus is not None:
        ends.append(oldest_with_gpus + _GPU_BURST)
    end = max(ends, default=now)
    return Burst(until=end, arrivals=arrivals) if end > now else None


def _oldest(sets: Iterable[PodSet], cluster: Cluster, after: datetime) -> datetime | None:
    """Return when the oldest pod was created if all were created *after* that; None if not, or if there is none."""
    oldest = None
    for born in (born for pods in sets for born in _births(pods, cluster)):
        if born is None or born <= after:
            return None
        oldest = born if oldest is None else min(oldest, born)
    return oldest


def _came(born: datetime, seen: datetime) -> datetime:
    """Return when a pod came that was first *seen* then: its time of creation leaves out the fraction of a second."""
    return min(max(seen, born), born + _FRACTION)


def _all_older(pods: PodSet, cluster: Cluster, than: datetime) -> bool:
    """Tell whether all pods are certainly older, without a look at each."""
    newest = cluster.waiting.newest
    return pods.keys[0] in cluster.pending and (newest is None or newest < than)


def _births(pods: PodSet, cluster: Cluster) -> Iterator[datetime | None]:
    """Yield when each pod was created. A pod that does not exist is as old as the one that represents its set."""
    for key in pods.keys:
        row = cluster.pods.get(key)
        yield row.created if row is not None else pods.pod.metadata.creation_timestamp


def _delay_of(pods: PodSet, least: timedelta) -> tuple[timedelta, Notice | None]:
    meta = pods.pod.metadata
    written = meta.annotations.get(DELAY)
    if written is None:
        return least, None
    try:
        return max(least, parse_duration(written)), None
    except ValueError as error:
        owner = meta.controller
        whose = (
            f"{meta.namespace}/{meta.name}"
            if owner is None
            else f"the pods of {owner.kind} {meta.namespace}/{owner.name}"
        )
        message = f"annotation {DELAY} of {whose} is ignored: {error}"
        return least, Notice(reason="PodScaleUpDelayInvalid", message=message)
