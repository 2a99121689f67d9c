"""The store: a place that holds one text, and tells who comes too late to change it."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What is in a store."""

    content: bytes
    #: Tells it from all that was there before and will be after.
    version: str


class Store(Protocol):
    """Holds what is remembered. Methods are called on one thread at a time, and raise `NodewrightError`.

    `AccessDeniedError` says which right is missing; anything temporary is tried again.
    """

    #: What it is, for people: ``ConfigMap kube-system/nodewright-memory``.
    place: str
    #: Where `set_aside` puts things, for people.
    aside: str
    #: How many bytes it takes.
    limit: int

    def read(self) -> Stored | None:
        """Return what is in it, None if it was never written."""
        ...

    def write(self, content: bytes, version: str) -> str:
        """Put *content* in the place of *version*, empty if there should be nothing yet; returns the new version.

        Raises `ConflictError` if something else is there.
        """
        ...

    def set_aside(self, content: bytes) -> None:
        """Keep *content*, which is of no use to us, for people, in the place of what was set aside before."""
        ...
