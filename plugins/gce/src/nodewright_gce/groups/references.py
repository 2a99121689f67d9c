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


#: Kinds of objects that name groups.
_GROUP, _NODE_POOL_KIND = "GCEInstanceGroup", "GKENodePool"


def group_meant(kind: str, reference: str, known: Iterable[Address]) -> str | None:
    """Return the id of the one group among *known* that *reference* means; None if it is none, or may be several.

    With *kind* ``GCEInstanceGroup``, it is a URL of the group or of its manager, at any host, with or without the
    project, or its name. With ``GKENodePool``, it is the URL of a node pool that has one group.
    """
    means = {_GROUP: _is_group, _NODE_POOL_KIND: _is_of_node_pool}.get(kind)
    found = [each.id for each in known if means is not None and means(reference, each)]
    return found[0] if len(found) == 1 else None


def _is_group(reference: str, address: Address) -> bool:
    if "projects/" in reference:
        return _address(reference) == address
    part = _IN_ZONE.search(reference)
    if part is None:
        return reference == address.name
    return part["name"] == address.name and address.place.path.endswith(f"/{part['path']}")


def _is_of_node_pool(reference: str, address: Address) -> bool:
    pool = _NODE_POOL.search(reference)
    if pool is None:
        return False
    # As GKE names the group of a pool in a zone, unless the name would be too long.
    named = rf"gke-{re.escape(pool['cluster'])}-{re.escape(pool['pool'])}-[0-9a-f]{{8}}-grp"
    here = pool["location"] in (address.place.name, address.place.region)
    return here and pool["project"] == address.place.project and re.fullmatch(named, address.name) is not None


def _address(url: str) -> Address | None:
    try:
        return Address.parse(url)
    except ValueError:
        return None
