"""Open claims: those that get their volume when their pod is placed, and which volume each can get on which node."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from nodewright.cluster import Storage
from nodewright.objects import NodeSelectorTerm, PersistentVolume, PersistentVolumeClaim
from nodewright.objects.node import HOSTNAME
from nodewright.objects.volume import ClaimResources

#: The name of the volume that each claim gets, by the key of the claim. Empty if a volume is created for it.
Plan = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class _Offer:
    """The volumes that equal claims can have, the smallest first, whether they are taken by now or not."""

    #: By host: the volumes that can be reached only from some hosts.
    local: Mapping[str, Sequence[PersistentVolume]]
    #: The volumes that depend on no host, or not only on the host.
    remote: Sequence[PersistentVolume]
    #: The labels of nodes that determine which of these can be reached.
    labels: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class OpenClaim:
    """A claim without a volume, with everything that it can get on any node."""

    key: str
    size: int
    #: The node for which its volume is being created. Empty while that is open.
    node: str
    #: A volume that is reserved for it: it gets this one or a new one.
    kept: PersistentVolume | None
    offer: _Offer
    #: Returns whether another claim has a volume by now.
    is_taken: Callable[[str], bool]
    #: Where volumes can be created for it, as alternatives. None if they can't be created.
    makes: tuple[NodeSelectorTerm, ...] | None

    @property
    def labels(self) -> frozenset[str]:
        """The labels of nodes that determine what it gets."""
        return self.offer.labels | _labels([*((self.kept and self.kept.node_terms) or ()), *(self.makes or ())])

    def volume_on(self, labels: Mapping[str, str], taken: Iterable[str]) -> str | None:
        """Return what it gets on a node with *labels*, after others have *taken* theirs; None if it gets nothing."""
        found = None if self.node else self._existing(labels, taken)
        if found is not None:
            return found.metadata.name
        can_be_made = self.makes is not None and (not self.makes or _any_matches(self.makes, labels))
        return "" if can_be_made else None

    def _existing(self, labels: Mapping[str, str], taken: Iterable[str]) -> PersistentVolume | None:
        if self.kept is not None and self.kept.metadata.name not in taken:
            return self.kept if reachable(self.kept, labels) else None
        choices = (self.offer.local.get(labels.get(HOSTNAME, ""), ()), self.offer.remote)
        firsts = (next((each for each in volumes if self._can_have(each, labels, taken)), None) for volumes in choices)
        return min((each for each in firsts if each is not None), key=_rank, default=None)

    def _can_have(self, volume: PersistentVolume, labels: Mapping[str, str], taken: Iterable[str]) -> bool:
        name = volume.metadata.name
        return name not in taken and not self.is_taken(name) and reachable(volume, labels)


def open_claims(storage: Storage, claims: Iterable[PersistentVolumeClaim]) -> list[OpenClaim]:
    """Return *claims*, none of which is bound, in the order in which they get their volumes: the smallest first."""
    return sorted((_open_claim(storage, claim) for claim in claims), key=lambda claim: claim.size)


def plan(claims: Iterable[OpenClaim], node: str, labels: Mapping[str, str]) -> Plan | None:
    """Return what *claims* get together on *node*, which has *labels*; None if one of them gets nothing there."""
    found: dict[str, str] = {}
    for claim in claims:
        if claim.node and claim.node != node:
            return None
        volume = claim.volume_on(labels, found.values())
        if volume is None:
            return None
        found[claim.key] = volume
    return found


def reachable(volume: PersistentVolume, labels: Mapping[str, str]) -> bool:
    """Return whether *volume* can be reached from a node with *labels*."""
    terms = volume.node_terms
    return terms is None or _any_matches(terms, labels)


def _open_claim(storage: Storage, claim: PersistentVolumeClaim) -> OpenClaim:
    storage_class = storage.class_of(claim)
    makes = storage_class is not None and storage_class.makes_volumes
    topologies = (storage_class.allowed_topologies if storage_class else None) or ()
    kept = [volume for volume in storage.volumes_for(claim) if _will_do(volume, claim)]
    return OpenClaim(
        key=claim.metadata.key,
        size=claim.size,
        node=storage.node_of(claim),
        kept=min(kept, key=_rank, default=None),
        offer=_offer(storage, claim),
        is_taken=storage.is_taken,
        makes=tuple(topology.as_node_selector_term() for topology in topologies) if makes else None,
    )


def _offer(storage: Storage, claim: PersistentVolumeClaim) -> _Offer:
    # Claims that are equal in this can get the same free volumes; see _suits.
    kind = msgspec.json.encode((claim.class_name, claim.size, replace(claim.spec, resources=ClaimResources())))
    known: _Offer | None = storage.memo.get(kind)
    if known is None:
        known = storage.memo[kind] = _offer_of(
            volume for volume in storage.free_volumes(claim.class_name) if _suits(volume, claim)
        )
    return known


def _offer_of(volumes: Iterable[PersistentVolume]) -> _Offer:
    local: dict[str, list[PersistentVolume]] = defaultdict(list)
    remote = []
    for volume in sorted(volumes, key=_rank):
        hosts = _hosts(volume)
        if hosts is None:
            remote.append(volume)
        else:
            for host in hosts:
                local[host].append(volume)
    labels = _labels(term for volume in remote for term in volume.node_terms or ())
    return _Offer(local=dict(local), remote=remote, labels=labels | {HOSTNAME} if local else labels)


def _will_do(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    wanted, offered = claim.spec, volume.spec
    return (
        volume.class_name == claim.class_name
        and volume.size >= claim.size
        and offered.volume_mode == wanted.volume_mode
        and offered.volume_attributes_class_name == wanted.volume_attributes_class_name
        and volume.metadata.deletion_timestamp is None
    )


def _suits(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    selector = claim.spec.selector
    return (
        _will_do(volume, claim)
        and set(claim.spec.access_modes).issubset(volume.spec.access_modes)
        and (selector is None or selector.matches(volume.metadata.labels))
    )


def _hosts(volume: PersistentVolume) -> set[str] | None:
    """Return the hosts that a volume can be reached from, or None if that depends on more than the host."""
    if volume.node_terms is None:
        return None
    hosts: set[str] = set()
    for term in volume.node_terms:
        if len(term.match_expressions) != 1 or term.match_fields:
            return None
        line = term.match_expressions[0]
        if line.key != HOSTNAME or line.operator != "In":
            return None
        hosts.update(line.values)
    return hosts


def _any_matches(terms: Iterable[NodeSelectorTerm], labels: Mapping[str, str]) -> bool:
    # As in kube-scheduler, the node's name is not known here.
    return any(term.matches("", labels) for term in terms)


def _labels(terms: Iterable[NodeSelectorTerm]) -> frozenset[str]:
    return frozenset(line.key for term in terms for line in term.match_expressions)


def _rank(volume: PersistentVolume) -> tuple[int, str]:
    return volume.size, volume.metadata.name
