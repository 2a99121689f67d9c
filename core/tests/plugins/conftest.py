"""Throw-away distributions: a module and its metadata in a directory of their own, on the path for one test."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Protocol

import pytest

EXPANDER = """
    from nodewright.api import Expander, PluginConfig

    class Mine(Expander):
        '''Keeps them all.

        For ever.
        '''

        def best(self, options, context):
            return options
"""


class Install(Protocol):
    """What the fixture `install` is."""

    def __call__(
        self, distribution: str, entry_points: Mapping[str, str], code: str = ..., *, version: str = ...
    ) -> str: ...


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a distribution with entry points ``{"expanders: mine": "Mine"}``; return the name of its module."""
    modules = []

    def install(
        distribution: str, entry_points: Mapping[str, str], code: str = EXPANDER, *, version: str = "1.0"
    ) -> str:
        site = tmp_path / distribution
        metadata = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
        metadata.mkdir(parents=True)
        module = distribution.replace("-", "_")
        (site / f"{module}.py").write_text(dedent(code))
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        lines = []
        for key, attribute in entry_points.items():
            kind, name = key.split(": ")
            lines += [f"[nodewright.{kind}]", f"{name} = {module}:{attribute}"]
        (metadata / "entry_points.txt").write_text("\n".join(lines))
        monkeypatch.syspath_prepend(site)
        modules.append(module)
        return module

    yield install
    for module in modules:
        sys.modules.pop(module, None)
