"""URLs and times in answers. Google writes URLs with either of two hosts."""

from datetime import datetime

from nodewright_gce.resources.address import Place

_SITE = "https://www.googleapis.com/compute/v1/"
_OTHER_SITE = "https://compute.googleapis.com/compute/v1/"


def url(path: str) -> str:
    """Return the usual URL of a resource."""
    return _SITE + path


def template_url(path: str) -> str:
    """Return the URL of a template, which has the other host."""
    return _OTHER_SITE + path


def place_url(place: Place) -> str:
    """Return the URL of a zone or region."""
    return _SITE + place.path


def path_of(address: str) -> str:
    """Return what is behind the version of the API in a URL, or a path as it is."""
    return address.rpartition("/compute/v1/")[2]


def time_of(moment: datetime) -> str:
    """Return a time as the API writes it."""
    return moment.isoformat(timespec="milliseconds")
