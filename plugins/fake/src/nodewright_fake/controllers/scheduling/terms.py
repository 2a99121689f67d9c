"""Terms of inter-pod affinity and constraints of topology spread, read from the JSON of a pod."""

from collections.abc import Mapping
from dataclasses import dataclass

from nodewright_fake.apiserver.store import Object
from nodewright_fake.controllers.selectors import Requirement, Selector, read_selector, selects


@dataclass(frozen=True)
class PodTerm:
    """Pods to be near to, or far from, within a topology."""

    topology_key: str
    namespaces: frozenset[str]
    #: Selects further namespaces; None for no others.
    namespace_selector: Selector | None
    #: None selects no pod.
    selector: Selector | None

    def matches(self, namespace: str, namespace_labels: Mapping[str, str], labels: Mapping[str, str]) -> bool:
        """Return whether a pod with *labels* in *namespace* is meant."""
        if namespace not in self.namespaces and not selects(self.namespace_selector, namespace_labels):
            return False
        return selects(self.selector, labels)


@dataclass(frozen=True)
class SpreadConstraint:
    """How evenly the pods of a selector have to lie over the domains of a topology."""

    topology_key: str
    max_skew: int
    min_domains: int
    namespace: str
    selector: Selector | None
    honours_affinity: bool
    honours_taints: bool


def read_pod_terms(affinity: Object | None, namespace: str, labels: Mapping[str, str]) -> tuple[PodTerm, ...]:
    """Read the required terms of a ``podAffinity`` or ``podAntiAffinity`` of a pod in *namespace* with *labels*."""
    required = (affinity or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or ()
    return tuple(_read_pod_term(term, namespace, labels) for term in required)


def read_spread(
    constraints: list[Object] | None, namespace: str, labels: Mapping[str, str]
) -> tuple[SpreadConstraint, ...]:
    """Read the constraints that forbid scheduling; those that only discourage it are left out."""
    return tuple(
        SpreadConstraint(
            topology_key=constraint["topologyKey"],
            max_skew=constraint["maxSkew"],
            min_domains=constraint.get("minDomains") or 1,
            namespace=namespace,
            selector=_narrowed(constraint, labels),
            honours_affinity=(constraint.get("nodeAffinityPolicy") or "Honor") == "Honor",
            honours_taints=(constraint.get("nodeTaintsPolicy") or "Ignore") == "Honor",
        )
        for constraint in constraints or ()
        if (constraint.get("whenUnsatisfiable") or "DoNotSchedule") == "DoNotSchedule"
    )


def _read_pod_term(term: Object, namespace: str, labels: Mapping[str, str]) -> PodTerm:
    namespaces = frozenset(term.get("namespaces") or ())
    elsewhere = term.get("namespaceSelector")
    if not namespaces and elsewhere is None:
        namespaces = frozenset((namespace,))
    return PodTerm(
        topology_key=term["topologyKey"],
        namespaces=namespaces,
        namespace_selector=read_selector(elsewhere),
        selector=_narrowed(term, labels),
    )


def _narrowed(holder: Object, labels: Mapping[str, str]) -> Selector | None:
    """Return the label selector of *holder*, narrowed by the pod's own values of the label keys that it names."""
    selector = read_selector(holder.get("labelSelector"))
    if selector is None:
        return None
    same = [Requirement(key, "In", (labels[key],)) for key in holder.get("matchLabelKeys") or () if key in labels]
    other = [
        Requirement(key, "NotIn", (labels[key],)) for key in holder.get("mismatchLabelKeys") or () if key in labels
    ]
    return (*selector, *same, *other)
