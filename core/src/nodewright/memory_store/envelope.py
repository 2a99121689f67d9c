"""The envelope: memory in its stored form, with who wrote it, when it was last right, and in which format it is."""

import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec

from nodewright import __version__
from nodewright.decision.memory import Memory
from nodewright.memory_store.reading import read_memory

#: Goes up when an older version would misunderstand the content. A version ignores fields that it does not know.
FORMAT = 2
#: Longer JSON is compressed; shorter JSON stays readable for people.
_PLAIN = 64 * 1024
#: No memory decompresses to more than this.
_UNPACKED = 64 * 1024 * 1024
_GZIP = b"\x1f\x8b"
_LEVEL = 6
#: A gap of this length or less changes nothing: a restart, a change of leaders.
_SHORT_ABSENCE = timedelta(minutes=5)
#: Clocks of two machines may differ by this much.
_SKEW = timedelta(minutes=1)


class UnusableError(ValueError):
    """The stored content can't be read as memory; the message says why."""


class NewerFormatError(UnusableError):
    """A later version wrote the content, in a format that this version does not understand."""


class TooLargeError(ValueError):
    """Memory is too large for the store, even without everything that may be shed."""


@dataclass(frozen=True, kw_only=True)
class Envelope:
    """Memory, and what its reader has to know about it."""

    memory: Memory
    #: When it was last known to be right: at the end of a loop.
    seen_at: datetime
    #: The identity of the process that wrote it.
    holder: str = ""
    #: The name of its cluster; empty if the cluster has no name.
    cluster: str = ""


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """An envelope as bytes."""

    content: bytes
    #: Names of what was left out because the store has too little room.
    shed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Decoded:
    """An envelope read from bytes."""

    envelope: Envelope
    #: How many items could not be read, by field.
    lost: Mapping[str, int] = field(default_factory=dict)


class _EnvelopeJson(msgspec.Struct, kw_only=True, rename="camel"):
    """The fields of the stored JSON."""

    format: int
    version: str
    seen_at: datetime
    holder: str
    cluster: str
    memory: Memory


def encode(envelope: Envelope, limit: int) -> Encoded:
    """Return *envelope* in at most *limit* bytes; sheds what is cheapest to lose if there is too little room.

    Raises `TooLargeError` if what must not be lost needs more.
    """
    for memory, shed in envelope.memory.ever_smaller():
        content = _as_bytes(envelope, memory)
        if len(content) <= limit:
            return Encoded(content=content, shed=shed)
    raise TooLargeError(f"{len(content)} bytes are more than the {limit} that it takes")


def decode(content: bytes) -> Decoded:
    """Return everything in *content* that can be understood.

    Raises `NewerFormatError`, or `UnusableError` if nothing can be understood.
    """
    text = _unpacked(content)
    try:
        parts = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (ValueError, RecursionError) as error:
        raise UnusableError(f"it is no JSON object ({error})") from None
    number = _part(parts, "format", int)
    if number is None:
        raise UnusableError("it does not name its format")
    if number > FORMAT:
        raise NewerFormatError(f"it has format {number}, and this version of Nodewright knows up to {FORMAT}")
    try:
        read = read_memory(parts.get("memory", b""))
    except ValueError as error:
        raise UnusableError(f"its memory is no JSON object ({error})") from None
    seen_at = _part(parts, "seenAt", datetime)
    if seen_at is None or seen_at.tzinfo is None:
        raise UnusableError("it does not say when it was last right")
    envelope = Envelope(
        memory=read.memory,
        seen_at=seen_at,
        holder=_part(parts, "holder", str) or "",
        cluster=_part(parts, "cluster", str) or "",
    )
    return Decoded(envelope=envelope, lost=read.lost)


def after_absence(memory: Memory, seen_at: datetime, now: datetime) -> tuple[Memory, str]:
    """Return what of *memory*, last known to be right at *seen_at*, is still valid, and why the rest is dropped.

    The text is empty if nothing is dropped. After a long absence, everything that counts from a time starts again: a
    node that was unneeded may have been needed since, and a missing machine may have been unable to come. Whatever
    lasts until a time, such as a back-off, and whatever was learnt stays.
    """
    absence = now - seen_at
    if absence < -_SKEW:
        # None of its times can be compared with our clock.
        return (
            memory.without_times(),
            f"it is from {seen_at:%Y-%m-%d %H:%M:%S}, which is in the future: its times are dropped",
        )
    if absence <= _SHORT_ABSENCE:
        return memory, ""
    return (
        memory.after_absence(),
        f"no loop has run since {seen_at:%Y-%m-%d %H:%M:%S}: timers, orders and removals start again",
    )


def _as_bytes(envelope: Envelope, memory: Memory) -> bytes:
    text = msgspec.json.encode(
        _EnvelopeJson(
            format=FORMAT,
            version=__version__,
            seen_at=envelope.seen_at,
            holder=envelope.holder,
            cluster=envelope.cluster,
            memory=memory,
        )
    )
    # No time in the gzip header, so that equal memories give equal bytes.
    return text if len(text) <= _PLAIN else gzip.compress(text, _LEVEL, mtime=0)


def _unpacked(content: bytes) -> bytes:
    if not content.startswith(_GZIP):
        return content
    unpacking = zlib.decompressobj(wbits=31)
    try:
        text = unpacking.decompress(content, _UNPACKED)
    except zlib.error as error:
        raise UnusableError(f"it can't be decompressed ({error})") from None
    if not unpacking.eof:
        what = "it is larger than any memory" if unpacking.unconsumed_tail else "its end is missing"
        raise UnusableError(what)
    return text


def _part(parts: Mapping[str, msgspec.Raw], name: str, kind: type[Any]) -> Any:
    """Return a value of the envelope, None if it is missing or of another type."""
    try:
        return msgspec.json.decode(parts[name], type=kind)
    except (KeyError, ValueError, RecursionError):
        return None
