"""Files of pictures: written piece by piece, so that a large cluster needs no more memory than it does anyway."""

import gzip
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

import msgspec

from nodewright.api.errors import NodewrightError
from nodewright.config.tree import dump
from nodewright.scenario.picture import Entry


def json_pieces(entries: Iterable[Entry]) -> Iterator[bytes]:
    """Yield a scenario as JSON: one line for each object, so that two pictures can be compared line by line."""
    opening = b"{\n"
    for key, value in entries:
        yield opening + msgspec.json.encode(key) + b": "
        opening = b",\n"
        if isinstance(value, Iterator):
            yield from _list_pieces(value)
        else:
            yield msgspec.json.encode(value)
    yield b"\n}\n"


def yaml_pieces(entries: Iterable[Entry]) -> Iterator[bytes]:
    """Yield a scenario as YAML."""
    for key, value in entries:
        if not isinstance(value, Iterator):
            yield dump({key: msgspec.to_builtins(value)}).encode()
            continue
        empty = True
        for item in value:
            if empty:
                yield f"{key}:\n".encode()
                empty = False
            yield dump([msgspec.json.decode(item)]).encode()
        if empty:
            yield f"{key}: []\n".encode()


@contextmanager
def new_file(name: str) -> Iterator[IO[bytes]]:
    """Write a file that only its owner may read, packed if *name* ends in ``.gz``; it appears once it is whole.

    Raises `NodewrightError` if that can't be done.
    """
    path = Path(name)
    part = ""
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as file:
            part = file.name
            if name.endswith(".gz"):
                with gzip.open(file, "wb", compresslevel=6) as packed:
                    yield packed  # type: ignore[misc]
            else:
                yield file
        os.replace(part, path)
    except OSError as error:
        _remove(part)
        raise NodewrightError(f"{name} can't be written: {error.strerror or error}") from error
    except BaseException:
        _remove(part)
        raise


def _list_pieces(items: Iterator[Any]) -> Iterator[bytes]:
    opening = b"[\n"
    for item in items:
        yield opening + msgspec.json.encode(item)
        opening = b",\n"
    yield b"[]" if opening == b"[\n" else b"\n]"


def _remove(name: str) -> None:
    if name:
        with suppress(OSError):
            os.unlink(name)
