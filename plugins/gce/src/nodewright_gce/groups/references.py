"""References to groups in the words of Google Cloud."""

import re
from collections.abc import Iterable

from nodewright_gce.resources.address import Address

#: ``zones/Z/instanceGroups/NAME``, without the project.
_IN_ZONE = re.compile(r"(?P<path>(?:zones|regions)/[^/]+)/(?:instanceGroups|instanceGroupManagers)/(?P<name>[^/]+)$")
_NODE_POOL = re.compile(
    r"projects/(?P<project>[^/]+)/(?:locations|zones)/(?P<location>[^/]+)"
    r"/clusters/(?P<cluster>[^/]+)/nodePools/(?P<pool>[^/]+)$"
)


def group_meant(reference: str, known: Iterable[Address]) -> str | None:
    """Return the id of the one group among *known* that *reference* means; None if it is none, or may be several.

    It is a URL of the group or of its manager, at any host, with or without the project; its name; or the URL of a node
    pool of GKE that has one group.
    """
    known = tuple(known)
    try:
        address = Address.parse(reference)
    except ValueError:
        found = [each for each in known if _is_meant(reference, each)]
        return found[0].id if len(found) == 1 else None
    return address.id if address in known else None


def _is_meant(reference: str, address: Address) -> bool:
    if "/" not in reference:
        return reference == address.name
    if (part := _IN_ZONE.search(reference)) is not None:
        return part["name"] == address.name and address.place.path.endswith(f"/{part['path']}")
    if (pool := _NODE_POOL.search(reference)) is not None:
        # As GKE names the group of a pool in a zone, unless the name would be too long.
        named = rf"gke-{re.escape(pool['cluster'])}-{re.escape(pool['pool'])}-[0-9a-f]{{8}}-grp"
        here = pool["location"] in (address.place.name, address.place.region)
        return here and pool["project"] == address.place.project and re.fullmatch(named, address.name) is not None
    return False
