"""Pods that want other pods in their domain, or don't, and pods there that don't want them."""

from msgspec.structs import replace
from nodewright.objects import Pod, Requirement
from nodewright.objects.affinity import PodAffinity, PodAffinityTerm

from ..selectors import selects
from ..snapshot import NodeInfo, Snapshot


def check(snapshot: Snapshot, pod: Pod, info: NodeInfo) -> tuple[str, ...]:
    if not _has_company(snapshot, pod, info):
        return ("node(s) didn't match pod affinity rules",)
    residents = list(snapshot.residents())
    if any(_meets(snapshot, pod, term, other, there, info) for term in repelling(pod) for other, there in residents):
        return ("node(s) didn't match pod anti-affinity rules",)
    if any(_meets(snapshot, other, term, pod, there, info) for other, there in residents for term in repelling(other)):
        return ("node(s) didn't satisfy existing pods anti-affinity rules",)
    return ()


def attracting(pod: Pod) -> tuple[PodAffinityTerm, ...]:
    return _terms(pod, pod.spec.affinity.pod_affinity if pod.spec.affinity else None)


def repelling(pod: Pod) -> tuple[PodAffinityTerm, ...]:
    return _terms(pod, pod.spec.affinity.pod_anti_affinity if pod.spec.affinity else None)


def means(snapshot: Snapshot, owner: Pod, term: PodAffinityTerm, other: Pod) -> bool:
    """Whether *term* of *owner* speaks of *other*, wherever it is."""
    return _in_scope(snapshot, owner, term, other.metadata.namespace) and selects(
        term.label_selector, other.metadata.labels
    )


def share_domain(key: str, one: NodeInfo, other: NodeInfo) -> bool:
    return key in one.labels and key in other.labels and one.labels[key] == other.labels[key]


def _has_company(snapshot: Snapshot, pod: Pod, info: NodeInfo) -> bool:
    """Whether for each term some pod that all terms mean is in the node's domain.

    The first of a kind that wants its own kind finds none: it may go wherever there are domains at all.
    """
    terms = attracting(pod)
    if not terms:
        return True
    if any(term.topology_key not in info.labels for term in terms):
        return False
    wanted = [there for other, there in snapshot.residents() if _all_mean(snapshot, pod, terms, other)]
    if all(any(share_domain(term.topology_key, info, there) for there in wanted) for term in terms):
        return True
    somewhere = any(term.topology_key in there.labels for term in terms for there in wanted)
    return not somewhere and _all_mean(snapshot, pod, terms, pod)


def _all_mean(snapshot: Snapshot, owner: Pod, terms: tuple[PodAffinityTerm, ...], other: Pod) -> bool:
    return all(means(snapshot, owner, term, other) for term in terms)


def _meets(snapshot: Snapshot, owner: Pod, term: PodAffinityTerm, other: Pod, there: NodeInfo, info: NodeInfo) -> bool:
    """Whether *term* of *owner* means *other*, and the two would be in one domain."""
    return share_domain(term.topology_key, there, info) and means(snapshot, owner, term, other)


def _in_scope(snapshot: Snapshot, owner: Pod, term: PodAffinityTerm, namespace: str) -> bool:
    if not term.namespaces and term.namespace_selector is None:
        return namespace == owner.metadata.namespace
    return namespace in term.namespaces or selects(term.namespace_selector, snapshot.labels_of_namespace(namespace))


def _terms(pod: Pod, affinity: PodAffinity | None) -> tuple[PodAffinityTerm, ...]:
    return tuple(_narrowed(pod, term) for term in affinity.required) if affinity else ()


def _narrowed(pod: Pod, term: PodAffinityTerm) -> PodAffinityTerm:
    """The same term, with ``matchLabelKeys`` and ``mismatchLabelKeys`` as lines of its selector."""
    if term.label_selector is None:
        return term
    lines = tuple(
        Requirement(key=key, operator=operator, values=(pod.metadata.labels[key],))
        for operator, keys in (("In", term.match_label_keys), ("NotIn", term.mismatch_label_keys))
        for key in keys
        if key in pod.metadata.labels
    )
    selector = replace(term.label_selector, match_expressions=term.label_selector.match_expressions + lines)
    return replace(term, label_selector=selector)
