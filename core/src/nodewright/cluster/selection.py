"""Selections: the pods that affinity and spread constraints refer to."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from nodewright.objects import LabelSelector, Pod, Requirement
from nodewright.objects.affinity import PodAffinityTerm, TopologySpreadConstraint

Namespaces = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Pods of some namespaces whose labels match."""

    #: None for all namespaces.
    namespaces: frozenset[str] | None
    match_labels: tuple[tuple[str, str], ...]
    expressions: tuple[Requirement, ...]
    #: Whether pods that are being deleted count.
    terminating: bool = True
    #: Whether nothing is selected, because there is no selector.
    nothing: bool = False

    @cached_property
    def _hash(self) -> int:
        return hash((self.namespaces, self.match_labels, self.expressions, self.terminating, self.nothing))

    def __hash__(self) -> int:
        # Computed once: every placement needs it.
        return self._hash

    def matches(self, namespace: str, labels: Mapping[str, str], *, terminating: bool = False) -> bool:
        """Return whether a pod of *namespace* with *labels* is selected."""
        if self.nothing or (terminating and not self.terminating):
            return False
        if self.namespaces is not None and namespace not in self.namespaces:
            return False
        return all(labels.get(key) == value for key, value in self.match_labels) and all(
            line.matches(labels) for line in self.expressions
        )


@dataclass(frozen=True, kw_only=True)
class Term:
    """Selected pods in one domain of a topology key."""

    selection: Selection
    key: str


@dataclass(frozen=True, kw_only=True)
class SpreadRule:
    """One hard spread constraint of a pod."""

    selection: Selection
    key: str
    max_skew: int
    min_domains: int
    honors_affinity: bool
    honors_taints: bool
    #: Whether the pod counts for its own constraint.
    counts_itself: bool


def affinity_term(term: PodAffinityTerm, pod: Pod, namespaces: Namespaces) -> Term:
    """Return a term of *pod* with its namespaces resolved."""
    chosen: frozenset[str] | None
    if term.namespace_selector is None:
        chosen = frozenset(term.namespaces or (pod.metadata.namespace,))
    elif not term.namespace_selector.match_labels and not term.namespace_selector.match_expressions:
        chosen = None
    else:
        selected = (name for name, labels in namespaces.items() if term.namespace_selector.matches(labels))
        chosen = frozenset((*term.namespaces, *selected))
    lines = [
        Requirement(key=key, operator=operator, values=(pod.metadata.labels[key],))
        for operator, keys in (("In", term.match_label_keys), ("NotIn", term.mismatch_label_keys))
        for key in keys
        if key in pod.metadata.labels
    ]
    return Term(selection=_selection(chosen, term.label_selector, lines), key=term.topology_key)


def spread_rules(pod: Pod) -> tuple[SpreadRule, ...]:
    """Return the hard spread constraints of *pod*."""
    constraints = pod.spec.topology_spread_constraints
    return tuple(_spread_rule(each, pod) for each in constraints if each.when_unsatisfiable == "DoNotSchedule")


def _spread_rule(constraint: TopologySpreadConstraint, pod: Pod) -> SpreadRule:
    labels = pod.metadata.labels
    lines = [
        Requirement(key=key, operator="In", values=(labels[key],))
        for key in constraint.match_label_keys
        if key in labels
    ]
    selector = constraint.label_selector
    if selector == LabelSelector() and not lines:
        # As in kube-scheduler, a selector that selects everything counts nothing here.
        selector = None
    own = frozenset([pod.metadata.namespace])
    selection = _selection(own, selector, lines, terminating=False)
    return SpreadRule(
        selection=selection,
        key=constraint.topology_key,
        max_skew=constraint.max_skew,
        min_domains=constraint.min_domains or 1,
        honors_affinity=constraint.node_affinity_policy != "Ignore",
        honors_taints=constraint.node_taints_policy == "Honor",
        counts_itself=selection.matches(pod.metadata.namespace, labels),
    )


def _selection(
    namespaces: frozenset[str] | None,
    selector: LabelSelector | None,
    lines: list[Requirement],
    *,
    terminating: bool = True,
) -> Selection:
    return Selection(
        namespaces=namespaces,
        match_labels=tuple(sorted(selector.match_labels.items())) if selector else (),
        expressions=(*(selector.match_expressions if selector else ()), *lines),
        terminating=terminating,
        nothing=selector is None,
    )
