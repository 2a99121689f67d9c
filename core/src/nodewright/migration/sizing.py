"""Amounts below which the process is killed, throttled or restarted."""

import copy
from collections.abc import Mapping
from typing import Any

from nodewright.migration.documents import Document, section
from nodewright.migration.note import Note, check, differs
from nodewright.objects.quantity import parse_quantity

#: Limits that are too low for a small cluster with the plugin of a cloud, as the chart's notes say, and what does.
_FLOORS = (("memory", "192Mi", "256Mi", 0), ("cpu", "250m", "250m", 3))
#: What the chart has defaults for. Helm would mix them with what is given: a request may be above their limit.
_DEFAULTS = {"requests": ("cpu", "memory"), "limits": ("memory",)}
_WHY = {
    "memory": "with less, the kernel kills the process",
    "cpu": "a start takes a second of CPU",
}


def raised(resources: Mapping[str, Any]) -> tuple[Document, list[Note]]:
    """Return *resources* with limits that the process can live with; null takes a default of the chart away."""
    found: Document = copy.deepcopy(dict(resources))
    notes: list[Note] = []
    limits = section({"resources": found}, "resources", "limits")
    for name, floor, enough, scale in _FLOORS:
        given = limits.get(name)
        if given is None:
            continue
        try:
            low = parse_quantity(str(given), scale=scale) < parse_quantity(floor, scale=scale)
        except ValueError as error:
            notes.append(check(f"resources.limits.{name}", str(error)))
            continue
        if low:
            found["limits"][name] = enough
            notes.append(differs(f"resources.limits.{name}", f"raised from {given} to {enough}: {_WHY[name]}"))
    for part, names in _DEFAULTS.items() if found else ():
        found[part] = dict.fromkeys(names) | section(found, part)
    return found, notes
