"""Amounts below which the process is killed, throttled or restarted."""

import copy
from collections.abc import Mapping
from typing import Any

from nodewright.migration.documents import Document, section
from nodewright.migration.note import Note, check, differs
from nodewright.objects.quantity import parse_quantity

#: What a small cluster needs, with the plugin of a cloud. A start takes seconds of CPU.
_FLOORS = (("memory", "256Mi", 0), ("cpu", "500m", 3))
#: What the chart has defaults for. Helm would mix them with what is given: a request may be above their limit.
_DEFAULTS = {"requests": ("cpu", "memory"), "limits": ("memory",)}
_WHY = {
    "memory": "with less, the kernel kills the process",
    "cpu": "with less, the start takes longer than the probe waits",
}


def raised(resources: Mapping[str, Any]) -> tuple[Document, list[Note]]:
    """Return *resources* with limits that the process can live with; null takes a default of the chart away."""
    found: Document = copy.deepcopy(dict(resources))
    notes: list[Note] = []
    limits = section({"resources": found}, "resources", "limits")
    for name, floor, scale in _FLOORS:
        given = limits.get(name)
        if given is None:
            continue
        try:
            low = parse_quantity(str(given), scale=scale) < parse_quantity(floor, scale=scale)
        except ValueError as error:
            notes.append(check(f"resources.limits.{name}", str(error)))
            continue
        if low:
            found["limits"][name] = floor
            notes.append(differs(f"resources.limits.{name}", f"raised from {given} to {floor}: {_WHY[name]}"))
    for part, names in _DEFAULTS.items() if found else ():
        found[part] = dict.fromkeys(names) | section(found, part)
    return found, notes
