"""Placement: where the next pods of one class go, many at once."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nodewright.cluster import Amounts, Cluster, Counts, PodClass, Rows
from nodewright.scheduling.filters import (
    inter_pod_affinity,
    node_ports,
    node_resources_fit,
    pod_topology_spread,
    static,
    volumes,
)
from nodewright.scheduling.filters.pod_topology_spread import Spread

_Numbers = npt.NDArray[np.int64]


def next_rows(
    cluster: Cluster, pod: PodClass, wanted: int, on: Rows | None = None, *, but: Rows | None = None
) -> tuple[Rows, bool]:
    """Return the rows for the next pods of a class, at most *wanted*, and whether that is all that fit.

    There is one row for each pod; the pods may be placed in this order. *on* are the rows to examine, by default all
    *but* some.
    If these may not be all that fit, call again after they are taken. No rows means that no more pods fit.
    """
    if on is None:
        allowed = static.allowed(cluster, pod)
        if but is not None:
            allowed = allowed.copy()
            allowed[but] = False
        rows = node_resources_fit.fitting(cluster, pod, allowed)
    else:
        rows = node_resources_fit.fitting_of(cluster, pod, static.allowed_of(cluster, pod, on))
    if not len(rows):
        return rows, True
    if not is_plain(cluster, pod):
        return _constrained(cluster, pod, wanted, rows)
    rows = rows[:wanted]
    return _first_fit(rows, node_resources_fit.room(cluster, pod, rows), wanted), True


def first_row(cluster: Cluster, pod: PodClass, rows: Rows) -> int | None:
    """Return the first of *rows* that takes one more pod of a class, None if none does."""
    rows = node_resources_fit.fitting_of(cluster, pod, static.allowed_of(cluster, pod, rows))
    if len(rows):
        rows, _ = _willing(cluster, pod, rows, pod_topology_spread.spreads(cluster, pod))
    return int(rows[0]) if len(rows) else None


@dataclass(frozen=True, kw_only=True)
class _Quota:
    """How many more pods each domain of a key may take, independent of other domains."""

    #: Domain by candidate.
    domain: Counts
    left: npt.NDArray[np.int64]

    @property
    def narrow(self) -> bool:
        """Whether no two candidates share a domain."""
        return bool(np.bincount(self.domain).max() <= 1)


def is_plain(cluster: Cluster, pod: PodClass) -> bool:
    """Return whether the place of *pod* depends on nothing but room and node classes, not on other pods."""
    return not (
        pod.ports
        or pod.spread
        or pod.affinity
        or pod.anti_affinity
        or volumes.matter(pod)
        or inter_pod_affinity.dislikers(cluster, pod)
    )


def _constrained(cluster: Cluster, pod: PodClass, wanted: int, rows: Rows) -> tuple[Rows, bool]:
    spreads = pod_topology_spread.spreads(cluster, pod)
    leader = _leader(spreads)
    rows, first = _willing(cluster, pod, rows, spreads, leader)
    if not len(rows):
        return rows, True
    if first or (volumes.matter(pod) and not volumes.alike(cluster, pod)):
        # The place of this pod affects the next one.
        rows = rows if leader is None else rows[leader.admits(rows)]
        return _roomiest(cluster, pod, rows, wanted) if first else rows[:1], False
    caps = node_resources_fit.room(cluster, pod, rows)
    if pod.ports:
        caps = np.minimum(caps, 1)
    others = [spread for spread in spreads if spread is not leader and spread.rule.counts_itself]
    quotas = [_allowance(spread, rows) for spread in others] + [
        _one_each(cluster, term.key, rows) for term in inter_pod_affinity.repels_itself(pod)
    ]
    # With several rules, placing these pods may allow more.
    return _within_quotas(rows, caps, leader, quotas, wanted), not others and (leader is None or not quotas)


def _roomiest(cluster: Cluster, pod: PodClass, rows: Rows, wanted: int) -> Rows:
    """Return the first of *rows* whose neighbours have room for all the *wanted* pods, or for most of them."""
    if wanted == 1 or len(rows) < 2:
        return rows[:1]
    caps = node_resources_fit.room(cluster, pod, rows)
    reach = np.full(len(rows), wanted, dtype=np.float64)
    for key in {term.key for term in pod.affinity}:
        domain = cluster.table.domains(key).of[rows]
        reach = np.minimum(reach, np.bincount(domain, weights=caps)[domain])
    return rows[[int(reach.argmax())]]


def _willing(
    cluster: Cluster, pod: PodClass, rows: Rows, spreads: list[Spread], leader: Spread | None = None
) -> tuple[Rows, bool]:
    """Return those of *rows* that take one more *pod*, and whether it is the first of its class.

    For the *leader* among its *spreads*, only the label is required.
    """
    for spread in spreads:
        rows = rows[spread.domain[rows] >= 0] if spread is leader else rows[spread.admits(rows)]
    first = False
    if inter_pod_affinity.matter(cluster, pod):
        neighbours = inter_pod_affinity.neighbours(cluster, pod, rows)
        first, refused = neighbours.first, neighbours.refused
        if refused is not None:
            rows = rows[~refused]
    if pod.ports:
        rows = rows[node_ports.taken(cluster, pod)[rows] == 0]
    if volumes.matter(pod):
        rows = volumes.allowed_of(cluster, pod, rows)
    return rows, first


def _leader(spreads: list[Spread]) -> Spread | None:
    """Return the rule by which domains are filled: of those that count these pods, the one with the fewest domains."""
    levelled = [spread for spread in spreads if spread.rule.counts_itself]
    return min(levelled, key=lambda spread: len(spread.counts), default=None)


def _within_quotas(rows: Rows, caps: Amounts, leader: Spread | None, quotas: list[_Quota], wanted: int) -> Rows:
    wide = []
    for quota in quotas:
        if quota.narrow:
            caps = np.minimum(caps, quota.left[quota.domain])
        else:
            wide.append(quota)
    if wide:
        if leader is not None:
            wide.append(_allowance(leader, rows))
        return _one_by_one(rows, caps, wide, wanted)
    if leader is not None:
        return _by_level(rows, caps, leader, wanted)
    return _first_fit(rows, caps, wanted)


def _allowance(spread: Spread, rows: Rows) -> _Quota:
    # The smallest number in a domain never falls while pods are added: this many are legal in any order.
    return _Quota(domain=spread.domain[rows], left=np.maximum(spread.allowance, 0))


def _one_each(cluster: Cluster, key: str, rows: Rows) -> _Quota:
    domains = cluster.table.domains(key)
    domain = domains.of[rows]
    # A node without the label is in no domain, and takes as many pods as fit.
    alone = domains.count + np.arange(len(rows), dtype=np.int32)
    left = np.concatenate([np.ones(domains.count, dtype=np.int64), np.full(len(rows), np.iinfo(np.int32).max)])
    return _Quota(domain=np.where(domain < 0, alone, domain).astype(np.int32), left=left)


def _first_fit(rows: Rows, caps: Amounts, wanted: int) -> Rows:
    before = np.cumsum(caps) - caps
    return np.repeat(rows, np.minimum(np.maximum(wanted - before, 0), caps))


def _by_level(rows: Rows, caps: Amounts, spread: Spread, wanted: int) -> Rows:
    domain = spread.domain[rows]
    if (domain == domain[0]).all():
        return _first_fit(rows, caps, min(wanted, _room_of(spread, int(domain[0]), int(caps.sum()))))
    size = len(spread.counts)
    capacity = np.bincount(domain, weights=caps, minlength=size).astype(np.int64)
    if spread.rises:
        filled = fill_by_level(spread.counts, capacity, spread.counted, spread.rule.max_skew, wanted)
    else:
        filled = np.minimum(capacity, np.maximum(spread.allowance, 0))
    order = np.argsort(domain, kind="stable")
    rows, caps, domain = rows[order], caps[order], domain[order]
    # Within a domain, each node is filled before the next one.
    before = np.cumsum(caps) - caps
    before -= (np.cumsum(capacity) - capacity)[domain]
    taken = np.clip(filled[domain] - before, 0, caps)
    sequence, home = np.repeat(rows, taken), np.repeat(domain, taken)
    reached = spread.counts[home] + np.arange(len(home)) - (np.cumsum(filled) - filled)[home]
    return sequence[np.argsort(reached, kind="stable")][:wanted]


def _room_of(spread: Spread, domain: int, capacity: int) -> int:
    """Return how many pods one domain may take, up to its *capacity*, while no other takes any."""
    counts = spread.counts
    least = spread.least
    if spread.rises:
        own = int(counts[domain])
        counts = counts.copy()
        counts[domain] = own + capacity
        least = int(counts[spread.counted].min())
        return max(0, min(capacity, least + spread.rule.max_skew - own))
    return max(0, min(capacity, least + spread.rule.max_skew - int(counts[domain])))


def _one_by_one(rows: Rows, caps: Amounts, quotas: list[_Quota], wanted: int) -> Rows:
    left = [quota.left.copy() for quota in quotas]
    sequence: list[int] = []
    for index, row in enumerate(rows.tolist()):
        homes = [int(quota.domain[index]) for quota in quotas]
        number = min(
            int(caps[index]), wanted - len(sequence), *(int(room[home]) for room, home in zip(left, homes, strict=True))
        )
        if number > 0:
            sequence += [row] * number
            for room, home in zip(left, homes, strict=True):
                room[home] -= number
    return np.array(sequence, dtype=np.intp)


def fill_by_level(
    counts: _Numbers, capacity: _Numbers, counted: npt.NDArray[np.bool_], skew: int, wanted: int
) -> _Numbers:
    """Return how many of the *wanted* pods each domain takes; the total is as large as possible.

    *counts* are the pods that are there now, and *capacity* is how many more fit. No domain that is *counted* is more
    than *skew* below any other, neither at the end nor on the way, if pods are placed by the level that they reach.
    """
    # Domains that can't take more pods limit the others.
    floor = int((counts + capacity)[counted].min())
    most = np.minimum(capacity, np.maximum(floor + skew - counts, 0))
    if int(most.sum()) <= wanted:
        return most
    low, high = int(counts.min()), int((counts + most).max())
    while low < high:
        middle = (low + high) // 2
        if int(_up_to(counts, most, middle).sum()) >= wanted:
            high = middle
        else:
            low = middle + 1
    filled = _up_to(counts, most, low - 1)
    last = np.flatnonzero((filled < most) & (counts + filled < low))[: wanted - int(filled.sum())]
    filled[last] += 1
    return filled


def _up_to(counts: _Numbers, most: _Numbers, level: int) -> _Numbers:
    return np.minimum(most, np.maximum(level - counts, 0))
