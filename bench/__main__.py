"""``python -m bench [--full] [words]``: measure, check, print a table."""

import argparse
import os
import sys
from pathlib import Path

from bench import aws, decide, gce, isolation, live, openb, packed, picture, place, start, trace, wire
from bench.measure import Case, duration, in_own_process, report

_CASES: list[Case] = [
    *wire.CASES,
    *place.CASES,
    *decide.CASES,
    *packed.CASES,
    *picture.CASES,
    *start.CASES,
    *live.CASES,
    *trace.CASES,
    *aws.CASES,
    *gce.CASES,
    *isolation.CASES,
]
_LINE = "{:<44} {:>9} {:>9} {:>8} {:>9}  {}"


def main() -> int:
    """Run the cases whose names contain one of the words, all by default; return 1 if any misses a bar."""
    parser = argparse.ArgumentParser(prog="bench", description="Measures what is fast, each result checked.")
    parser.add_argument("words", nargs="*", help="run only cases whose name contains one of these")
    parser.add_argument("--full", action="store_true", help="run the long ones, too")
    parser.add_argument("--trace", metavar="FOLDER", help="where the tables of Alibaba's openb trace are")
    parser.add_argument("--here", metavar="CASE", help="run one case in this process and print JSON")
    arguments = parser.parse_args()
    if arguments.trace:
        os.environ[openb.FOLDER] = str(Path(arguments.trace).resolve())
    if arguments.here:
        report(next(case for case in _CASES if case.name == arguments.here))
        return 0
    chosen = [
        case
        for case in _CASES
        if (arguments.full or not case.slow or arguments.words)
        and (not arguments.words or any(word in case.name for word in arguments.words))
    ]
    print(_LINE.format("case", "cpu time", "bar", "ratio", "peak", "").rstrip())
    return max([_run(case) for case in chosen], default=0)


def _run(case: Case) -> int:
    figure = in_own_process(case)
    bar = duration(case.bar) if case.bar else f"{case.bar_ratio:g}x" if case.bar_ratio else ""
    if isinstance(figure, str):
        print(_LINE.format(case.name, "-", bar, "", "", f"FAILED: {figure}"), flush=True)
        return 1
    if figure.skipped:
        print(_LINE.format(case.name, "-", bar, "", "", f"skipped: {figure.skipped}"), flush=True)
        return 0
    ratio = f"{figure.reference / figure.seconds:.0f}x" if figure.reference else ""
    missed = case.misses(figure)
    note = "; ".join([*(f"MISSED: {each}" for each in missed), figure.note])
    peak = f"{figure.peak / 2**20:.0f} MiB"
    print(_LINE.format(case.name, duration(figure.seconds), bar, ratio, peak, note).rstrip(), flush=True)
    for line in figure.lines:
        print(f"  {line}", flush=True)
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
