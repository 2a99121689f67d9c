"""Returning pods: those of nodes that are being taken out of service, which will need a place elsewhere."""

from collections.abc import Collection, Iterable

from nodewright.api.option import PodSet
from nodewright.cluster import Cluster, PodClass, PodRow


def returning_pods(cluster: Cluster, leaving: Iterable[str], allowed_schedulers: Collection[str]) -> tuple[PodSet, ...]:
    """Return the pods on the nodes *leaving* that will be created anew and will count as pending then.

    Pods that end already are among them only if their controller waits for that: in the place of others, new ones are
    pending, or will be in a moment. Pods of all schedulers count if *allowed_schedulers* names none.
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


def _comes_back(row: PodRow) -> bool:
    """Tell whether another pod will come in its place that is not there yet."""
    return row.deleted is None or (row.owner is not None and row.owner.kind == "StatefulSet")
