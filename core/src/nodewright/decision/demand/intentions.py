"""Intentions: which pods the nodes on their way were ordered for."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from nodewright.api.option import PodSet
from nodewright.api.processor import Intended
from nodewright.cluster import Cluster, PodClass
from nodewright.cluster.pod_class import class_key
from nodewright.decision.memory import Intention
from nodewright.objects import Pod


def kind_of(pod: Pod, pod_class: PodClass) -> str:
    """Return a text that is the same for all equal pods of one controller, even after a restart."""
    controller = pod.metadata.controller
    owner = controller.uid if controller else pod.metadata.uid or pod.key
    digest: str | None = pod_class.memo.get("digest")
    if digest is None:
        key = class_key(pod_class.pod, pod_class.annotations)
        digest = pod_class.memo["digest"] = blake2b(key, digest_size=8).hexdigest()
    return f"{owner}/{digest}"


def recall(
    intentions: Iterable[Intention], cluster: Cluster, ordered: Mapping[str, Sequence[str]]
) -> tuple[Intended, ...]:
    """Return which pods, of those still waiting, the *ordered* nodes (by group) are meant for."""
    intentions = [each for each in intentions if each.group in ordered]
    if not intentions:
        return ()
    waiting = _waiting(cluster, {each.kind for each in intentions})
    found = []
    for each in intentions:
        pod, keys = waiting.get(each.kind, (None, []))
        if pod is not None and keys:
            # Any of them will do: they are equal.
            taken, keys[:] = keys[: each.count], keys[each.count :]
            found.append(Intended(pods=PodSet(pod=pod, keys=tuple(taken)), nodes=ordered[each.group]))
    return tuple(found)


def _waiting(cluster: Cluster, kinds: set[str]) -> dict[str, tuple[Pod, list[str]]]:
    """Return the waiting pods of *kinds*: one of them, and the keys of all."""
    waiting: dict[str, tuple[Pod, list[str]]] = {}
    for sort, queue in cluster.waiting.sorts.items():
        row = cluster.pending[next(iter(queue))]
        pod = row.pending or sort.pod_class.pod
        kind = kind_of(pod, sort.pod_class)
        if kind in kinds:
            waiting.setdefault(kind, (pod, []))[1].extend(queue)
    return waiting
