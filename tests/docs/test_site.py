"""The documentation hangs together: links lead somewhere, each page has a place, and the reference is complete."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from docsite import __main__ as site
from docsite import links, navigation, reference
from docsite.navigation import ROOT
from docsite.surface import surface


@pytest.fixture
def page(tmp_path):
    """Writes a page beside another one and returns it."""
    (tmp_path / "other.md").write_text("# Other\n\n## What `it` is, and why\n\n## Twice\n\n## Twice\n")

    def write(text: str) -> Path:
        written = tmp_path / "page.md"
        written.write_text(text)
        links.anchors.cache_clear()
        links._tokens.cache_clear()
        return written

    return write


@pytest.mark.parametrize("name", navigation.written_pages())
def test_all_links_of_a_page_lead_somewhere(name) -> None:
    assert links.broken(ROOT / name) == []


@pytest.mark.parametrize(
    "target",
    ["other.md", "other.md#what-it-is-and-why", "other.md#twice-1", "#here", ".", "https://example.com/nothing"],
)
def test_a_link_that_leads_somewhere_is_fine(page, target) -> None:
    assert links.broken(page(f"# Here\n\nSee [that]({target}).\n")) == []


@pytest.mark.parametrize("target", ["another.md", "other.md#what-it-is", "other.md#twice-2", "#there", "no/folder"])
def test_a_link_that_leads_nowhere_is_found(page, target) -> None:
    assert links.broken(page(f"# Here\n\nSee [that]({target}).\n")) == [target]


def test_pictures_count_and_code_does_not(page) -> None:
    text = "# Here\n\n![a picture](gone.svg)\n\n`[x](inline.md)`\n\n```md\n[x](block.md)\n```\n"
    assert links.broken(page(text)) == ["gone.svg"]


def test_every_page_has_one_place_in_the_navigation() -> None:
    assert list(navigation.mistakes()) == []


def test_a_page_without_a_place_is_named(monkeypatch) -> None:
    *others, last = navigation.SECTIONS
    monkeypatch.setattr(navigation, "SECTIONS", (*others, replace(last, pages=(*last.pages[1:], "docs/gone.md"))))
    assert list(navigation.mistakes()) == [
        "CONTRIBUTING.md is in no section: enter it in SECTIONS in docsite/navigation.py",
        "docs/gone.md does not exist: take it out of SECTIONS in docsite/navigation.py",
    ]


def test_a_site_with_a_misplaced_page_is_not_built(monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.setattr(navigation, "SECTIONS", navigation.SECTIONS[1:])
    assert site.build(tmp_path / "site") == 1
    assert "docs/users.md is in no section" in capsys.readouterr().err


def test_pages_have_nothing_of_the_site_s_builder_in_them() -> None:
    for name in navigation.written_pages():
        assert "```{" not in (ROOT / name).read_text(), name


def test_links_of_staged_pages_lead_to_staged_pages_and_files(tmp_path) -> None:
    site.stage(tmp_path)
    links.anchors.cache_clear()
    links._tokens.cache_clear()
    staged = sorted(tmp_path.rglob("*.md"))
    assert len(staged) == len(navigation.pages())
    assert {str(each.relative_to(tmp_path)): links.broken(each) for each in staged if links.broken(each)} == {}


def test_a_link_that_shows_a_file_s_name_shows_the_title_of_the_page(tmp_path) -> None:
    site.stage(tmp_path)
    assert "[Running Nodewright](users.md#a-picture-of-your-cluster)" in (tmp_path / "docs" / "library.md").read_text()
    assert "[Nodewright](../index.md)" not in (tmp_path / "docs" / "users.md").read_text()


def test_what_a_site_would_load_from_elsewhere_is_found(tmp_path) -> None:
    (tmp_path / "page.html").write_text(
        '<a href="https://example.com"></a><script async src="https://cdn.example.com/x.js"></script>'
        '<link rel="stylesheet" href="_static/own.css"><img alt="" src="//pictures.example.com/x.png">'
    )
    (tmp_path / "own.css").write_text("@import url('https://fonts.example.com/x'); a { background: url(own.png) }")
    assert site.outside_assets(tmp_path) == [
        "//pictures.example.com/x.png",
        "https://cdn.example.com/x.js",
        "https://fonts.example.com/x",
    ]


def test_the_reference_has_everything_public() -> None:
    text = "\n".join(reference.reference().values())
    tops = [each for each in surface() if each.home]
    assert len(tops) > 200
    missing = [each.path for each in tops if f":: {each.path.rpartition('.')[2]}" not in text]
    assert missing == []
    assert "Ids of similar groups, over which the growth may be spread." in text
    assert ".. py:method:: increase(count: int) -> None\n      :abstractmethod:" in text


def test_the_reference_is_not_made_while_something_has_no_description(monkeypatch) -> None:
    silent = [replace(each, text="") if each.path == "nodewright.api.nearest" else each for each in surface()]
    monkeypatch.setattr(reference, "surface", lambda: silent)
    with pytest.raises(reference.IncompleteError, match=r"without a docstring or a comment: nodewright\.api\.nearest"):
        reference.reference()


def test_the_reference_is_not_made_while_a_name_has_no_page(monkeypatch) -> None:
    monkeypatch.setattr(reference, "PAGES", reference.PAGES[1:])
    with pytest.raises(reference.IncompleteError, match=r"has no page: enter nodewright\.api\.\w+ in PAGES"):
        reference.reference()
