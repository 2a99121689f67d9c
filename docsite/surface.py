"""The public surface as text: one line for each name, signature, field and default. ``python -m docsite.surface``.

Public is what the modules in `MODULES` list in ``__all__``, imported from there, and its members whose names begin with
no underscore. A member whose docstring or comment says `LEFT_OUT` is not.
"""

import ast
import dataclasses
import inspect
import re
import sys
from collections.abc import Iterator
from datetime import timedelta
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_type_hints

import msgspec
from nodewright.api import format_duration

ROOT = Path(__file__).resolve().parents[1]
SNAPSHOT = ROOT / "tests" / "docs" / "public_surface.txt"
#: The names of the last version that was released. Each of them that is gone has to be in the changelog.
RELEASED = ROOT / "tests" / "docs" / "released_surface.txt"
CHANGELOG = ROOT / "CHANGELOG.md"

MODULES = (
    "nodewright.api",
    "nodewright.api.objects",
    "nodewright.testing",
    "nodewright.testing.conformance",
    "nodewright.library",
)
#: Public types that are only passed on: what they have is not public.
OPAQUE = frozenset(["Memory", "Policy", "Settings", "World"])
LEFT_OUT = "Not part of the public surface."
#: What a deprecated name says of itself: since which version, until which one, and what takes its place.
DEPRECATION = re.compile(r"since \d+\.\d+, until \d+\.\d+: \S")

#: Texts, which stay as they are; members of enumerations; modules and classes before a name.
_PARTS = re.compile(r"""(?P<text>'[^']*'|"[^"]*")|<(?P<member>[\w.]+): [^>]*>|\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])""")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry:
    """One public thing: a name of a module, or a member of a class."""

    #: ``class``, ``field``, ``member`` (of an enumeration), ``property``, ``method``, ``fixture``, ``function``,
    #: ``data``, or ``again`` for a name that an earlier module has as well.
    kind: str
    #: Where it is public, such as ``nodewright.api.Option.limit``.
    path: str
    #: What follows the path: signature, or type and default.
    form: str
    #: Its own docstring or comment; empty if it has none.
    text: str
    #: Types and signatures that it mentions.
    mentions: tuple[Any, ...] = ()
    #: Whether readers need a description, because name and type say too little.
    needs_text: bool = True
    value: Any = None
    #: The module that defines a name of a module; empty for members.
    home: str = ""

    def __str__(self) -> str:
        marked = getattr(self.value, "__deprecated__", None)
        return f"{self.path}{self.form}" + (f"  # deprecated {marked}" if marked else "")


@cache
def surface() -> tuple[Entry, ...]:
    """Return everything that is public, in the order of modules and of their ``__all__``."""
    entries: list[Entry] = []
    seen: dict[int, str] = {}
    for module in map(import_module, MODULES):
        for name in module.__all__:
            path, value = f"{module.__name__}.{name}", getattr(module, name)
            if isinstance(value, type) or inspect.isfunction(value):
                first = seen.setdefault(id(value), path)
                if first != path:
                    entries.append(Entry(kind="again", path=path, form=f" = {first}", text="", needs_text=False))
                    continue
            entries += _entries(module, name, path, value)
    return tuple(entries)


@cache
def public_types() -> frozenset[type]:
    """Return the classes that are public."""
    things = (getattr(module, name) for module in map(import_module, MODULES) for name in module.__all__)
    return frozenset(thing for thing in things if isinstance(thing, type))


def written() -> str:
    """Return the public surface as the text of the snapshot."""
    return "".join(f"{each}\n" for each in surface())


def removed(before: str, now: str) -> list[str]:
    """Return the paths in the surface *before* that are not in the surface *now*; of a class that is gone, only its."""
    gone = _paths(before) - _paths(now)
    return sorted(path for path in gone if path.rpartition(".")[0] not in gone)


def unannounced(paths: list[str], changelog: str) -> list[str]:
    """Return those of *paths* that the newest section of *changelog* does not name: ``Name`` or ``Class.member``."""
    newest = changelog.split("\n## ")[1]
    words = set(re.findall(r"`([^`]+)`", newest))
    return [path for path in paths if not words & {path, _short(path)}]


def mentioned_types(entry: Entry) -> Iterator[type]:
    """Yield the classes of Nodewright that a signature or a field mentions."""
    waiting = list(entry.mentions)
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, type) and kind.__module__.split(".")[0] == "nodewright":
            yield kind
        if isinstance(kind, list | tuple):
            waiting += kind
        waiting += [*get_args(kind), *getattr(kind, "__constraints__", ())]
        waiting += filter(None, [getattr(kind, "__bound__", None)])


