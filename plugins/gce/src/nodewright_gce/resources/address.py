"""Addresses: where a group is, and how its URLs are written."""

import re
from dataclasses import dataclass

#: Begins the ids of groups, as in Cluster Autoscaler.
_SITE = "https://www.googleapis.com/compute/v1/"
_URL = re.compile(
    r"projects/(?P<project>[^/]+)/(?P<kind>zones|regions)/(?P<place>[^/]+)/"
    r"(?:instanceGroups|instanceGroupManagers)/(?P<name>[^/]+)$"
)


@dataclass(frozen=True, kw_only=True, order=True)
class Place:
    """A zone or a region of a project."""

    project: str
    #: Such as ``europe-west1-b``, or ``europe-west1`` for a region.
    name: str
    regional: bool = False

    @property
    def path(self) -> str:
        """The part of URLs: ``projects/P/zones/Z`` or ``projects/P/regions/R``."""
        return f"projects/{self.project}/{'regions' if self.regional else 'zones'}/{self.name}"

    @property
    def region(self) -> str:
        """The region that it is, or that the zone is in."""
        return self.name if self.regional else self.name.rpartition("-")[0]


@dataclass(frozen=True, kw_only=True, order=True)
class Address:
    """Where a managed instance group is."""

    place: Place
    name: str

    @property
    def id(self) -> str:
        """The id of the group for the core, as in Cluster Autoscaler: the URL of its ``instanceGroups`` resource."""
        return f"{_SITE}{self.place.path}/instanceGroups/{self.name}"

    @property
    def path(self) -> str:
        """The path of its manager: ``projects/P/zones/Z/instanceGroupManagers/NAME``."""
        return f"{self.place.path}/instanceGroupManagers/{self.name}"

    @classmethod
    def parse(cls, url: str) -> "Address":
        """Return the address in a URL of a group or of its manager, at any host; raises `ValueError`."""
        match = _URL.search(url)
        if match is None:
            raise ValueError(f"{url!r} is no URL of a managed instance group")
        place = Place(project=match["project"], name=match["place"], regional=match["kind"] == "regions")
        return cls(place=place, name=match["name"])
