"""The inventory of a shed, which is its whole API: a file that everybody reads and writes."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Inventory:
    """What is in the racks, and how many machines are wanted there. Safe to use from any thread and process."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> dict[str, Any]:
        """Return all racks by name; raises `OSError`, and `ValueError` for a file that is damaged."""
        return dict(json.loads(self._file.read_text())["racks"])

    @contextmanager
    def change(self) -> Iterator[dict[str, Any]]:
        """Give all racks to be changed; they are written at the end, unless anything is raised. Others wait."""
        with self._file.with_suffix(".lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            racks = self.read()
            yield racks
            new = self._file.with_suffix(".new")
            new.write_text(json.dumps({"racks": racks}, indent=2))
            os.replace(new, self._file)
