"""The envelope: memory as it is stored, with what tells whose it is, from when, and how to read it."""

import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from nodewright import __version__
from nodewright.decision.memory import Memory
from nodewright.memory_store.reading import read_memory
from nodewright.memory_store.shedding import ever_smaller

#: Goes up when an older version would misunderstand what is written; what it merely does not know, it ignores.
FORMAT = 1
#: More than this is packed; less can be read by people.
_PLAIN = 64 * 1024
#: Nothing that was ever packed is larger than this.
_UNPACKED = 64 * 1024 * 1024
_GZIP = b"\x1f\x8b"
_LEVEL = 6


class UnusableError(ValueError):
    """What is stored can't be read as memory; the message says why."""


class NewerFormatError(UnusableError):
    """It was written by a version that this one can't understand."""


class TooLargeError(ValueError):
    """Not even what must not be lost has room in the store."""


@dataclass(frozen=True, kw_only=True)
class Envelope:
    """Memory, and what is to be known of it."""

    memory: Memory
    #: When it was last known to be right: at the end of a loop.
    seen_at: datetime
    #: Which process has written it.
    holder: str = ""
    #: The name of the cluster that it is about; empty if it has none.
    cluster: str = ""


@dataclass(frozen=True, kw_only=True)
class Sealed:
    """What goes into a store."""

    content: bytes
    #: What had to be left out.
    shed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Opened:
    """What came out of a store."""

    envelope: Envelope
    #: How many items could not be read, by field.
    lost: Mapping[str, int] = field(default_factory=dict)


class _Written(msgspec.Struct, kw_only=True, rename="camel"):
    """An envelope as JSON has it."""

    format: int
    version: str
    seen_at: datetime
    holder: str
    cluster: str
    memory: Memory


def seal(envelope: Envelope, limit: int) -> Sealed:
    """Return *envelope* as at most *limit* bytes, without what is cheapest to lose if there is not room for all.

    Raises `TooLargeError` if there is not even room for the rest.
    """
    for memory, shed in ever_smaller(envelope.memory):
        content = _encode(envelope, memory)
        if len(content) <= limit:
            return Sealed(content=content, shed=shed)
    raise TooLargeError(f"{len(content)} bytes are more than the {limit} that it takes")


def unseal(content: bytes) -> Opened:
    """Return what is in *content*: all that can be understood of it.

    Raises `NewerFormatError`, or `UnusableError` if nothing can.
    """
    text = _unpacked(content)
    try:
        parts = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (ValueError, RecursionError) as error:
        raise UnusableError(f"it is no JSON object ({error})") from None
    number = _part(parts, "format", int)
    if number is None:
        raise UnusableError("it does not say in which format it is")
    if number > FORMAT:
        raise NewerFormatError(f"it has format {number}, and this version of Nodewright knows up to {FORMAT}")
    try:
        read = read_memory(parts.get("memory", b""))
    except ValueError as error:
        raise UnusableError(f"its memory is no JSON object ({error})") from None
    seen_at = _part(parts, "seenAt", datetime)
    if seen_at is None or seen_at.tzinfo is None:
        raise UnusableError("it does not say from when it is")
    envelope = Envelope(
        memory=read.memory,
        seen_at=seen_at,
        holder=_part(parts, "holder", str) or "",
        cluster=_part(parts, "cluster", str) or "",
    )
    return Opened(envelope=envelope, lost=read.lost)


def as_json(content: bytes) -> bytes:
    """Return the JSON in *content*, for people. Raises `UnusableError` if it can't be unpacked."""
    return _unpacked(content)


def _encode(envelope: Envelope, memory: Memory) -> bytes:
    text = msgspec.json.encode(
        _Written(
            format=FORMAT,
            version=__version__,
            seen_at=envelope.seen_at,
            holder=envelope.holder,
            cluster=envelope.cluster,
            memory=memory,
        )
    )
    # Without the time in its head, equal memories are packed equally.
    return text if len(text) <= _PLAIN else gzip.compress(text, _LEVEL, mtime=0)


def _unpacked(content: bytes) -> bytes:
    if not content.startswith(_GZIP):
        return content
    unpacking = zlib.decompressobj(wbits=31)
    try:
        text = unpacking.decompress(content, _UNPACKED)
    except zlib.error as error:
        raise UnusableError(f"it can't be unpacked ({error})") from None
    if not unpacking.eof:
        what = "it unpacks to far more than memory can be" if unpacking.unconsumed_tail else "its end is missing"
        raise UnusableError(what)
    return text


def _part(parts: Mapping[str, msgspec.Raw], name: str, kind: type[Any]) -> Any:
    """Return a value of the envelope, None if it is missing or not of this kind."""
    try:
        return msgspec.json.decode(parts[name], type=kind)
    except (KeyError, ValueError, RecursionError):
        return None
