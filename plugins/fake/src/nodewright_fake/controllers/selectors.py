"""Label selectors and node selectors, read from the JSON of objects."""

from collections.abc import Mapping
from dataclasses import dataclass

from nodewright_fake.apiserver.store import Object


@dataclass(frozen=True)
class Requirement:
    """One line of a selector."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether *labels* satisfy this line; one with an unknown operator is never satisfied."""
        value = labels.get(self.key)
        if self.operator == "Exists":
            return value is not None
        if self.operator == "DoesNotExist":
            return value is None
        if self.operator == "NotIn":
            return value is None or value not in self.values
        if value is None:
            return False
        if self.operator == "In":
            return value in self.values
        if self.operator in ("Gt", "Lt") and len(self.values) == 1:
            try:
                number, bound = int(value), int(self.values[0])
            except ValueError:
                return False
            return number > bound if self.operator == "Gt" else number < bound
        return False


#: All lines have to be satisfied, so that the empty one selects everything.
Selector = tuple[Requirement, ...]


def read_expressions(expressions: list[Object] | None) -> Selector:
    """Read a list of ``key operator values``."""
    return tuple(
        Requirement(line["key"], line["operator"], tuple(line.get("values") or ())) for line in expressions or ()
    )


def read_selector(selector: Object | None) -> Selector | None:
    """Read a ``LabelSelector``; None, which selects nothing, for one that is absent."""
    if selector is None:
        return None
    labels = selector.get("matchLabels") or {}
    return tuple(Requirement(key, "In", (labels[key],)) for key in sorted(labels)) + read_expressions(
        selector.get("matchExpressions")
    )


def selects(selector: Selector | None, labels: Mapping[str, str]) -> bool:
    """Return whether *selector* selects an object with *labels*."""
    return selector is not None and all(requirement.matches(labels) for requirement in selector)


def labels_of(item: Object) -> Mapping[str, str]:
    """Return the labels of an object."""
    labels: Mapping[str, str] = item["metadata"].get("labels") or {}
    return labels
