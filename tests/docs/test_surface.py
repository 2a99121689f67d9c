"""The public surface: what it is made of is public itself, and no change of it goes unnoticed."""

import sys
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import deprecated

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from nodewright import __version__
from nodewright.decision.findings import Findings

from docsite import surface
from docsite.surface import CHANGELOG, RELEASED, SNAPSHOT, Entry, mentioned_types, public_types, removed, unannounced

ENTRIES = surface.surface()


def test_the_snapshot_is_the_public_surface() -> None:
    assert SNAPSHOT.read_text() == surface.written(), (
        "the public surface has changed. If that is meant, run `make surface`, look at the difference of "
        "tests/docs/public_surface.txt, and tell users of it in CHANGELOG.md; docs/stability.md says what may change"
    )


def test_what_was_removed_since_the_last_version_is_named_in_the_changelog() -> None:
    missing = unannounced(removed(RELEASED.read_text(), surface.written()), CHANGELOG.read_text())
    assert missing == [], "name each in backticks in the newest section of CHANGELOG.md"


def test_the_surface_of_the_last_version_is_that_of_this_one() -> None:
    assert RELEASED.read_text().splitlines()[0] == f"# {__version__}", (
        "the version has changed: run `make surface ARGS=--release` with the change that sets it"
    )


def test_types_that_the_surface_mentions_are_public() -> None:
    public = public_types()
    private = {each.path: [kind for kind in mentioned_types(each) if kind not in public] for each in ENTRIES}
    assert {path: kinds for path, kinds in private.items() if kinds} == {}


def test_a_type_that_is_not_public_is_found_wherever_it_is_mentioned() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Leaky:
        found: dict[str, tuple[Findings, ...]]

    fields = [each for each in surface._members(Leaky, "nodewright.api.Leaky") if each.path.endswith("found")]
    assert [list(mentioned_types(each)) for each in fields] == [[Findings]]


def test_everything_public_has_a_description() -> None:
    assert [each.path for each in ENTRIES if each.needs_text and not each.text] == []


def test_what_was_deprecated_says_since_when_and_until_when() -> None:
    marked = [each for each in ENTRIES if hasattr(each.value, "__deprecated__")]
    assert [each.path for each in marked if not surface.DEPRECATION.match(each.value.__deprecated__)] == []


def test_a_deprecation_shows_in_the_surface() -> None:
    @deprecated("since 0.2, until 0.4: use `decide`")
    def judge() -> None:
        """Judge."""

    entry = surface._function("nodewright.library.judge", judge)
    assert str(entry) == "nodewright.library.judge() -> None  # deprecated since 0.2, until 0.4: use `decide`"
    assert surface.DEPRECATION.match(judge.__deprecated__)


def test_a_removal_has_to_be_in_the_newest_section_of_the_changelog() -> None:
    before = "nodewright.api.Option: dataclass\nnodewright.api.Option.limit: int = 0\nnodewright.api.nearest() -> str\n"
    gone = removed(before, "nodewright.api.Option: dataclass\n")
    assert gone == ["nodewright.api.Option.limit", "nodewright.api.nearest"]
    changelog = "# Changes\n\n## Unreleased\n\n- `Option.limit` is gone.\n\n## 0.1.0\n\n- `nearest` came.\n"
    assert unannounced(gone, changelog) == ["nodewright.api.nearest"]


def test_a_class_that_goes_takes_its_members_with_it() -> None:
    before = "nodewright.api.Option: dataclass\nnodewright.api.Option.limit: int = 0\n"
    assert removed(before, "nodewright.api.nearest() -> str\n") == ["nodewright.api.Option"]


def test_a_changed_default_or_type_shows_in_the_surface() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Changed:
        limit: int = 0

    assert [str(each) for each in surface._members(Changed, "Changed")] == ["Changed.limit: int = 0"]


def test_opaque_types_show_nothing_of_what_they_are_made_of() -> None:
    paths = {each.path for each in ENTRIES}
    assert "nodewright.library.World" in paths
    assert not any(path.startswith("nodewright.library.World.") for path in paths)
    assert "nodewright.testing.Harness.autoscaler" not in paths


def test_an_entry_is_one_line() -> None:
    assert all("\n" not in str(each) for each in ENTRIES)
    assert str(Entry(kind="data", path="nodewright.api.x", form=": int", text="")) == "nodewright.api.x: int"