def _entries(module: ModuleType, name: str, path: str, value: Any) -> Iterator[Entry]:
    if isinstance(value, type):
        text = _own_docstring(value)
        yield Entry(kind="class", path=path, form=f": {_kind(value)}", text=text, value=value, home=value.__module__)
        if name not in OPAQUE:
            yield from _members(value, path)
    elif callable(value) and inspect.isroutine(value):
        yield dataclasses.replace(_function(path, value), home=value.__module__)
    elif hasattr(value, "__origin__"):
        form = f" = {_short_form(repr(value))}"
        home, text = _assignment(module, name)
        yield Entry(kind="data", path=path, form=form, text=text, mentions=(value,), home=home)
    else:
        shown = f" = {value!r}" if isinstance(value, str | int | float) else ""
        form = f": {type(value).__name__}{shown}"
        home, text = _assignment(module, name)
        yield Entry(kind="data", path=path, form=form, text=text, home=home)


def _kind(kind: type) -> str:
    """Return what a class is, and its bases that are public or not Nodewright's."""
    if issubclass(kind, Enum):
        return "enumeration"
    if dataclasses.is_dataclass(kind):
        return "dataclass"
    if issubclass(kind, msgspec.Struct):
        return "struct"
    bases = [base.__name__ for base in kind.__bases__ if base is not object and not _is_private(base)]
    return f"class({', '.join(bases)})" if bases else "class"


def _members(kind: type, path: str) -> Iterator[Entry]:
    hints = _hints(kind)
    fields = _fields(kind)
    comments = _comments(kind)
    for name, default in fields.items():
        text, hint = comments.get(name, ""), hints.get(name)
        if LEFT_OUT not in text:
            form = f": {_shown(hint)}{default}"
            yield Entry(kind="field", path=f"{path}.{name}", form=form, text=text, mentions=(hint,), needs_text=False)
    if issubclass(kind, Enum):
        for member in kind:
            said = comments.get(member.name) or str(getattr(member, "text", ""))
            form = f" = {member.value!r}"
            yield Entry(kind="member", path=f"{path}.{member.name}", form=form, text=said, needs_text=False)
    for name, value in _own(kind).items():
        if name in fields or name.startswith("_") or (issubclass(kind, Enum) and isinstance(value, kind)):
            if name == "__init__" and not fields and not getattr(kind, "_is_protocol", False):
                made = _function(f"{path}.__init__", value)
                yield dataclasses.replace(made, kind="method", text="", needs_text=False)
            continue
        yield from _member(kind, name, value, f"{path}.{name}", hints)


def _member(kind: type, name: str, value: Any, path: str, hints: dict[str, Any]) -> Iterator[Entry]:
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    getter = getattr(value, "fget", None) or getattr(value, "func", None)
    if _is_fixture(value):
        yield Entry(kind="fixture", path=path, form=": fixture", text=_fixture_docstring(value), needs_text=False)
    elif getter is not None:
        returned = _hints(getter).get("return")
        text = inspect.getdoc(getter) or ""
        if LEFT_OUT not in text:
            form = f": {_shown(returned)} (property)"
            yield Entry(kind="property", path=path, form=form, text=text, mentions=(returned,), value=getter)
    elif inspect.isfunction(value):
        # The tests of a suite are its rules, which have a page of their own.
        if not name.startswith("test_") and LEFT_OUT not in (value.__doc__ or ""):
            text = inspect.getdoc(getattr(kind, name)) or ""
            yield dataclasses.replace(_function(path, value), kind="method", text=text)
    elif name in hints or isinstance(value, str | int | float | frozenset | type):
        text = _comments(kind).get(name, "")
        form = (f": {_shown(hints[name])}" if name in hints else "") + f" = {_value(value)}"
        yield Entry(kind="field", path=path, form=form, text=text, mentions=(hints.get(name),), needs_text=False)


def _function(path: str, function: Any) -> Entry:
    signature = _short_form(_unquoted(str(inspect.signature(function))))
    mentions = tuple(_hints(function).values())
    text = inspect.getdoc(function) or ""
    return Entry(kind="function", path=path, form=signature, text=text, mentions=mentions, value=function)


def _fields(kind: type) -> dict[str, str]:
    """Return the defaults, as written, of the fields of a value type by name."""
    if dataclasses.is_dataclass(kind):
        return {
            each.name: _default(each.default, each.default_factory, dataclasses.MISSING)
            for each in dataclasses.fields(kind)
            if not each.name.startswith("_")
        }
    if issubclass(kind, msgspec.Struct):
        return {
            each.name: _default(each.default, each.default_factory, msgspec.NODEFAULT)
            for each in msgspec.structs.fields(kind)
        }
    return {name: "" for name in vars(kind).get("__annotations__", {}) if name not in vars(kind) and name[0] != "_"}


