"""Security contexts: Helm lays the given one over the strict one of the chart, and some pairs of fields clash."""

from collections.abc import Mapping
from typing import Any

from nodewright.migration.documents import Document


def over_strict(context: Mapping[str, Any]) -> Document:
    """Return *context* so that it works over the chart's defaults; null takes one of them away."""
    laid: Document = dict(context)
    if "runAsUser" in laid:
        laid.setdefault("runAsGroup", None)
    if laid.get("runAsUser") == 0:
        laid["runAsNonRoot"] = False
    if laid.get("privileged"):
        laid["allowPrivilegeEscalation"] = None
    return laid
