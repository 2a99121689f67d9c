"""Files of scenarios: one picture as JSON or YAML, or many, each in a line of its own."""

import gzip
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import msgspec

from nodewright.api.errors import NodewrightError
from nodewright.config.tree import read_yaml

STANDARD_INPUT = "-"


class ScenarioError(NodewrightError):
    """A file, or a scenario in it, that can't be read."""


def read_documents(file: str) -> Iterator[tuple[str, str]]:
    """Yield the text of every scenario in *file*, with the name of its place: the file, and the line if it has many.

    ``-`` is the standard input; names that end in ``.jsonl`` or ``.jsonl.gz`` have a scenario in each line. Raises
    `ScenarioError` if the file can't be read.
    """
    with _opened(file) as lines:
        if file.endswith((".jsonl", ".jsonl.gz")):
            yield from _one_by_one(file, lines)
        else:
            yield ("standard input" if file == STANDARD_INPUT else file), lines.read()


def parse_document(text: str, place: str) -> dict[str, Any]:
    """Return the scenario that *text* is, or that stands there as ``scenario``.

    Raises `ScenarioError` that names *place* and what is wrong with the JSON or YAML.
    """
    document = _parse_json(text, place) if _is_json(text, place) else _parse_yaml(text, place)
    scenario = document.get("scenario", document)
    if not isinstance(scenario, dict):
        raise ScenarioError(f"{place}: scenario: write a mapping, not {type(scenario).__name__}")
    return scenario


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
    except (OSError, EOFError) as error:
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
    except msgspec.DecodeError:
        # The other parser takes its time, and tells the line.
        try:
            document = json.loads(text)
        except json.JSONDecodeError as error:
            raise ScenarioError(f"{place}: not valid JSON: {error}") from None
    if not isinstance(document, dict):
        raise ScenarioError(f"{place}: write a scenario as a mapping, not as a {type(document).__name__}")
    return document


def _parse_yaml(text: str, place: str) -> dict[str, Any]:
    tree, problems = read_yaml(text, place)
    if problems:
        raise ScenarioError("\n".join(map(str, problems)))
    return tree.data
