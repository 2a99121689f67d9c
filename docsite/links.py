"""Links of pages: what they point at, and whether that is there."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

_LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)")
_FENCE = re.compile(r"^( *)(```+)[^\n]*\n.*?^\1\2 *$", re.DOTALL | re.MULTILINE)


def links(page: Path) -> Iterator[str]:
    """Yield the target of each link and picture on *page*, in order."""
    for token in _tokens(page):
        for each in token.children or ():
            target = each.attrGet("href" if each.type == "link_open" else "src")
            if each.type in ("link_open", "image") and target:
                yield str(target)


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors that the headings of *page* have on a code host, and on the site."""
    tokens = _tokens(page)
    seen: Counter[str] = Counter()
    found = set()
    for before, token in pairwise(tokens):
        if before.type == "heading_open":
            title = "".join(child.content for child in token.children or ())
            slug = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
            found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
    return frozenset(found)


def is_outside(target: str) -> bool:
    """Return whether a link leads to another server."""
    return bool(re.match(r"[a-z]+:", target))


def broken(page: Path) -> list[str]:
    """Return the links of *page* that lead to no file, or to no heading of the page that they lead to."""
    wrong = []
    for target in links(page):
        if is_outside(target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / unquote(path)).resolve() if path else page
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
            wrong.append(target)
    return wrong


def rewritten(text: str, change: Callable[[str, str], str]) -> str:
    """Return the page *text* with each link, of *shown* text and *target*, as *change* returns it; not within code."""
    parts, end = [], 0
    for fence in _FENCE.finditer(text):
        parts += [_LINK.sub(lambda link: change(link[1], link[2]), text[end : fence.start()]), fence[0]]
        end = fence.end()
    parts.append(_LINK.sub(lambda link: change(link[1], link[2]), text[end:]))
    return "".join(parts)


@cache
def _tokens(page: Path) -> list[Token]:
    return MarkdownIt("gfm-like", {"linkify": False}).disable("linkify").parse(page.read_text())
