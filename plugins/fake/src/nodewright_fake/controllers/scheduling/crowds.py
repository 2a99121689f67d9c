"""Crowds: the pods that are counted on every node because of affinity, anti-affinity or topology spread."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from nodewright_fake.controllers.scheduling.pod_shape import PodShape
from nodewright_fake.controllers.scheduling.terms import PodTerm
from nodewright_fake.controllers.selectors import Selector, selects


class Crowd(Protocol):
    """A set of pods, given by a rule. Equal crowds are counted once."""

    def __hash__(self) -> int: ...

    def includes(self, shape: PodShape, namespace_labels: Mapping[str, str], *, leaving: bool) -> bool:
        """Return whether a placed pod counts; *leaving* pods are on their way out."""
        ...


@dataclass(frozen=True)
class SpreadPods:
    """The pods that a spread constraint counts: those that stay. As in kube-scheduler an empty selector counts none."""

    namespace: str
    selector: Selector | None

    def includes(self, shape: PodShape, namespace_labels: Mapping[str, str], *, leaving: bool) -> bool:
        """Return whether a placed pod counts."""
        if leaving or not self.selector or shape.namespace != self.namespace:
            return False
        return selects(self.selector, shape.labels)


@dataclass(frozen=True)
class MatchingPods:
    """The pods that match all of some terms."""

    terms: tuple[PodTerm, ...]

    def includes(self, shape: PodShape, namespace_labels: Mapping[str, str], *, leaving: bool) -> bool:
        """Return whether a placed pod counts."""
        return all(term.matches(shape.namespace, namespace_labels, shape.labels) for term in self.terms)


@dataclass(frozen=True)
class RepellingPods:
    """The pods that carry a term of anti-affinity."""

    term: PodTerm

    def includes(self, shape: PodShape, namespace_labels: Mapping[str, str], *, leaving: bool) -> bool:
        """Return whether a placed pod counts."""
        return self.term in shape.anti_affinity
