"""Measuring: medians of CPU time, each case in its own process, so that it also has its own peak memory.

All that is measured here runs on one thread and waits for nothing: on an idle machine CPU time is what a clock shows,
and on a busy one it is still the same.
"""

import gc
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from time import process_time
from typing import Any, Self

RUNS = 5


@dataclass(frozen=True, kw_only=True)
class Figure:
    """The figures of a case."""

    seconds: float
    #: What the reference needed for the same, in this very run.
    reference: float | None = None
    note: str = ""
    #: More of it, a line each.
    lines: Sequence[str] = ()
    #: What came out wrong although it could be measured, a sentence each.
    wrong: Sequence[str] = ()
    #: Why there was nothing to measure, if so.
    skipped: str = ""
    #: Peak memory in bytes; of the process that the case runs in, unless the case says otherwise.
    peak: int = 0

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `in_own_process` was told."""
        return cls(**json.loads(text))


@dataclass(frozen=True, kw_only=True)
class Case:
    """One thing to measure."""

    name: str
    #: Builds, measures and checks; raises `AssertionError` for a wrong result.
    run: Callable[[], Figure]
    #: The most that it may take, in seconds; None where no bar is set.
    bar: float | None = None
    #: How many times faster than the reference it has to be.
    bar_ratio: float | None = None
    #: The most memory that it may take, in bytes.
    bar_peak: int | None = None
    #: Left out unless everything is asked for.
    slow: bool = False

    def misses(self, figure: Figure) -> list[str]:
        """Return the bars that *figure* misses."""
        missed = list(figure.wrong)
        if self.bar is not None and figure.seconds > self.bar:
            missed.append(f"over {duration(self.bar)}")
        if self.bar_ratio is not None and (figure.reference or 0) < self.bar_ratio * figure.seconds:
            missed.append(f"under {self.bar_ratio:g} times")
        if self.bar_peak is not None and figure.peak > self.bar_peak:
            missed.append(f"over {self.bar_peak / 2**20:.0f} MiB")
        return missed


def median_of(work: Callable[[], Any], *, runs: int = RUNS) -> float:
    """Return the median time of *work*, which should have run once before."""
    return median(timed(work) for _ in range(runs))


def timed(work: Callable[[], Any]) -> float:
    """Return the CPU time of one run of *work*, on a heap without garbage of other runs."""
    gc.collect()
    start = process_time()
    work()
    return process_time() - start


def report(case: Case) -> None:
    """Run *case* here and write its figure for the parent process."""
    figure = case.run()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(json.dumps(asdict(figure) | {"peak": figure.peak or peak}))


def in_own_process(case: Case) -> Figure | str:
    """Run *case* in a fresh process; return its figure, or what went wrong."""
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--here", case.name], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    return Figure.from_json(done.stdout.splitlines()[-1])


def duration(seconds: float) -> str:
    """Return *seconds* for people to read."""
    for limit, factor, unit in ((1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"
