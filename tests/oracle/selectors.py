"""What label selectors and node selectors mean, written a second time: the core's own must agree with it."""

import re
from collections.abc import Mapping

from nodewright.objects import LabelSelector, Node, NodeSelector, NodeSelectorTerm, Requirement

_INTEGER = re.compile(r"[+-]?[0-9]+")


def selects(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Whether *labels* are selected. No selector selects nothing, an empty one everything."""
    if selector is None:
        return False
    pairs_hold = all(key in labels and labels[key] == value for key, value in selector.match_labels.items())
    return pairs_hold and all(_holds(line, labels) for line in selector.match_expressions)


def node_matches(selector: NodeSelector, node: Node) -> bool:
    """Whether any term of *selector* accepts *node*."""
    return any(term_matches(term, node.name, node.metadata.labels) for term in selector.node_selector_terms)


def term_matches(term: NodeSelectorTerm, name: str, labels: Mapping[str, str]) -> bool:
    """Whether all lines of *term* hold; a term without lines accepts nothing."""
    if not term.match_expressions and not term.match_fields:
        return False
    fields = {"metadata.name": name}
    return all(_holds(line, labels) for line in term.match_expressions) and all(
        _holds(line, fields) for line in term.match_fields
    )


def _holds(line: Requirement, labels: Mapping[str, str]) -> bool:
    present = line.key in labels
    value = labels.get(line.key, "")
    if line.operator == "In":
        return present and value in line.values
    if line.operator == "NotIn":
        return not present or value not in line.values
    if line.operator == "Exists":
        return present
    if line.operator == "DoesNotExist":
        return not present
    if line.operator not in ("Gt", "Lt") or len(line.values) != 1:
        return False
    if not present or not _INTEGER.fullmatch(value) or not _INTEGER.fullmatch(line.values[0]):
        return False
    return int(value) > int(line.values[0]) if line.operator == "Gt" else int(value) < int(line.values[0])
