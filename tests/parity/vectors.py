"""Where the vectors are, and how to read them: scenarios with what Cluster Autoscaler decided on them."""

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
SAMPLE = _HERE / "sample"
FOLDER = Path(os.environ.get("NODEWRIGHT_VECTORS") or _HERE.parents[2] / "shared" / "vectors")


@dataclass(frozen=True, kw_only=True)
class Vector:
    """One scenario and what was decided on it."""

    family: str
    seed: int
    scenario: dict[str, Any]
    expected: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.family}/{self.seed}"

    @property
    def iterations(self) -> list[dict[str, Any]]:
        return self.expected["iterations"]

    def answers(self, iteration: int, field: str) -> list[dict[str, Any]]:
        """Return the answers of all runs of Cluster Autoscaler on one field, each as it is in an iteration."""
        known = self.iterations[iteration][field]
        seen = (self.expected["variants"].get("distinct") or {}).get(f"iterations[{iteration}].{field}", ())
        return [{field: value} for value in (known, *seen)]

    def firm(self, iteration: int, field: str) -> bool:
        """Tell whether all runs of Cluster Autoscaler gave the same answer."""
        return f"iterations[{iteration}].{field}" not in (self.expected["variants"].get("unstable") or ())


def families(folder: Path = FOLDER) -> list[str]:
    """Return the families of all vectors, none if the folder is missing."""
    return sorted(path.name.removesuffix(".jsonl.gz") for path in folder.glob("*.jsonl.gz"))


def read(family: str, folder: Path = FOLDER) -> Iterator[Vector]:
    """Yield all vectors of a family."""
    with gzip.open(folder / f"{family}.jsonl.gz", "rt") as lines:
        for line in lines:
            yield _vector(family, json.loads(line))


def sample() -> Iterator[Vector]:
    """Yield the vectors that are kept here."""
    for path in sorted(SAMPLE.glob("*.json.gz")):
        family, _, _ = path.name.removesuffix(".json.gz").rpartition("-")
        with gzip.open(path, "rt") as file:
            yield _vector(family, json.load(file))


def _vector(family: str, entry: dict[str, Any]) -> Vector:
    return Vector(family=family, seed=entry["seed"], scenario=entry["scenario"], expected=entry["expected"])
