"""The files of the record: one JSON document in each line. Their size and number are bounded."""

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from nodewright.api.errors import NodewrightError

_log = logging.getLogger(__name__)


class RecordFile:
    """Appends lines. A line that can't be written is left out. The first failure in a row is logged; none is raised.

    A file that reaches *max_size* is put aside as ``path.1``, the one before as ``path.2``, up to *keep* of them.
    """

    def __init__(self, path: Path, *, max_size: int, keep: int) -> None:
        self.path = path
        self._max_size = max_size
        self._keep = keep
        self._failing = False

    def append(self, line: dict[str, Any]) -> None:
        """Write one more line."""
        data = msgspec.json.encode(line) + b"\n"
        try:
            if self.path.exists() and self.path.stat().st_size + len(data) > self._max_size:
                self._put_aside()
            with self.path.open("ab") as file:
                file.write(data)
        except OSError as error:
            if not self._failing:
                reason = error.strerror or error
                _log.warning("the record %s can't be written, decisions are missing in it: %s", self.path, reason)
            self._failing = True
        else:
            self._failing = False

    def _put_aside(self) -> None:
        for number in range(self._keep, 0, -1):
            older = _aside(self.path, number - 1)
            if older.exists():
                older.replace(_aside(self.path, number))
        if not self._keep:
            self.path.unlink()


def parts_of(path: Path) -> list[Path]:
    """Return the files of the record at *path*, oldest first."""
    aside = [
        (int(number), file)
        for file in path.parent.glob(f"{path.name}.*")
        if (number := file.name.removeprefix(f"{path.name}.")).isdecimal()
    ]
    return [*(file for _, file in sorted(aside, reverse=True)), *([path] if path.exists() else [])]


def lines_of(parts: Iterable[Path]) -> Iterator[bytes]:
    """Yield the lines of the files of a record. Raises `NodewrightError` that names the file that can't be read."""
    for part in parts:
        try:
            with part.open("rb") as file:
                yield from file
        except FileNotFoundError:
            # It was set aside meanwhile: it is read under its new name, or it was deleted because of its age.
            continue
        except OSError as error:
            raise NodewrightError(f"the record {part} can't be read: {error.strerror}") from error


def _aside(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}") if number else path
