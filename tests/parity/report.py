"""How many scenarios agree with Cluster Autoscaler, by family and field: ``python -m tests.parity.report [-v]``."""

import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor

from tests.parity.comparison import Result, compare
from tests.parity.vectors import FOLDER, families, read


def main() -> int:
    """Print the table, and with -v every difference."""
    if not families():
        print(f"there are no vectors in {FOLDER}: set NODEWRIGHT_VECTORS to their folder")
        return 2
    with ProcessPoolExecutor() as pool:
        results = dict(zip(families(), pool.map(_compared, families()), strict=True))
    for family, found in results.items():
        counts: dict[str, list[bool]] = defaultdict(list)
        for result in found:
            counts[result.field].append(not result.difference)
        print(f"{family:20}" + "  ".join(f"{field} {sum(ok)}/{len(ok)}" for field, ok in counts.items()))
        if "-v" in sys.argv[1:]:
            for result in found:
                if result.difference:
                    print(f"    {result}")
    return 0


def _compared(family: str) -> list[Result]:
    return [result for vector in read(family) for result in compare(vector)]


if __name__ == "__main__":
    sys.exit(main())
