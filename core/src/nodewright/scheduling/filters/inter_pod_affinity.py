"""Filter InterPodAffinity: pods that must be near others, or must not be near others."""

from dataclasses import dataclass
from functools import reduce

import numpy as np

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster, Counts, PodClass, Rows, Term
from nodewright.scheduling.filters.static import Mask

AFFINITY = Verdict(reason=Reason.AFFINITY)
ANTI_AFFINITY = Verdict(reason=Reason.ANTI_AFFINITY)
EXISTING_ANTI_AFFINITY = Verdict(reason=Reason.EXISTING_ANTI_AFFINITY)


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """The effect of the running pods on one more pod of a class, for each of some rows."""

    #: Rows without the pods that it must be near.
    lonely: Mask | None
    #: Rows with pods that it must not be near.
    disliked: Mask | None
    #: Rows with pods that must not have it near.
    unwelcome: Mask | None
    #: Whether it is the first of its class, and only has to be near itself.
    first: bool

    @property
    def refused(self) -> Mask | None:
        """The rows that any of these rules out; None if there are none."""
        masks = [mask for mask in (self.lonely, self.disliked, self.unwelcome) if mask is not None]
        return reduce(np.logical_or, masks) if masks else None


def neighbours(cluster: Cluster, pod: PodClass, rows: Rows) -> Neighbours:
    """Return the effect of the running pods on one more *pod*, on each of *rows*."""
    lonely, first = _lonely(cluster, pod, rows) if pod.affinity else (None, False)
    disliked: Mask | None = None
    for term in pod.anti_affinity:
        pods = cluster.tally.total(cluster.pod_classes.selected_by(term.selection))
        near = _occupied(cluster, term.key, pods)[_domain(cluster, term.key)[rows]]
        disliked = near if disliked is None else disliked | near
    return Neighbours(lonely=lonely, disliked=disliked, unwelcome=_unwelcome(cluster, pod, rows), first=first)


def matter(cluster: Cluster, pod: PodClass) -> bool:
    """Return whether *pod* has terms about other pods, or other pods have terms against it."""
    return bool(pod.affinity or pod.anti_affinity or dislikers(cluster, pod))


def repels_itself(pod: PodClass) -> list[Term]:
    """Return the anti-affinity terms of *pod* that select itself: of these pods, a domain takes one."""
    return [term for term in pod.anti_affinity if pod.matched_by(term.selection)]


def attracts_itself(pod: PodClass) -> bool:
    """Return whether a placed pod satisfies the affinity of the next one of its class."""
    return all(pod.matched_by(term.selection) for term in pod.affinity)


def _lonely(cluster: Cluster, pod: PodClass, rows: Rows) -> tuple[Mask, bool]:
    classes = cluster.pod_classes.selected_by(pod.affinity[0].selection)
    # Only pods that match all terms count, for each of them.
    wanted = [other for other in classes if all(other.matched_by(term.selection) for term in pod.affinity[1:])]
    pods = cluster.tally.total(wanted)
    lonely = np.zeros(len(rows), dtype=np.bool_)
    unlabelled = np.zeros(len(rows), dtype=np.bool_)
    anywhere = False
    for term in pod.affinity:
        domain = _domain(cluster, term.key)[rows]
        occupied = _occupied(cluster, term.key, pods)
        unlabelled |= domain < 0
        anywhere = anywhere or bool(occupied.any())
        lonely |= ~occupied[domain]
    if not anywhere and attracts_itself(pod):
        return unlabelled, True
    return lonely, False


def _unwelcome(cluster: Cluster, pod: PodClass, rows: Rows) -> Mask | None:
    unwelcome: Mask | None = None
    for other, term in dislikers(cluster, pod):
        if not other.population:
            continue
        near = _occupied(cluster, term.key, cluster.tally.of(other))[_domain(cluster, term.key)[rows]]
        unwelcome = near if unwelcome is None else unwelcome | near
    return unwelcome


def dislikers(cluster: Cluster, pod: PodClass) -> list[tuple[PodClass, Term]]:
    """Return the classes with an anti-affinity term against *pod*, each with that term."""
    version = cluster.pod_classes.resolved
    found: list[tuple[PodClass, Term]]
    asked, found = pod.memo.get("dislikers", ((version, 0), []))
    known = cluster.pod_classes.known
    if asked[0] != version:
        asked, found = (version, 0), []
    if asked[1] < len(known):
        found = found + [
            (other, term)
            for other in known[asked[1] :]
            for term in other.anti_affinity
            if pod.matched_by(term.selection)
        ]
        pod.memo["dislikers"] = ((version, len(known)), found)
    return found


def _domain(cluster: Cluster, key: str) -> Counts:
    return cluster.table.domains(key).of[: cluster.table.size]


def _occupied(cluster: Cluster, key: str, pods: Counts) -> Mask:
    """Return by domain whether any of *pods* runs there. The last one is for nodes without the label: False."""
    domains = cluster.table.domains(key)
    rows = np.flatnonzero(pods[: cluster.table.size])
    occupied = np.zeros(domains.count + 1, dtype=np.bool_)
    occupied[domains.of[rows]] = True
    occupied[-1] = False
    return occupied


def refusal(cluster: Cluster, pod: PodClass, row: int) -> Verdict | None:
    """Return why the running pods keep *pod* off a node, or None."""
    if not matter(cluster, pod):
        return None
    found = neighbours(cluster, pod, np.array([row], dtype=np.intp))
    for mask, verdict in (
        (found.lonely, AFFINITY),
        (found.disliked, ANTI_AFFINITY),
        (found.unwelcome, EXISTING_ANTI_AFFINITY),
    ):
        if mask is not None and mask[0]:
            return verdict
    return None
