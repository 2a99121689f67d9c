"""Label selectors and node selectors."""

import re
from collections.abc import Mapping

from nodewright.objects.frozen import EMPTY, freeze
from nodewright.objects.meta import KubeStruct

#: What Kubernetes reads as a number in a label; Python's `int` takes more.
_INTEGER = re.compile(r"[+-]?[0-9]+")


class Requirement(KubeStruct, frozen=True, kw_only=True):
    """One ``key operator values`` line of a selector."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether *labels* satisfy this line, with the meaning that node selectors give the operators."""
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                return _compare(value, self.operator, self.values)
        return False


def _compare(value: str | None, operator: str, bounds: tuple[str, ...]) -> bool:
    if value is None or len(bounds) != 1:
        return False
    if not (_INTEGER.fullmatch(value) and _INTEGER.fullmatch(bounds[0])):
        return False
    number, bound = int(value), int(bounds[0])
    return number > bound if operator == "Gt" else number < bound


class LabelSelector(KubeStruct, frozen=True, kw_only=True):
    """Selects objects by their labels; an empty one selects all."""

    match_labels: dict[str, str] = EMPTY
    match_expressions: tuple[Requirement, ...] = ()

    def __post_init__(self) -> None:
        freeze(self, "match_labels")

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether an object with *labels* is selected."""
        return all(labels.get(key) == value for key, value in self.match_labels.items()) and all(
            requirement.matches(labels) for requirement in self.match_expressions
        )


class NodeSelectorTerm(KubeStruct, frozen=True, kw_only=True):
    """One alternative of a node selector; an empty one selects nothing."""

    match_expressions: tuple[Requirement, ...] = ()
    match_fields: tuple[Requirement, ...] = ()

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Return whether the node *name* with *labels* satisfies all lines of this alternative."""
        if not self.match_expressions and not self.match_fields:
            return False
        return all(requirement.matches(labels) for requirement in self.match_expressions) and all(
            requirement.matches({"metadata.name": name}) for requirement in self.match_fields
        )


class NodeSelector(KubeStruct, frozen=True, kw_only=True):
    """Selects nodes by alternatives."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Return whether the node *name* with *labels* satisfies any alternative."""
        return any(term.matches(name, labels) for term in self.node_selector_terms)
