"""Which page stands where: sections by what readers want to do."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = "README.md"


@dataclass(frozen=True, kw_only=True)
class Section:
    """Pages for one kind of reader, in the order in which they are read, with their paths from the root."""

    title: str
    pages: tuple[str, ...]
    #: Whether the reference of the public API stands before them.
    reference: bool = False


SECTIONS = (
    Section(
        title="Using it",
        pages=(
            "docs/users.md",
            "docs/output.md",
            "docs/migrating.md",
            "docs/overprovisioning.md",
            "docs/configuration.md",
            "docs/isolation.md",
            "docs/expanders.md",
            "docs/library.md",
            "docs/differences.md",
        ),
    ),
    Section(
        title="Operating it",
        pages=(
            "docs/metrics.md",
            "docs/shadow.md",
            "docs/support.md",
            "SECURITY.md",
            "docs/providers/aws.md",
            "docs/providers/aws/allocatable.md",
            "docs/providers/aws/prices.md",
            "docs/providers/gce.md",
            "docs/providers/gce/allocatable.md",
            "docs/providers/gce/prices.md",
            "plugins/aws/README.md",
            "plugins/gce/README.md",
            "plugins/grpc/README.md",
            "plugins/least-cost/README.md",
        ),
    ),
    Section(
        title="Writing plugins",
        pages=(
            "docs/strategy-authors.md",
            "docs/writing-a-provider.md",
            "docs/provider-authors.md",
            "docs/clouds-without-target-size.md",
            "docs/conformance.md",
            "docs/stability.md",
            "plugins/fake/README.md",
            "examples/near-data/README.md",
            "examples/shed/README.md",
        ),
    ),
    Section(title="Reference", reference=True, pages=("docs/flags.md", "CHANGELOG.md")),
    Section(
        title="How it is built",
        pages=("CONTRIBUTING.md", "docs/architecture.md", "docs/benchmarks.md", "docs/dependencies.md"),
    ),
)


def pages() -> list[str]:
    """Return all pages of the navigation, home first."""
    return [HOME, *(page for section in SECTIONS for page in section.pages)]


def written_pages() -> list[str]:
    """Return all pages that there are."""
    patterns = ("*.md", "docs/**/*.md", "plugins/*/README.md", "examples/*/README.md")
    return sorted({str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern)})


def mistakes() -> Iterator[str]:
    """Yield what is wrong with the navigation, in words that say what to do."""
    placed = pages()
    for page in written_pages():
        if page not in placed:
            yield f"{page} is in no section: enter it in SECTIONS in docsite/navigation.py"
    for page in placed:
        if not (ROOT / page).is_file():
            yield f"{page} does not exist: take it out of SECTIONS in docsite/navigation.py"
        if placed.count(page) > 1:
            yield f"{page} is in the navigation {placed.count(page)} times"
