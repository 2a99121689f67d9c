"""The wire format of lists and watches."""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Raw, Struct

from nodewright.api.errors import ApiServerError

#: The API server's reasons for a resource version or continue token that it no longer has.
_EXPIRED = ("Expired", "Gone")
_TOO_NEW = "Too large resource version"


class ListMeta(Struct, rename="camel"):
    """The resource version of a list, and the continue token of its next page; empty on the last page."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class Page(Struct):
    """A page of a list, with its objects undecoded."""

    metadata: ListMeta
    #: An empty list may come as null.
    items: list[Raw] | None = None


class WatchEvent(Struct):
    """A line of a watch, with its object undecoded."""

    type: str
    object: Raw


class _Name(Struct, rename="camel", frozen=True):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class Identity(Struct):
    """The parts of an object that can be read even if the rest is malformed, or of an error in a watch."""

    metadata: _Name = _Name()
    code: int = 0
    reason: str = ""
    message: str = ""

    @property
    def key(self) -> str:
        """``namespace/name``, or the name alone."""
        name = self.metadata
        return f"{name.namespace}/{name.name}" if name.namespace else name.name

    @property
    def is_expired(self) -> bool:
        """Whether it is the error for a resource version that is too old."""
        return self.code == 410 or self.reason in _EXPIRED


read_page = msgspec.json.Decoder(Page).decode
_read_event = msgspec.json.Decoder(WatchEvent).decode
_identify = msgspec.json.Decoder(Identity).decode


def identity_of(raw: Raw) -> Identity:
    """Return the identity of an object, empty if it can't be read."""
    try:
        return _identify(raw)
    except msgspec.MsgspecError:
        return Identity()


def events_of(pieces: Iterable[bytes]) -> Iterator[list[WatchEvent]]:
    """Yield the events of a watch as they arrive; events that arrive together form one list.

    A line may be spread over several *pieces*. Raises `msgspec.MsgspecError` for a line that is no event.
    """
    partial: list[bytes] = []
    for piece in pieces:
        whole, newline, rest = piece.rpartition(b"\n")
        if newline:
            lines = b"".join((*partial, whole)).split(b"\n")
            partial = []
            yield [_read_event(line) for line in lines if line]
        if rest:
            partial.append(rest)


def loses_version(error: Exception) -> bool:
    """Return whether after *error* a watch can't resume from its resource version and has to list again.

    The version may be expired, or too new for a server that was restored to an earlier state. After a response that no
    API server sends, nothing is certain about it.
    """
    if isinstance(error, msgspec.MsgspecError):
        return True
    if not isinstance(error, ApiServerError):
        return False
    return error.status == 410 or (error.status == 504 and _TOO_NEW in str(error))
