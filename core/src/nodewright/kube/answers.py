"""What the API server answers to lists and watches, taken apart."""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Raw, Struct

from nodewright.api.errors import ApiServerError

#: What the API server calls a version, or a place in a list, that it has forgotten.
_FORGOTTEN = ("Expired", "Gone")
_FROM_THE_FUTURE = "Too large resource version"


class ListMeta(Struct, rename="camel"):
    """Of which version a list is, and where its next page begins; empty on the last."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class Page(Struct):
    """A page of a list; its objects are still to be read."""

    metadata: ListMeta
    #: Empty lists may come as null.
    items: list[Raw] | None = None


class WatchEvent(Struct):
    """A line of a watch."""

    type: str
    object: Raw


class _Name(Struct, rename="camel", frozen=True):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class Identity(Struct):
    """What can be read even of an object that is malformed otherwise; also of a refusal in a watch."""

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
    def says_forgotten(self) -> bool:
        """Whether it refuses a version that is too old."""
        return self.code == 410 or self.reason in _FORGOTTEN


read_page = msgspec.json.Decoder(Page).decode
_read_event = msgspec.json.Decoder(WatchEvent).decode
_identify = msgspec.json.Decoder(Identity).decode


def identity_of(raw: Raw) -> Identity:
    """Return what can be read of an object, be it nothing."""
    try:
        return _identify(raw)
    except msgspec.MsgspecError:
        return Identity()


def events_of(pieces: Iterable[bytes]) -> Iterator[list[WatchEvent]]:
    """Yield the events of a watch as they come, those that came together in one list.

    A line may come in many *pieces*. Raises `msgspec.MsgspecError` for one that is no event.
    """
    begun: list[bytes] = []
    for piece in pieces:
        whole, newline, rest = piece.rpartition(b"\n")
        if newline:
            lines = b"".join((*begun, whole)).split(b"\n")
            begun = []
            yield [_read_event(line) for line in lines if line]
        if rest:
            begun.append(rest)


def is_lost(error: Exception) -> bool:
    """Tell whether *error* says that the version to watch from is forgotten, or yet to come.

    The latter is the answer of a server that was put back to an earlier state. What is no answer of an API server at
    all leaves open what became of the version, too.
    """
    if isinstance(error, msgspec.MsgspecError):
        return True
    if not isinstance(error, ApiServerError):
        return False
    return error.status == 410 or (error.status == 504 and _FROM_THE_FUTURE in str(error))
