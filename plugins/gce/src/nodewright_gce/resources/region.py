"""Regions with their zones and quotas, as ``regions`` writes them."""

from nodewright_gce.resources.resource import Resource


class Quota(Resource, frozen=True, kw_only=True):
    """A quota of a project in a region."""

    metric: str = ""
    limit: float = 0
    usage: float = 0


class Region(Resource, frozen=True, kw_only=True):
    """A region."""

    name: str
    #: URLs.
    zones: tuple[str, ...] = ()
    quotas: tuple[Quota, ...] = ()
