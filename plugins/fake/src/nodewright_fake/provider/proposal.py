"""Groups that could be created."""

import hashlib
import json
from collections.abc import Mapping, Sequence

from nodewright.api import PermanentError, Resources, Taint, format_resource

from nodewright_fake.cloud.group import CAPACITY_LABEL, ZONE_LABEL, GroupSettings
from nodewright_fake.names import suggest
from nodewright_fake.provider.reading import Reading

_MAX_SIZE = 1000


def propose(
    reading: Reading, machine_type: str, *, labels: Mapping[str, str], taints: Sequence[Taint], resources: Resources
) -> GroupSettings:
    """Return the settings of a group whose nodes have *labels*, *taints* and *resources* beyond those of their type.

    The same wishes give the same name. Raises `PermanentError` for a type or zone that the cloud does not have.
    """
    zone = labels.get(ZONE_LABEL) or next(iter(reading.zones), "")
    for kind, name, names in (("zone", zone, reading.zones), ("machine type", machine_type, reading.shapes)):
        if name not in names:
            raise PermanentError(f"the fake cloud has no {kind} {name!r}{suggest(name, tuple(names))}")
    wishes = json.dumps([machine_type, dict(labels), [str(taint) for taint in taints], dict(resources)], sort_keys=True)
    return GroupSettings(
        name=f"auto-{machine_type.lower().replace('_', '-')}-{hashlib.sha256(wishes.encode()).hexdigest()[:8]}",
        zone=zone,
        instance_type=machine_type,
        max=_MAX_SIZE,
        spot=labels.get(CAPACITY_LABEL) == "spot",
        labels=dict(labels),
        taints=tuple(str(taint) for taint in taints),
        resources={name: format_resource(name, amount) for name, amount in resources.items()},
        autoprovisioned=True,
    )
