"""The trace: machines and pods of Alibaba's GPU cluster, from its two tables.

Published as *cluster-trace-gpu-v2023* ("openb"). It does not come with Nodewright: the environment variable
``NODEWRIGHT_TRACE`` names the folder that has it, or else ``../shared/data/openb`` beside the repository is looked at.
"""

import csv
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Self

#: Names the folder with the trace.
FOLDER = "NODEWRIGHT_TRACE"
DAY = 86_400
_NODES = "openb_node_list_all_node.csv"
_PODS = "openb_pod_list_default.csv"


@dataclass(frozen=True, order=True)
class MachineType:
    """A type of machine: all machines with the same resources."""

    cpu_milli: int
    memory_mib: int
    gpus: int
    model: str

    @property
    def name(self) -> str:
        """The name of its instance type and of its group."""
        size = f"{self.cpu_milli // 1000}c-{self.memory_mib // 1024}g"
        return f"{size}-{self.gpus}x{self.model.lower()}" if self.gpus else size


@dataclass(frozen=True, kw_only=True)
class Task:
    """A pod of the trace, from the second of its creation to that of its deletion."""

    name: str
    cpu_milli: int
    memory_mib: int
    #: Whole ones: a task with a share of a GPU gets all of it here.
    gpus: int
    #: Models of which it takes any; none of them if empty means all.
    models: tuple[str, ...]
    created: int
    deleted: int
    #: Whether it had but a share of its GPU.
    shared: bool


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Both tables."""

    #: How many machines there are of each type.
    machines: Counter[MachineType]
    tasks: tuple[Task, ...]

    @classmethod
    def read(cls) -> Self | None:
        """Return the trace; None if it is missing."""
        beside = Path(__file__).resolve().parents[2] / "shared" / "data" / "openb"
        folder = Path(os.environ.get(FOLDER) or beside)
        if not (folder / _NODES).exists():
            return None
        return cls(
            machines=Counter(_machine(row) for row in _rows(folder / _NODES)),
            tasks=tuple(_task(row) for row in _rows(folder / _PODS)),
        )

    def densest_day(self) -> int:
        """Return the first second of the day on which the most tasks were created."""
        days = Counter(task.created // DAY for task in self.tasks)
        # What was there when the trace begins was not created on its first day.
        days.pop(0, None)
        return max(days, key=lambda day: (days[day], -day)) * DAY

    def between(self, begin: int, end: int) -> list[Task]:
        """Return the tasks that existed at some time between two seconds."""
        return [task for task in self.tasks if task.created < end and task.deleted > begin]


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _machine(row: dict[str, str]) -> MachineType:
    return MachineType(int(row["cpu_milli"]), int(row["memory_mib"]), int(row["gpu"]), row["model"])


def _task(row: dict[str, str]) -> Task:
    gpus = int(row["num_gpu"])
    return Task(
        name=row["name"],
        cpu_milli=int(row["cpu_milli"]),
        memory_mib=int(row["memory_mib"]),
        gpus=gpus,
        models=tuple(dict.fromkeys(filter(None, row["gpu_spec"].split("|")))),
        created=int(row["creation_time"]),
        deleted=int(row["deletion_time"]),
        shared=gpus == 1 and int(row["gpu_milli"]) < 1000,
    )
