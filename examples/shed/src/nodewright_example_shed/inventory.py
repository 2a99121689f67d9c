"""The inventory of a shed: a file that everyone reads and writes, and the shed's whole API."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Inventory:
    """What is in each rack, and how many machines are wanted there. Safe to use from any thread and process."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> dict[str, Any]:
        """Return all racks by name. Raises `OSError`, and `ValueError` if the file is damaged."""
        return dict(json.loads(self._file.read_text())["racks"])

    @contextmanager
    def change(self) -> Iterator[dict[str, Any]]:
        """Yield all racks for changes. They are written at the end, unless an error is raised. Others wait."""
        with self._file.with_suffix(".lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            racks = self.read()
            yield racks
            new = self._file.with_suffix(".new")
            new.write_text(json.dumps({"racks": racks}, indent=2))
            os.replace(new, self._file)
