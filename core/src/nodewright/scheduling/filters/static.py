"""What depends only on the pod and the labels and taints of the node: computed once for each pair of classes."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import numpy.typing as npt

from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster, NodeClass, PodClass, Rows
from nodewright.scheduling.filters import node_affinity, node_name, node_unschedulable, taint_toleration

Mask = npt.NDArray[np.bool_]


def refusal(cluster: Cluster, pod: PodClass, row: int) -> Verdict | None:
    """Return why *pod* may not run on a node, independent of other pods, or None."""
    node = cluster.table.node_class(row)
    return (
        node_unschedulable.check(pod, node)
        or node_name.check(pod, cluster.table.names[row])
        or taint_toleration.check(pod, node.taints)
        or _affinity_refusal(cluster, pod, row, node)
    )


def allowed(cluster: Cluster, pod: PodClass) -> Mask:
    """Return by row whether *pod* may run there, independent of room and of other pods."""
    by_class = _by_class(cluster, pod, "static", lambda node: _class_refusal(pod, node))
    if _looks_closer(pod):
        return _and_by_row(cluster, by_class, lambda row: refusal(cluster, pod, row) is None)
    return by_class


def allowed_of(cluster: Cluster, pod: PodClass, rows: Rows) -> Rows:
    """Return those of *rows* on which *pod* may run: the same as `allowed`, but for a few rows."""
    answers = _answers(cluster, pod, "static", lambda node: _class_refusal(pod, node))
    rows = rows[answers[cluster.table.class_of[rows]]]
    if _looks_closer(pod):
        fine = [refusal(cluster, pod, row) is None for row in rows.tolist()]
        rows = rows[np.array(fine, dtype=np.bool_)]
    return rows


def affine(cluster: Cluster, pod: PodClass) -> Mask:
    """Return by row whether the pod's node selector and affinity match."""
    if pod.looks_at_names:
        present = cluster.table.class_of[: cluster.table.size] >= 0
        return _and_by_row(
            cluster, present, lambda row: _affinity_refusal(cluster, pod, row, cluster.table.node_class(row)) is None
        )
    return _by_class(cluster, pod, "affine", lambda node: node_affinity.check(pod, "", node.labels))


def tolerated(cluster: Cluster, pod: PodClass) -> Mask:
    """Return by row whether the pod tolerates the taints."""
    return _by_class(cluster, pod, "tolerated", lambda node: taint_toleration.check(pod, node.taints))


def allowed_by_labels(
    cluster: Cluster, mask: Mask, keys: Iterable[str], fits: Callable[[Mapping[str, str]], bool]
) -> Mask:
    """Return *mask* without the rows for which *fits* returns False.

    *fits* gets the labels of a node, and may look only at those in *keys*. It is called once for all nodes for which
    these labels are equal.
    """
    rows = np.flatnonzero(mask)
    allowed = np.zeros_like(mask)
    if not len(rows):
        return allowed
    kinds = np.zeros(len(rows), dtype=np.int64)
    for key in sorted(set(keys)):
        domains = cluster.table.domains(key)
        # Numbered again for each key, so that the numbers stay small.
        kinds = np.unique(kinds * (domains.count + 1) + domains.of[rows] + 1, return_inverse=True)[1]
    _, examples, kinds = np.unique(kinds, return_index=True, return_inverse=True)
    answers = [fits(cluster.table.marks(row).labels) for row in rows[examples].tolist()]
    allowed[rows] = np.array(answers, dtype=np.bool_)[kinds]
    return allowed


def _class_refusal(pod: PodClass, node: NodeClass) -> Verdict | None:
    refused = node_unschedulable.check(pod, node) or taint_toleration.check(pod, node.taints)
    if refused is not None or pod.looks_at_names:
        return refused
    return node_affinity.check(pod, "", node.labels)


def _affinity_refusal(cluster: Cluster, pod: PodClass, row: int, node: NodeClass) -> Verdict | None:
    labels = cluster.table.marks(row).labels if pod.looks_at_names else node.labels
    return node_affinity.check(pod, cluster.table.names[row], labels)


def _looks_closer(pod: PodClass) -> bool:
    return pod.looks_at_names or bool(pod.pod.spec.node_name)


def _by_class(cluster: Cluster, pod: PodClass, name: str, check: Callable[[NodeClass], Verdict | None]) -> Mask:
    """Return by row what *check* says of the node's class."""
    return _answers(cluster, pod, name, check)[cluster.table.class_of[: cluster.table.size]]


def _answers(cluster: Cluster, pod: PodClass, name: str, check: Callable[[NodeClass], Verdict | None]) -> Mask:
    """Return what *check* says of each class of nodes. Vacant rows have class -1, the last of the answers: no."""
    known = cluster.table.classes.known
    answers: Mask = pod.memo.get(name, np.zeros(1, dtype=np.bool_))
    if len(answers) <= len(known):
        fresh = [check(node) is None for node in known[len(answers) - 1 :]]
        answers = np.concatenate([answers[:-1], np.array([*fresh, False], dtype=np.bool_)])
        pod.memo[name] = answers
    return answers


def _and_by_row(cluster: Cluster, mask: Mask, check: Callable[[int], bool]) -> Mask:
    mask = mask.copy()
    for row in np.flatnonzero(mask).tolist():
        mask[row] = check(row)
    return mask
