"""``python -m tests.fuzz.survey FIRST COUNT``: run so many attempts and print each kind of fault once."""

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.commands import attempt, fault


def main() -> int:
    """Print a line for each kind of fault, with the first seed that shows it."""
    first, count = int(sys.argv[1]), int(sys.argv[2])
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            begun = time.monotonic()
            found = fault(each := attempt(seed), Path(folder))
            took = time.monotonic() - begun
            if took > 2 and not found:
                print(f"seed {seed}: slow, {took:.1f} s: {each}", flush=True)
            if found:
                lines = [line for line in found.strip().splitlines() if line.strip()]
                places = [line.strip() for line in lines if line.strip().startswith("File")]
                kind = f"{(places or [''])[-1]} {lines[-1][:200]!a}"
                seen[kind] += 1
                if seen[kind] == 1:
                    print(f"seed {seed}: {each}\n    {kind}", flush=True)
    print(f"{count} attempts, {sum(seen.values())} faults of {len(seen)} kinds")
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())
