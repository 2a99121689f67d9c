"""pprof's format, as much of it as a profile of Python takes: what ``go tool pprof`` and its relatives read."""

import gzip
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    """A line of a function that was about to be run."""

    function: str
    file: str
    line: int


#: What called what, outermost first, and the thread that it was on; empty if none.
Stack = tuple[str, tuple[Frame, ...]]


def encode(kinds: Sequence[tuple[str, str]], samples: Mapping[Stack, Sequence[int]], *, seconds: float = 0) -> bytes:
    """Return a profile of *samples*, taken over so many *seconds*; each has a number for each of *kinds* and units."""
    strings = _Numbers([""])
    functions: dict[tuple[str, str], int] = {}
    places: dict[Frame, int] = {}
    written = bytearray()
    for kind, unit in kinds:
        written += _nested(1, _number(1, strings.of(kind)) + _number(2, strings.of(unit)))
    for (thread, frames), values in samples.items():
        # The innermost comes first here.
        at = [places.setdefault(frame, len(places) + 1) for frame in reversed(frames)]
        label = _nested(3, _number(1, strings.of("thread")) + _number(2, strings.of(thread))) if thread else b""
        written += _nested(2, _packed(1, at) + _packed(2, values) + label)
    for frame, place in places.items():
        function = functions.setdefault((frame.function, frame.file), len(functions) + 1)
        written += _nested(4, _number(1, place) + _nested(4, _number(1, function) + _number(2, frame.line)))
    for (name, file), function in functions.items():
        named = strings.of(name)
        fields = (1, function), (2, named), (3, named), (4, strings.of(file))
        written += _nested(5, b"".join(_number(field, value) for field, value in fields))
    written += _number(10, int(seconds * 1e9))
    for text in strings.values:
        written += _nested(6, text.encode())
    return gzip.compress(bytes(written), mtime=0)


class _Numbers:
    """Numbers strings in the order in which they come."""

    def __init__(self, values: Iterable[str]) -> None:
        self._numbers = {value: number for number, value in enumerate(values)}

    @property
    def values(self) -> Iterable[str]:
        return self._numbers

    def of(self, value: str) -> int:
        return self._numbers.setdefault(value, len(self._numbers))


def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value) if value else b""


def _nested(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _packed(field: int, values: Iterable[int]) -> bytes:
    return _nested(field, b"".join(map(_varint, values)))
