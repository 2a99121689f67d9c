"""YAML: configuration as plain data, with the place of every value."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import yaml

from nodewright.api.errors import Problem
from nodewright.config.paths import Path, dotted, step


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a value came from: a line of a file or a flag. If it is neither, it is the default."""

    source: str = ""
    line: int = 0
    #: The name of the flag, without dashes.
    flag: str = ""

    def __str__(self) -> str:
        if self.flag:
            return f"flag --{self.flag}"
        return f"{self.source}:{self.line}" if self.source else "default"


DEFAULT = Origin()
_LONGEST_NUMBER = 40  # digits; Python refuses to parse very long numbers
_DEEPEST = 100
_MOST_REPEATED = 100_000
#: What keeps a number of bytes small and stands for a number of values that no memory holds.
_BOMB = f"aliases stand for more than {_MOST_REPEATED:,} values: write them out"
_NO_TEXT = "has half of a character, which is no text"
_TOO_DEEP = f"is nested more than {_DEEPEST} levels deep"


@dataclass
class Tree:
    """Configuration as it was written: read from YAML, then overridden by flags."""

    source: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    places: dict[Path, Origin] = field(default_factory=dict)

    def get(self, path: Path) -> Any:
        """Return the value that is written at *path*, or None if there is none."""
        try:
            return reduce(step, path, self.data)
        except LookupError:
            return None

    def put(self, path: Path, value: Any, origin: Origin) -> None:
        """Write *value* at *path*, in place of everything there and below.

        If there is something else where a section should be, nothing is written: that mistake is reported later.
        """
        node: Any = self.data
        for part in path[:-1]:
            if node.get(part) is None:
                node[part] = {}
            node = node[part]
            if not isinstance(node, dict):
                return
        node[path[-1]] = value
        self.places = {known: at for known, at in self.places.items() if known[: len(path)] != path}
        self.places[path] = origin

    def origin(self, path: Path) -> Origin:
        """Return where the value at *path* came from."""
        return DEFAULT if self.get(path) is None else self.place(path)

    def place(self, path: Path) -> Origin:
        """Return the nearest known place of *path*: its own, or that of its nearest parent."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.places:
                return self.places[path[:length]]
        return Origin(source=self.source, line=1 if self.source and self.data else 0)

    def problem(self, path: Path, message: str) -> Problem:
        """Return the mistake *message* about the value at *path*, with its place."""
        origin = self.place(path)
        if origin.flag:
            return Problem(message=message, source="flags", path=f"--{origin.flag}")
        return Problem(message=message, source=origin.source, line=origin.line, path=dotted(path))


def read_yaml(text: str, source: str) -> tuple[Tree, list[Problem]]:
    """Return the data of *text* that could be parsed, and the mistakes in its YAML."""
    tree = Tree(source=source)
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return tree, [Problem(message=_syntax(error), source=source, line=mark.line + 1 if mark else 0)]
    except yaml.YAMLError as error:
        return tree, [Problem(message=f"not valid YAML: {str(error).splitlines()[0]}", source=source)]
    reader = _Reader(tree)
    data = None if root is None else reader.value(root, ())
    if isinstance(data, dict):
        tree.data = data
    elif root is not None and data is not None:
        reader.complain("write settings as key: value", root, ())
    return tree, reader.problems


def dump(data: Any, *, flow: bool = False) -> str:
    """Return plain *data* as YAML that `read_yaml` reads back unchanged."""
    text: str = yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, default_flow_style=flow, allow_unicode=True, width=float("inf")
    )
    return text


def _syntax(error: yaml.MarkedYAMLError) -> str:
    if error.problem == _TOO_DEEP:
        return _TOO_DEEP
    if error.problem and "'\\t'" in error.problem:
        return "not valid YAML: indent lines with spaces, not with tabs"
    return f"not valid YAML: {', '.join(part for part in (error.context, error.problem) if part)}"


class _Loader(yaml.SafeLoader):
    """Reads plain values as YAML 1.2 does: ``yes``, ``on``, ``1:30`` and ``2030-01-01`` are text.

    What is nested too deeply is refused early: reading it would take long, and end at the limit of Python's stack.
    """

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  (PyYAML's own design)
    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Return the next node with all that is in it."""
        if self._depth > _DEEPEST:
            raise yaml.MarkedYAMLError(problem=_TOO_DEEP, problem_mark=self.peek_event().start_mark)  # type: ignore[no-untyped-call]
        self._depth += 1
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node


