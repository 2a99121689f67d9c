"""Memory in a file."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from nodewright.api.errors import AccessDeniedError, ConflictError, TemporaryError
from nodewright.memory_store.store import Stored


class FileStore:
    """Holds memory in a file that only its owner may read, and set-aside content in a second file beside it.

    A file is replaced as a whole, so a process that is killed during a write leaves either the old or the new one.
    """

    limit = 64 * 1024 * 1024

    def __init__(self, path: Path) -> None:
        self._path = path
        self._other = path.with_name(f"{path.name}.set-aside")
        self.place = f"file {path}"
        self.aside = f"file {self._other}"

    def read(self) -> Stored | None:
        """Return the file's content, None if there is no file."""
        try:
            with self._path.open("rb") as file:
                version = _version(os.fstat(file.fileno()))
                return Stored(content=file.read(self.limit + 1), version=version)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _file_error(self._path, "read", error) from error

    def write(self, content: bytes, version: str) -> str:
        """Replace the file if it still has *version*."""
        try:
            found = _version(self._path.stat())
        except FileNotFoundError:
            found = ""
        except OSError as error:
            raise _file_error(self._path, "written", error) from error
        if found != version:
            raise ConflictError(f"{self.place} was changed by someone else")
        return self._replace(self._path, content)

    def set_aside(self, content: bytes) -> None:
        """Replace the second file."""
        self._replace(self._other, content)

    def _replace(self, path: Path, content: bytes) -> str:
        try:
            handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                    version = _version(os.fstat(file.fileno()))
                Path(name).replace(path)
            except OSError:
                with suppress(OSError):
                    Path(name).unlink()
                raise
        except OSError as error:
            raise _file_error(path, "written", error) from error
        return version


def _version(state: os.stat_result) -> str:
    return f"{state.st_ino}-{state.st_mtime_ns}-{state.st_size}"


def _file_error(path: Path, what: str, error: OSError) -> AccessDeniedError | TemporaryError:
    message = f"file {path} can't be {what}: {error.strerror}"
    return AccessDeniedError(message) if isinstance(error, PermissionError) else TemporaryError(message)
