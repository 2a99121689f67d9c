"""Sets the one version of all distributions wherever it is written, and closes the changelog's open section."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from packaging.version import InvalidVersion, Version

from release.errors import ReleaseError

_VERSION = r"\d+\.\d+\.\d+[a-z0-9.]*"
OPEN = "## Unreleased\n"


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a version is written: in which files, and between which texts."""

    files: str
    before: str
    after: str = ""


PLACES = (
    Place(files="core/src/nodewright/__init__.py", before='__version__ = "', after='"'),
    Place(files="plugins/*/src/*/__init__.py", before='__version__ = "', after='"'),
    Place(files="deploy/chart/Chart.yaml", before="\nversion: "),
    Place(files="deploy/chart/Chart.yaml", before='appVersion: "', after='"'),
    Place(files="core/src/nodewright/cli/manifests.yaml", before='app.kubernetes.io/version: "', after='"'),
    Place(files="core/src/nodewright/cli/manifests.yaml", before='image: "nodewright:', after='"'),
    Place(files="docs/users.md", before="registry.example/nodewright:"),
)
#: Where a plugin says which versions of the core it goes with.
REQUIREMENTS = ("plugins/*/pyproject.toml", "examples/*/pyproject.toml", "docs/*.md")


def current_version(root: Path) -> Version:
    """Return the version that the core has now."""
    text = (root / "core/src/nodewright/__init__.py").read_text()
    return Version(re.findall(rf'__version__ = "({_VERSION})"', text)[0])


def checked_version(text: str, current: Version) -> Version:
    """Return *text* as the version of a release that may follow *current*; raises `ReleaseError`."""
    try:
        version = Version(text)
    except InvalidVersion:
        raise ReleaseError(f"{text} is no version: write one such as 0.2.0") from None
    if str(version) != text or len(version.release) != 3:
        raise ReleaseError(f"{text} is not written as versions are: write one such as 0.2.0 or 0.2.0rc1")
    if version < current:
        raise ReleaseError(f"{version} is below {current}, which the sources have")
    return version


def stamp(root: Path, version: Version, day: date) -> None:
    """Write *version* everywhere, and give the changelog's open section to it; raises `ReleaseError`."""
    for place in PLACES:
        pattern = re.compile(f"({re.escape(place.before)}){_VERSION}({re.escape(place.after)})")
        for file in _files(root, (place.files,)):
            _replace(file, pattern, rf"\g<1>{version}\g<2>", place.before)
    requirement = f"nodewright>={version},<{version.major}.{version.minor + 1}"
    for file in _files(root, REQUIREMENTS):
        file.write_text(re.sub(rf"nodewright>={_VERSION},<\d+(\.\d+)?", requirement, file.read_text()))
    changelog = root / "CHANGELOG.md"
    changelog.write_text(closed(changelog.read_text(), version, day))


def closed(changelog: str, version: Version, day: date) -> str:
    """Return *changelog* with its open section given to *version*, below a new one without entries."""
    before, found, after = changelog.partition(OPEN)
    entries = after.partition("\n## ")[0]
    if not found or not entries.strip():
        raise ReleaseError("CHANGELOG.md tells nothing under Unreleased: write what users will notice")
    if f"\n## {version} " in changelog:
        raise ReleaseError(f"CHANGELOG.md has a section {version} already: choose another version")
    return f"{before}{OPEN}\n## {version} ({day})\n{after}"


def _files(root: Path, patterns: Sequence[str]) -> Iterator[Path]:
    for pattern in patterns:
        yield from sorted(root.glob(pattern))


def _replace(file: Path, pattern: re.Pattern[str], new: str, what: str) -> None:
    text, count = pattern.subn(new, file.read_text())
    if not count:
        raise ReleaseError(f"{file} has no version after {what.strip()!r}: correct PLACES in release/stamping.py")
    file.write_text(text)
