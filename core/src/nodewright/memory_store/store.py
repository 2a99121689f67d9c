"""The store: a place for one text, which refuses a writer that has not seen the latest version."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Stored:
    """The content of a store."""

    content: bytes
    #: Differs for every write, past and future.
    version: str


class Store(Protocol):
    """Holds memory as bytes. Called by one thread at a time; every method raises `NodewrightError`.

    `AccessDeniedError` names the missing right. Anything temporary is tried again.
    """

    #: Its name for people: ``ConfigMap kube-system/nodewright-memory``.
    place: str
    #: Where `set_aside` puts content, for people.
    aside: str
    #: How many bytes it takes.
    limit: int

    def read(self) -> Stored | None:
        """Return its content, None if it was never written."""
        ...

    def write(self, content: bytes, version: str) -> str:
        """Replace *version* by *content* and return the new version; an empty *version* means that nothing is there.

        Raises `ConflictError` if the store holds another version.
        """
        ...

    def set_aside(self, content: bytes) -> None:
        """Keep unusable *content* for people. Replaces what was set aside before."""
        ...
