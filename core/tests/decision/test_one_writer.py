"""Each slice of memory has one owner: nobody else makes one, or changes one but by its methods."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import nodewright
import pytest
from nodewright.decision.memory import Memory

SOURCE = Path(nodewright.__file__).parent
SLICES = {type(each).__name__ for each in Memory().slices().values()}
FIELDS = Memory().slices().keys()
#: Besides the slices' own modules: scenarios are another form of memory.
OTHER_FORMS = "scenario/"


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def of_memory(value: ast.expr) -> bool:
    return re.search(r"memory|before|twin", ast.unparse(value)) is not None


def writes(source: str) -> list[str]:
    """What *source* does to slices that only their owners may do."""
    found = []
    for call in calls(ast.parse(source)):
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        first = call.args[0] if call.args else None
        if name in SLICES:
            found.append(f"makes a {name}")
        # A pod has a status as well.
        elif name == "replace" and isinstance(first, ast.Attribute) and first.attr in FIELDS and of_memory(first.value):
            found.append(f"replaces fields of {ast.unparse(first)}")
    return found


def test_slices_are_written_by_their_owners_alone() -> None:
    strangers = {}
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE).as_posix()
        if place.startswith(("decision/memory/", OTHER_FORMS)):
            continue
        if found := writes(path.read_text()):
            strangers[place] = found
    assert strangers == {}


@pytest.mark.parametrize("source", ["UnneededMemory(since={})", "replace(memory.orders, requests={})"])
def test_a_stranger_would_be_found(source) -> None:
    assert writes(source)