class _Dumper(yaml.SafeDumper):
    """Writes YAML that `read_yaml` reads back unchanged."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists below their key, as is usual for Kubernetes."""
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        """Write equal values twice instead of with an alias."""
        return True


_NULL, _BOOL, _INT, _FLOAT = (f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float"))
for _class in (_Loader, _Dumper):
    for _tag, _pattern, _first in (
        (_NULL, r"~|null|Null|NULL|", ["~", "n", "N", ""]),
        (_BOOL, r"true|True|TRUE|false|False|FALSE", list("tTfF")),
        (_INT, r"[-+]?[0-9]+|0x[0-9a-fA-F]+|0o[0-7]+", list("-+0123456789")),
        (_FLOAT, r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", list("-+.0123456789")),
    ):
        _class.add_implicit_resolver(_tag, re.compile(f"^(?:{_pattern})$"), _first)


class _Reader:
    """Converts YAML nodes to plain data, and collects places and mistakes."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.problems: list[Problem] = []
        self._open: list[yaml.Node] = []
        self._known: set[int] = set()
        self._repeated = 0

    def complain(self, message: str, node: yaml.Node, path: Path) -> None:
        self.problems.append(Problem(message=message, source=self.tree.source, line=_line(node), path=dotted(path)))

    def value(self, node: yaml.Node, path: Path) -> Any:
        if any(node is parent for parent in self._open):
            self.complain("an alias must not be part of the value that it refers to", node, path)
            return None
        if len(path) > _DEEPEST:
            self.complain(_TOO_DEEP, node, path[:3])
            return None
        if self._repeats_too_much(node, path):
            return None
        if path:
            self.tree.places.setdefault(path, Origin(source=self.tree.source, line=_line(node)))
        self._open.append(node)
        try:
            if isinstance(node, yaml.MappingNode):
                return dict(self._items(node, path))
            if isinstance(node, yaml.SequenceNode):
                return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
            return self._scalar(node, path)
        finally:
            self._open.pop()

    def _repeats_too_much(self, node: yaml.Node, path: Path) -> bool:
        """Tell whether *node* is one value too many that aliases stand for; the first one is a mistake."""
        if id(node) not in self._known:
            self._known.add(id(node))
            return False
        self._repeated += 1
        if self._repeated == _MOST_REPEATED:
            self.complain(_BOMB, node, path)
        return self._repeated >= _MOST_REPEATED

    def _items(self, node: yaml.MappingNode, path: Path) -> Iterator[tuple[str, Any]]:
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self.complain("a key must be a plain text", key_node, path)
                continue
            key, line = str(key_node.value), _line(key_node)
            if not _is_text(key):
                self.complain(_NO_TEXT, key_node, path)
                continue
            if key in lines:
                self.complain(f"is written twice, first in line {lines[key]}", key_node, (*path, key))
                continue
            lines[key] = line
            self.tree.places[(*path, key)] = Origin(source=self.tree.source, line=line)
            yield key, self.value(value_node, (*path, key))

    def _scalar(self, node: yaml.Node, path: Path) -> Any:
        text = str(node.value)
        match node.tag:
            case "tag:yaml.org,2002:null":
                return None
            case "tag:yaml.org,2002:bool":
                return text.lower() == "true"
            case "tag:yaml.org,2002:int" if len(text) <= _LONGEST_NUMBER:
                return int(text, 0) if text[:2] in ("0x", "0o") else int(text)
            case "tag:yaml.org,2002:float":
                try:
                    return float(text)
                except ValueError:
                    self.complain(f"write a number, not {text}", node, path)
            case "tag:yaml.org,2002:str" if _is_text(text):
                return text
            case "tag:yaml.org,2002:str":
                self.complain(_NO_TEXT, node, path)
            case "tag:yaml.org,2002:int":
                self.complain("the number is too long", node, path)
            case tag:
                self.complain(f"the tag {tag} is not supported: leave it out", node, path)
        return None


def _is_text(text: str) -> bool:
    """Tell whether *text* can be written: an escape in YAML can stand for half of a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
