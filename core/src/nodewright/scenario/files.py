"""Files of scenarios: one scenario as JSON or YAML, or many, each in a line of its own.

They are written piece by piece, so that writing a large cluster takes no extra memory.
"""

import gzip
import json
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, TextIO

import msgspec

from nodewright.api.errors import NodewrightError
from nodewright.config.tree import dump, read_yaml
from nodewright.scenario.fields import Entry

STANDARD_INPUT = "-"


class ScenarioError(NodewrightError):
    """A file, or a scenario in it, can't be read."""


def read_documents(file: str) -> Iterator[tuple[str, str]]:
    """Yield the text and the place of every scenario in *file*: the file, and the line if it has many.

    ``-`` is the standard input; names that end in ``.jsonl`` or ``.jsonl.gz`` have a scenario in each line. Raises
    `ScenarioError` if the file can't be read.
    """
    with _opened(file) as lines:
        if file.endswith((".jsonl", ".jsonl.gz")):
            yield from _one_by_one(file, lines)
        else:
            yield ("standard input" if file == STANDARD_INPUT else file), lines.read()


def count_documents(file: str) -> int:
    """Return how many scenarios *file* has, a line each; 0 if it has but one, or if that can't be known beforehand."""
    if not file.endswith((".jsonl", ".jsonl.gz")):
        return 0
    try:
        with _opened(file) as lines:
            return sum(not line.isspace() for line in lines)
    except ScenarioError:
        return 0


def parse_document(text: str, place: str) -> dict[str, Any]:
    """Return the scenario that *text* is, or that it has as ``scenario``.

    Raises `ScenarioError` that names *place* and what is wrong with the JSON or YAML.
    """
    document = _parse_json(text, place) if _is_json(text, place) else _parse_yaml(text, place)
    scenario = document.get("scenario", document)
    if not isinstance(scenario, dict):
        raise ScenarioError(f"{place}: scenario: write a mapping, not {type(scenario).__name__}")
    return scenario


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
    """Write a file that only its owner may read, compressed if *name* ends in ``.gz``; it appears once it is whole.

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


@contextmanager
def _opened(file: str) -> Iterator[TextIO]:
    try:
        if file == STANDARD_INPUT:
            yield sys.stdin
        elif file.endswith(".gz"):
            with gzip.open(file, "rt", encoding="utf-8") as lines:
                yield lines
        else:
            with Path(file).open(encoding="utf-8-sig") as lines:
                yield lines
    except UnicodeDecodeError:
        raise ScenarioError(f"{file}: is no text in UTF-8") from None
    except (OSError, EOFError, zlib.error) as error:
        raise ScenarioError(f"{file}: can't be read: {getattr(error, 'strerror', None) or error}") from None


def _one_by_one(file: str, lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield f"{file}:{number}", line


def _is_json(text: str, place: str) -> bool:
    return not place.endswith((".yaml", ".yml")) and text.lstrip().startswith(("{", "["))


def _parse_json(text: str, place: str) -> dict[str, Any]:
    try:
        document = msgspec.json.decode(text)
    except RecursionError:
        raise ScenarioError(f"{place}: not valid JSON: it is nested too deeply") from None
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise ScenarioError(f"{place}: not valid JSON: {_place_of_mistake(text) or error}") from None
    if not isinstance(document, dict):
        raise ScenarioError(f"{place}: write a scenario as a mapping, not as a {type(document).__name__}")
    return document


def _place_of_mistake(text: str) -> str:
    """Return what the standard library's parser says, which names the line; empty if it takes what is no JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        return str(error)
    return ""


def _parse_yaml(text: str, place: str) -> dict[str, Any]:
    tree, problems = read_yaml(text, place)
    if problems:
        raise ScenarioError("\n".join(map(str, problems)))
    return tree.data


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
