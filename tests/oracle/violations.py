"""What is wrong with a placement in the end, seen from all pods at once instead of one after the other."""

from collections import Counter
from collections.abc import Iterator

from nodewright.objects import Pod

from .filters.inter_pod_affinity import means, repelling, share_domain
from .filters.node_affinity import wants
from .filters.node_ports import ports_clash
from .filters.node_volume_limits import attached, limits_of
from .filters.taint_toleration import repels
from .filters.volume_restrictions import claims, disks_clash, single_claims
from .snapshot import NodeInfo, Snapshot


def violations_of(snapshot: Snapshot, newcomers: list[tuple[Pod, str]]) -> list[str]:
    """Broken rules in which at least one of *newcomers* takes part, one sentence each."""
    new = {pod.key for pod, _ in newcomers}
    broken = [*_single_claims(snapshot, new), *_anti_affinity(snapshot, new)]
    for info in snapshot.nodes.values():
        mine = [pod for pod in info.pods if pod.key in new]
        broken += [*_unsuitable(info, mine), *_overdrawn(info, mine), *_clashes(info, new)]
        broken += _too_many_volumes(snapshot, info, new)
    return broken


def _unsuitable(info: NodeInfo, newcomers: list[Pod]) -> Iterator[str]:
    for pod in newcomers:
        if repels(info.node, pod):
            yield f"{pod.key} does not tolerate a taint of {info.node.name}"
        if not wants(pod, info.node):
            yield f"{pod.key} does not want a node like {info.node.name}"


def _overdrawn(info: NodeInfo, newcomers: list[Pod]) -> Iterator[str]:
    asked = {name for pod in newcomers for name, amount in pod.requests.items() if amount > 0}
    for name in sorted(asked):
        if info.used[name] > info.node.allocatable.get(name, 0):
            yield f"{info.node.name} has not enough {name}"


def _clashes(info: NodeInfo, new: set[str]) -> Iterator[str]:
    for one, other in _pairs(info.pods, new):
        if ports_clash(one, other):
            yield f"{one.key} and {other.key} want the same port of {info.node.name}"
        if disks_clash(one, other):
            yield f"{one.key} and {other.key} can't share a disk on {info.node.name}"


def _too_many_volumes(snapshot: Snapshot, info: NodeInfo, new: set[str]) -> Iterator[str]:
    """A node may have been over its limit before; then nothing may have been added."""
    before = {volume for pod in info.pods if pod.key not in new for volume in attached(snapshot, pod)}
    now = {volume for pod in info.pods for volume in attached(snapshot, pod)}
    count = Counter(driver for driver, _ in now)
    added = {driver for driver, _ in now - before}
    limits = limits_of(snapshot, info.node.name)
    for driver in sorted(added & set(limits)):
        if count[driver] > limits[driver]:
            yield f"{info.node.name} has {count[driver]} volumes of {driver}, {limits[driver]} at most"


def _single_claims(snapshot: Snapshot, new: set[str]) -> Iterator[str]:
    for one, other in _pairs([pod for pod, _ in snapshot.residents()], new):
        if single_claims(snapshot, one) & claims(other):
            yield f"{one.key} and {other.key} share a claim that is for one pod only"


def _anti_affinity(snapshot: Snapshot, new: set[str]) -> Iterator[str]:
    residents = list(snapshot.residents())
    for owner, here in residents:
        for term in repelling(owner):
            for other, there in residents:
                if owner is other or not {owner.key, other.key} & new:
                    continue
                if share_domain(term.topology_key, here, there) and means(snapshot, owner, term, other):
                    yield f"{owner.key} does not want {other.key} in its {term.topology_key}"


def _pairs(pods: list[Pod], new: set[str]) -> Iterator[tuple[Pod, Pod]]:
    for index, one in enumerate(pods):
        for other in pods[index + 1 :]:
            if {one.key, other.key} & new:
                yield one, other
