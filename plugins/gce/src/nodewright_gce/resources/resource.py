"""What all resources have in common."""

import msgspec


class Resource(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Fields are as in the API, which leaves out what is empty and may add what is not known here."""


def last_part(url: str) -> str:
    """Return the name at the end of the URL of a resource."""
    return url.rpartition("/")[2]
