"""Attribute docs: the ``#:`` comments above the fields of a class, as `help` shows them below its docstring."""

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from textwrap import dedent, indent
from typing import SupportsIndex

from pydantic import BaseModel


class AttributeDocs(str):
    """The ``__doc__`` of a class: its docstring, followed by its attributes when someone asks for it.

    The source is read only then: an import reads nothing. As a text, it is the docstring alone.
    """

    _owner: type

    def __new__(cls, docstring: str, owner: type) -> "AttributeDocs":
        """Keep the class that *docstring* belongs to."""
        docs = super().__new__(cls, docstring)
        docs._owner = owner
        return docs

    def __get__(self, instance: object, owner: type) -> str:
        return _with_attributes(self._owner, str(self))

    def expandtabs(self, tabsize: SupportsIndex = 8) -> str:
        """Return the whole text. If a class has a metaclass, `pydoc` finds this object itself and begins with this."""
        return _with_attributes(self._owner, str(self)).expandtabs(tabsize)


def show_attributes(namespace: Mapping[str, object], names: Iterable[str]) -> None:
    """Let the classes that *names* mean in *namespace*, a module, show their attributes in ``__doc__``.

    Models of pydantic are left alone: they have descriptions of their own.
    """
    for name in names:
        kind = namespace[name]
        if isinstance(kind, type) and not issubclass(kind, BaseModel):
            docstring = vars(kind).get("__doc__")
            # With -OO there is none.
            if isinstance(docstring, str):
                kind.__doc__ = AttributeDocs(docstring, kind)


@cache
def _with_attributes(owner: type, docstring: str) -> str:
    entries = [indent(entry, "    ") for entry in _entries(owner)]
    return "\n".join((inspect.cleandoc(docstring), "", "Attributes:", *entries)) if entries else docstring


def _entries(owner: type) -> Iterator[str]:
    """Yield each public attribute as the source declares it, with its comment below it.

    Unannotated ones, such as members of enumerations, are shown if they have a comment: `help` lists the others.
    """
    try:
        source = dedent(inspect.getsource(owner))
    except (OSError, TypeError):
        # There is no source, as in a program frozen into one file.
        return
    lines = source.splitlines()
    (definition,) = ast.parse(source).body
    assert isinstance(definition, ast.ClassDef)
    for statement in definition.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                shown = f"{name}: {ast.unparse(annotation)}{_default(value)}"
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                shown = f"{name}{_default(value)}"
            case _:
                continue
        comment = _comment(lines[: statement.lineno - 1])
        if not name.startswith("_") and (comment or isinstance(statement, ast.AnnAssign)):
            yield "\n".join((shown, *(f"    {line}" for line in comment)))


def _default(value: ast.expr | None) -> str:
    match value:
        case None:
            return ""
        case ast.Call(func=ast.Name(id="field"), keywords=options):
            given = {option.arg: ast.unparse(option.value) for option in options}
            factory = f"{given['default_factory']}()" if "default_factory" in given else ""
            default = given.get("default", factory)
            return f" = {default}" if default else ""
        case _:
            return f" = {ast.unparse(value)}"


def _comment(above: list[str]) -> list[str]:
    """Return the text of the ``#:`` comment that ends the lines *above* a statement."""
    text: list[str] = []
    for line in reversed(above):
        if not line.strip().startswith("#:"):
            break
        text.insert(0, line.strip().removeprefix("#:").strip())
    return text
