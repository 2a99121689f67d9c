"""The profiler: where this process spends its time and memory, in the format of ``go tool pprof``."""

import gzip
import sys
import threading
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from time import monotonic
from types import FrameType

_INTERVAL = 0.01
#: Frames of a stack at most; of a deeper stack the innermost ones.
_DEPTH = 128


@dataclass(frozen=True)
class Frame:
    """A line in a function."""

    function: str
    file: str
    line: int


#: The name of a thread, empty if there is none, and its frames, outermost first.
Stack = tuple[str, tuple[Frame, ...]]


def sample(seconds: float) -> Counter[Stack]:
    """Sample the stacks of all other threads for *seconds*, 100 times per second; return how often each was seen."""
    found: Counter[Stack] = Counter()
    until, pause = monotonic() + seconds, Event()
    while monotonic() < until:
        found.update(stacks())
        pause.wait(_INTERVAL)
    return found


def stacks() -> list[Stack]:
    """Return the stacks of all other threads."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    own = threading.get_ident()
    return [
        (names.get(ident, str(ident)), _frames(frame)) for ident, frame in sys._current_frames().items() if ident != own
    ]


def profile(samples: Counter[Stack], seconds: float) -> bytes:
    """Return *samples* of *seconds* in pprof's format. Times are wall-clock times and include waits."""
    each = int(seconds * 1e9 / max(1, max(_per_thread(samples).values(), default=1)))
    values = {stack: (count, count * each) for stack, count in samples.items()}
    return _pprof([("samples", "count"), ("wall", "nanoseconds")], values, seconds=seconds)


def collapsed(samples: Counter[Stack]) -> str:
    """Return *samples* as one line per stack, the format of flame graph tools."""
    lines = (
        f"{thread};{';'.join(f'{frame.function} ({frame.file}:{frame.line})' for frame in frames)} {count}"
        for (thread, frames), count in samples.most_common()
    )
    return "".join(f"{line}\n" for line in lines)


def threads() -> bytes:
    """Return the current stacks of all other threads in pprof's format."""
    return _pprof([("goroutine", "count")], {stack: (count,) for stack, count in Counter(stacks()).items()})


def thread_dump() -> str:
    """Return the current stacks of all other threads as text, innermost frame first."""
    parts = []
    for thread, frames in stacks():
        lines = [f"  {frame.function}\n    {frame.file}:{frame.line}" for frame in reversed(frames)]
        parts.append("\n".join([f"thread {thread}", *lines, ""]))
    return "\n".join(parts)


def heap() -> bytes | None:
    """Return where memory was allocated in pprof's format; None if Python does not trace allocations."""
    if not tracemalloc.is_tracing():
        return None
    values: dict[Stack, tuple[int, int]] = {}
    for statistic in tracemalloc.take_snapshot().statistics("traceback"):
        frames = tuple(Frame(f"{at.filename}:{at.lineno}", at.filename, at.lineno) for at in statistic.traceback)
        count, size = values.get(("", frames), (0, 0))
        values["", frames] = count + statistic.count, size + statistic.size
    return _pprof([("inuse_objects", "count"), ("inuse_space", "bytes")], values)


def _frames(frame: FrameType | None) -> tuple[Frame, ...]:
    frames: list[Frame] = []
    while frame is not None and len(frames) < _DEPTH:
        code = frame.f_code
        frames.append(Frame(code.co_qualname, code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return tuple(reversed(frames))


def _per_thread(samples: Counter[Stack]) -> Counter[str]:
    found: Counter[str] = Counter()
    for (thread, _), count in samples.items():
        found[thread] += count
    return found


def _pprof(kinds: Sequence[tuple[str, str]], samples: Mapping[Stack, Sequence[int]], *, seconds: float = 0) -> bytes:
    """Return *samples*, taken over *seconds*, in pprof's format.

    *kinds* has the name and unit of each value of a sample. Covers as much of the format as a Python profile needs.
    """
    strings = _StringTable([""])
    functions: dict[tuple[str, str], int] = {}
    places: dict[Frame, int] = {}
    written = bytearray()
    for kind, unit in kinds:
        written += _nested(1, _number(1, strings.of(kind)) + _number(2, strings.of(unit)))
    for (thread, frames), values in samples.items():
        # pprof wants the innermost frame first.
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


class _StringTable:
    """Numbers strings in the order of their first use."""

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
