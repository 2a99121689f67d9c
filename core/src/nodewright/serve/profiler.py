"""The profiler: where the threads of this process are, and where its memory came from."""

import sys
import threading
import tracemalloc
from collections import Counter
from threading import Event
from time import monotonic
from types import FrameType

from nodewright.serve.pprof import Frame, Stack, encode

_INTERVAL = 0.01
#: Frames of a stack that are told, innermost ones if there are more.
_DEPTH = 128


def sample(seconds: float) -> Counter[Stack]:
    """Look for so many *seconds*, a hundred times in each, where all threads but this one are; returns how often."""
    found: Counter[Stack] = Counter()
    until, pause = monotonic() + seconds, Event()
    while monotonic() < until:
        found.update(stacks())
        pause.wait(_INTERVAL)
    return found


def stacks() -> list[Stack]:
    """Return where all threads but this one are."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    own = threading.get_ident()
    return [
        (names.get(ident, str(ident)), _frames(frame)) for ident, frame in sys._current_frames().items() if ident != own
    ]


def profile(samples: Counter[Stack], seconds: float) -> bytes:
    """Return *samples* of so many *seconds* in pprof's format; time is that of the wall clock, waits included."""
    each = int(seconds * 1e9 / max(1, max(_per_thread(samples).values(), default=1)))
    values = {stack: (count, count * each) for stack, count in samples.items()}
    return encode([("samples", "count"), ("wall", "nanoseconds")], values, seconds=seconds)


def collapsed(samples: Counter[Stack]) -> str:
    """Return *samples* as one line for each stack, as tools that draw flame graphs read them."""
    lines = (
        f"{thread};{';'.join(f'{frame.function} ({frame.file}:{frame.line})' for frame in frames)} {count}"
        for (thread, frames), count in samples.most_common()
    )
    return "".join(f"{line}\n" for line in lines)


def threads() -> bytes:
    """Return where all threads are now in pprof's format."""
    return encode([("goroutine", "count")], {stack: (count,) for stack, count in Counter(stacks()).items()})


def thread_dump() -> str:
    """Return where all threads are now for people, innermost first."""
    parts = []
    for thread, frames in stacks():
        lines = [f"  {frame.function}\n    {frame.file}:{frame.line}" for frame in reversed(frames)]
        parts.append("\n".join([f"thread {thread}", *lines, ""]))
    return "\n".join(parts)


def heap() -> bytes | None:
    """Return what memory was taken where in pprof's format; None if Python does not note that."""
    if not tracemalloc.is_tracing():
        return None
    values: dict[Stack, tuple[int, int]] = {}
    for statistic in tracemalloc.take_snapshot().statistics("traceback"):
        frames = tuple(Frame(f"{at.filename}:{at.lineno}", at.filename, at.lineno) for at in statistic.traceback)
        count, size = values.get(("", frames), (0, 0))
        values["", frames] = count + statistic.count, size + statistic.size
    return encode([("inuse_objects", "count"), ("inuse_space", "bytes")], values)


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
