"""Throw-away distributions, for tests with good and with broken plugins installed."""

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from types import TracebackType

from nodewright import __version__


class Distributions:
    """Installs distributions into *directory*; they are on ``sys.path`` within the ``with`` block."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._installed: list[tuple[str, str]] = []

    def __enter__(self) -> "Distributions":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for path, module in self._installed:
            sys.path.remove(path)
            sys.modules.pop(module, None)
        importlib.invalidate_caches()

    def install(
        self,
        name: str,
        entry_points: Mapping[str, str],
        code: str,
        *,
        version: str = "1.0",
        requires: str = f"=={__version__}",
    ) -> str:
        """Install distribution *name* with one module that consists of *code*; return the module's name.

        *entry_points* maps ``kind/name`` to a name in the module: ``{"expanders/mine": "MyExpander"}``. *requires* are
        the releases of nodewright that it was written for; empty if it says nothing about them.
        """
        module = name.replace("-", "_")
        site = self._directory / name
        metadata = site / f"{module}-{version}.dist-info"
        metadata.mkdir(parents=True)
        (site / f"{module}.py").write_text(dedent(code))
        dependency = f"Requires-Dist: nodewright{requires}\n" if requires else ""
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{dependency}")
        (metadata / "entry_points.txt").write_text(
            "".join(
                f"[nodewright.{kind}]\n{entry_point} = {module}:{attribute}\n"
                for (kind, entry_point), attribute in ((key.split("/"), value) for key, value in entry_points.items())
            )
        )
        sys.path.insert(0, str(site))
        importlib.invalidate_caches()
        self._installed.append((str(site), module))
        return module