def _default(value: Any, factory: Any, missing: Any) -> str:
    if value is not missing:
        return f" = {_value(value)}"
    return "" if factory is missing else f" = {getattr(factory, '__name__', 'made')}()"


def _value(value: Any) -> str:
    if inspect.isfunction(value):
        return "a function"
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, timedelta):
        return format_duration(value)
    if dataclasses.is_dataclass(value) or isinstance(value, msgspec.Struct):
        kind: type[Any] = type(value)
        return f"{kind.__name__}()" if value == kind() else repr(value)
    if isinstance(value, frozenset):
        return f"frozenset({sorted(map(str, value))})" if value else "frozenset()"
    return str(value) if isinstance(value, Enum) else repr(value)


def _own(kind: type) -> dict[str, Any]:
    """Return the members of *kind*, with those of its bases that are not public themselves."""
    members: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base is kind or _is_private(base):
            members.update(vars(base))
    return members


def _is_private(kind: type) -> bool:
    return kind.__module__.split(".")[0] == "nodewright" and kind not in public_types()


def _hints(thing: Any) -> dict[str, Any]:
    try:
        return get_type_hints(thing)
    except NameError:
        # Types that are imported for type checkers only; what they mention is not Nodewright's.
        return dict(getattr(thing, "__annotations__", {}))


def _shown(annotation: Any) -> str:
    if annotation is None:
        return "None"
    return _short_form(annotation if isinstance(annotation, str) else inspect.formatannotation(annotation))


def _unquoted(text: str) -> str:
    """Return a signature without the quotes round types that are imported for type checkers only."""
    return re.sub(r"(: |-> |\[)'([^']*)'", r"\1\2", text)


def _short_form(text: str) -> str:
    """Return *text*, a signature or an annotation, with names in place of paths."""
    short = _PARTS.sub(lambda part: part["text"] or part["member"] or "", text)
    return re.sub(r"\bOptional\[([^\[\]]*)\]", r"\1 | None", short)


def _is_fixture(value: Any) -> bool:
    return type(value).__name__ == "FixtureFunctionDefinition" or hasattr(value, "_pytestfixturefunction")


def _fixture_docstring(fixture: Any) -> str:
    return inspect.getdoc(getattr(fixture, "__wrapped__", None) or fixture._get_wrapped_function()) or ""


def _own_docstring(kind: type) -> str:
    return inspect.cleandoc(str(vars(kind).get("__doc__") or ""))


@cache
def _comments(kind: type) -> dict[str, str]:
    """Return the ``#:`` comments of the attributes of *kind* by name."""
    lines = inspect.getsource(kind).splitlines()
    found = {}
    for number, line in enumerate(lines, 1):
        declared = re.match(r"    ([A-Za-z]\w*)\s*[:=]", line)
        if declared:
            found[declared[1]] = _comment_above(lines, number)
    return found


def _comment_above(lines: list[str], number: int) -> str:
    text: list[str] = []
    for line in reversed(lines[: number - 1]):
        if not line.strip().startswith("#:"):
            break
        text.insert(0, line.strip().removeprefix("#:").strip())
    return " ".join(text)


def _assignment(module: ModuleType, name: str) -> tuple[str, str]:
    """Return the module that assigns what *module* has as *name*, and the ``#:`` comment there."""
    tree, lines = _source(module)
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and any(each.name == name for each in statement.names):
            return _assignment(import_module(statement.module or ""), name)
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return module.__name__, _comment_above(lines, statement.lineno)
    return module.__name__, ""


@cache
def _source(module: ModuleType) -> tuple[ast.Module, list[str]]:
    source = inspect.getsource(module)
    return ast.parse(source), source.splitlines()


def _paths(text: str) -> set[str]:
    return set(re.findall(r"^(nodewright[\w.]+)", text, re.MULTILINE))


def _short(path: str) -> str:
    """Return the path without its module."""
    module = max((name for name in MODULES if path.startswith(f"{name}.")), key=len)
    return path.removeprefix(f"{module}.")


def main(arguments: list[str]) -> int:
    """Write the snapshot; with ``--release``, also the surface of the version that is released."""
    text = written()
    missing = unannounced(removed(RELEASED.read_text() if RELEASED.exists() else "", text), CHANGELOG.read_text())
    if missing:
        print(f"name in CHANGELOG.md, in backticks, what was removed since the last version: {', '.join(missing)}")
        return 1
    SNAPSHOT.write_text(text)
    if arguments == ["--release"]:
        from nodewright import __version__

        RELEASED.write_text(f"# {__version__}\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
