"""Builds the site: ``python -m docsite [FOLDER]``."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from docsite import links, navigation
from docsite.navigation import HOME, ROOT, SECTIONS
from docsite.reference import reference

#: Of Sphinx, home is called so.
_INDEX = "index.md"
_ASSET = re.compile(r"""<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=["']((?:https?:)?//[^"']*)""")
_STYLED = re.compile(r"""(?:@import|url\()\s*["']?((?:https?:)?//[^"')]*)""")


def build(site: Path) -> int:
    """Build the site into the folder *site* and return the status: 0 if there was not even a warning."""
    mistakes = list(navigation.mistakes())
    if mistakes:
        print("\n".join(mistakes), file=sys.stderr)
        return 1
    with TemporaryDirectory() as folder:
        source = Path(folder)
        stage(source)
        shutil.rmtree(site, ignore_errors=True)
        command = ("sphinx", "-q", "-W", "--keep-going", "-j", "auto", "-c", ROOT / "docsite", "-d", source / ".cache")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        status = subprocess.run([sys.executable, "-m", *command, source, site], env=environment).returncode
    strangers = outside_assets(site)
    if strangers:
        print(f"the site would load from elsewhere: {', '.join(strangers)}", file=sys.stderr)
    return status or bool(strangers)


def outside_assets(site: Path) -> list[str]:
    """Return what the pages of *site* would load from other servers: they are read without a network, too."""
    found = {address for page in site.rglob("*.html") for address in _ASSET.findall(page.read_text())}
    return sorted(found | {address for style in site.rglob("*.css") for address in _STYLED.findall(style.read_text())})


def stage(source: Path) -> None:
    """Put all that Sphinx reads into the folder *source*: pages as they are, but for links, and the reference."""
    for page in navigation.pages():
        target = source / _name_of(page)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_staged(page, source))
    with (source / _INDEX).open("a") as index:
        index.writelines(_tables_of_contents())
    (source / "reference").mkdir()
    for name, text in reference().items():
        (source / "reference" / name).write_text(text)


def _staged(page: str, source: Path) -> str:
    """Return the text of *page* for Sphinx. Files that it links to are copied; folders can't be shown."""
    here = ROOT / page

    def change(shown: str, target: str) -> str:
        path, hash_mark, anchor = target.partition("#")
        if links.is_outside(target) or not path:
            return f"{shown}({target})"
        file = (here.parent / path).resolve()
        inside = str(file.relative_to(ROOT))
        if not file.exists():
            # Sphinx names the page and the line.
            return f"{shown}({target})"
        if file.is_dir():
            return shown.removeprefix("[").removesuffix("]")
        if inside not in navigation.pages():
            copy = source / inside
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)
        elif shown.endswith(".md]"):
            shown = f"[{_title(file)}]"
        name = os.path.relpath(_name_of(inside), Path(_name_of(page)).parent)
        return f"{shown}({name}{hash_mark}{anchor})"

    return links.rewritten(here.read_text(), change)


def _title(page: Path) -> str:
    """Return what a page is called: its first heading."""
    return page.read_text().partition("# ")[2].partition("\n")[0]


def _name_of(page: str) -> str:
    return _INDEX if page == HOME else page


def _tables_of_contents() -> list[str]:
    parts = []
    for section in SECTIONS:
        entries = [page.removesuffix(".md") for page in section.pages]
        if section.reference:
            entries.insert(0, "reference/index")
        parts.append("\n".join(("", "```{toctree}", ":hidden:", f":caption: {section.title}", "", *entries, "```", "")))
    return parts


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1] if len(sys.argv) > 1 else "build/site").resolve()))
