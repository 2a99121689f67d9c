"""Machines as ``instances`` writes them: only what ``listManagedInstances`` does not tell."""

from nodewright_gce.resources.resource import Resource


class ComputeInstance(Resource, frozen=True, kw_only=True):
    """A machine of a zone, whichever group it is in."""

    name: str
    id: str | int = ""
    status: str = ""
    creation_timestamp: str = ""
