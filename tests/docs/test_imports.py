"""Plugins, examples, what `nodewright new` writes, and the code on pages import the public surface of the core only."""

import ast
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from docsite.surface import MODULES, ROOT

PAGES = sorted({ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("plugins/*/README.md")})
SOURCES = sorted(
    path
    for pattern in ("plugins/*/src/**/*.py", "examples/**/*.py", "core/src/nodewright/cli/templates/**/*.py")
    for path in ROOT.glob(pattern)
)


def private_imports(code: str) -> Iterator[str]:
    """Yield the imports in *code* that take something else of the core than a public module has in ``__all__``."""
    for statement in ast.walk(ast.parse(code)):
        if isinstance(statement, ast.Import):
            modules = [each.name for each in statement.names]
            yield from (name for name in modules if name.split(".")[0] == "nodewright" and name not in MODULES)
        elif isinstance(statement, ast.ImportFrom) and (statement.module or "").split(".")[0] == "nodewright":
            module = statement.module or ""
            public = import_module(module).__all__ if module in MODULES else ()
            yield from (f"{module}.{each.name}" for each in statement.names if each.name not in public)


def code_of(page: Path) -> Iterator[str]:
    """Yield each block of Python on a page. One that begins inside a class gets its class."""
    for code in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
        yield f"class Page:\n{code}" if code.startswith(" ") else code


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_on_pages_imports_the_public_surface(page) -> None:
    assert [name for code in code_of(page) for name in private_imports(code)] == []


def test_plugins_and_examples_import_the_public_surface() -> None:
    found = {str(path.relative_to(ROOT)): list(private_imports(path.read_text())) for path in SOURCES}
    assert {path: names for path, names in found.items() if names} == {}


def test_private_imports_are_found() -> None:
    code = "import nodewright.api\nimport nodewright.plugins\nfrom nodewright.api import Option, Secret\nimport os"
    assert list(private_imports(code)) == ["nodewright.plugins", "nodewright.api.Secret"]
    assert list(private_imports("from nodewright.testing.clock import SteppedClock")) == [
        "nodewright.testing.clock.SteppedClock"
    ]


def test_there_is_code_to_look_at() -> None:
    assert sum(len(list(code_of(page))) for page in PAGES) > 15
    assert len(SOURCES) > 50
