"""Returning pods: those of nodes that are being taken out of service, which will need a place elsewhere."""

from collections.abc import Iterable

from nodewright.api.option import PodSet
from nodewright.cluster import Cluster, PodClass


def returning_pods(cluster: Cluster, leaving: Iterable[str]) -> tuple[PodSet, ...]:
    """Return the pods on the nodes *leaving* that their controllers will create anew; those that end already count not.

    Those have been created anew, or will be in a moment, and are pending then.
    """
    together: dict[tuple[str, PodClass], list[str]] = {}
    for node in leaving:
        for row in cluster.pods_on(node):
            if row.deleted is None and not row.pod_class.pod.is_mirror and not row.pod_class.pod.is_daemon:
                owner = row.owner.uid if row.owner else row.uid
                together.setdefault((owner, row.pod_class), []).append(row.key)
    return tuple(PodSet(pod=pod_class.pod, keys=tuple(keys)) for (_, pod_class), keys in together.items())
