"""Reading what others wrote: YAML of one or more documents, or JSON."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from nodewright.api.errors import ConfigurationError, Problem
from nodewright.migration.note import Note, hand

Document = dict[str, Any]

#: Aliases can make a small file huge: no set-up has as many values as this.
_MOST_VALUES = 100_000
_PLACEHOLDER = re.compile(r"<[A-Z][A-Z_ -]+>")
_HELM_HEADING = re.compile(r"\A(USER-SUPPLIED|COMPUTED) VALUES:\s*\n")


class _Loader(yaml.SafeLoader):
    """Reads plain values as Kubernetes' tools do: ``yes`` is true; ``1:30`` and dates are text."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  (PyYAML's own design)


for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF", list("yYnNtTfFoO")),
    ("int", r"[-+]?(0|[1-9][0-9]*)|0o?[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?", list("-+.0123456789")),
    ("merge", r"<<", ["<"]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _first)


def read_documents(text: str, source: str) -> list[Document]:
    """Return the documents of *text*, which messages call *source*; lists of objects give their items.

    Raises `ConfigurationError` if it is neither YAML nor JSON, or not made of mappings.
    """
    text = _HELM_HEADING.sub("", text.removeprefix("\ufeff"))
    try:
        documents = [json.loads(text)] if text.lstrip().startswith("{") else list(_yaml_documents(text))
        _measure(documents)
    except RecursionError:
        raise _unreadable(source, "it is nested too deeply") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise _unreadable(source, f"not valid YAML: {error.problem or error.context}{_hint(text)}", line) from None
    except (ValueError, yaml.YAMLError) as error:
        raise _unreadable(source, f"{str(error).splitlines()[0]}{_hint(text)}") from None
    found = list(_items(documents))
    for each in found:
        if not isinstance(each, dict):
            raise _unreadable(source, f"expected values or objects as key: value{_hint(text)}")
    return found


def section(data: Mapping[str, Any], *path: str) -> Document:
    """Return the mapping at *path* below *data*, empty if there is none. Raises `ConfigurationError` for all else."""
    value: Any = data
    for at, key in enumerate(path):
        value = value.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise _misshapen(path[: at + 1], "a mapping")
    return dict(value)


def entries(data: Mapping[str, Any], *path: str) -> list[Any]:
    """Return the list at *path* below *data*, empty if there is none. Raises `ConfigurationError` for all else."""
    value = section(data, *path[:-1]).get(path[-1])
    if value is not None and not isinstance(value, list):
        raise _misshapen(path, "a list")
    return list(value or ())


def mappings(data: Mapping[str, Any], *path: str) -> list[Document]:
    """Return the list of mappings at *path*. Raises `ConfigurationError` for all else."""
    found = entries(data, *path)
    if not all(isinstance(each, dict) for each in found):
        raise _misshapen(path, "a list of mappings")
    return found


def word(data: Mapping[str, Any], *path: str) -> str:
    """Return the text at *path* below *data*, empty if there is none. Raises `ConfigurationError` for all else."""
    value = section(data, *path[:-1]).get(path[-1])
    if isinstance(value, dict | list):
        raise _misshapen(path, "a text")
    return "" if value is None else str(value)


def unfilled(value: Any, path: tuple[str, ...] = ()) -> Iterator[Note]:
    """Yield a note about each text in *value* that has a placeholder of an example, such as ``<YOUR CLUSTER NAME>``."""
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from unfilled(each, (*path, str(key)))
    elif isinstance(value, str) and (found := _PLACEHOLDER.search(value)):
        yield hand(".".join(path), f"{found[0]} was never filled in")


def _yaml_documents(text: str) -> Iterator[Any]:
    for document in yaml.load_all(text, Loader=_Loader):
        if document is not None:
            yield document


def _items(documents: list[Any]) -> Iterator[Any]:
    for each in documents:
        is_list = isinstance(each, dict) and str(each.get("kind", "")).endswith("List")
        yield from each["items"] if is_list and isinstance(each.get("items"), list) else [each]


def _measure(documents: list[Any]) -> None:
    """Raise `ValueError` if *documents* have too many values, contain themselves, or have keys that are no text."""
    sizes: dict[int, int] = {}
    open_values: set[int] = set()

    def size(value: Any) -> int:
        if isinstance(value, str):
            value.encode()
        if not isinstance(value, dict | list):
            return 1
        if id(value) in open_values:
            raise ValueError("an alias must not be part of the value that it refers to")
        if id(value) not in sizes:
            open_values.add(id(value))
            if isinstance(value, dict):
                for key in list(value):
                    value[str(key).encode().decode()] = value.pop(key)
            inner = value.values() if isinstance(value, dict) else value
            sizes[id(value)] = 1 + sum(map(size, inner))
            open_values.discard(id(value))
        return sizes[id(value)]

    if size(documents) > _MOST_VALUES:
        raise ValueError(f"it has more than {_MOST_VALUES:,} values")


def _hint(text: str) -> str:
    if re.search(r"^\s*(resource|module|locals|variable)\b[^:\n]*\{", text, re.MULTILINE):
        return "; of Terraform, give what `terraform show -json` prints, or `helm get values`"
    return ""


def _unreadable(source: str, message: str, line: int = 0) -> ConfigurationError:
    return ConfigurationError(Problem(message=message, source=source, line=line))


def _misshapen(path: tuple[str, ...], expected: str) -> ConfigurationError:
    return ConfigurationError(Problem(message=f"must be {expected}", path=".".join(path)))
