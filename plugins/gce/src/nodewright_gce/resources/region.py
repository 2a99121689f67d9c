"""Regions with their zones and quotas, as ``regions`` writes them."""

from nodewright_gce.resources.resource import Resource


class Quota(Resource):
    """A quota of a project in a region."""

    metric: str = ""
    limit: float = 0
    usage: float = 0


class Region(Resource):
    """A region."""

    name: str
    #: URLs.
    zones: tuple[str, ...] = ()
    quotas: tuple[Quota, ...] = ()
