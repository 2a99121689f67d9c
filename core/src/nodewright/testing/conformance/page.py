"""The page of the documentation that lists what the suites check.

::

    python -m nodewright.testing.conformance.page > docs/conformance.md
"""

import inspect
import sys
from collections.abc import Iterator

from nodewright.testing import conformance
from nodewright.testing.conformance.suite import Suite, requirements

_HEAD = """# What the conformance suites check

Every rule is one test, and a plugin that breaks it fails that test. How to use the suites:
[provider-authors.md](provider-authors.md#the-conformance-suite), [strategy-authors.md](strategy-authors.md).

A rule is skipped, with the reason, if it needs what the cloud under test can't do or the provider does not declare.

This page is written by `python -m nodewright.testing.conformance.page > docs/conformance.md`."""


def conformance_page() -> str:
    """Return the page, made from the suites and their docstrings."""
    return "\n\n".join((_HEAD, *(_chapter(suite) for suite in _suites()))) + "\n"


def rule_names(suite: type[Suite]) -> tuple[str, ...]:
    """The names of a suite's tests, in the order of the page."""
    return tuple(dict.fromkeys(name for owner in suite.__mro__ for name in vars(owner) if name.startswith("test_")))


def _suites() -> Iterator[type[Suite]]:
    for name in conformance.__all__:
        suite = getattr(conformance, name)
        if isinstance(suite, type) and issubclass(suite, Suite):
            yield suite


def _chapter(suite: type[Suite]) -> str:
    """A suite under its name; one that is made of others has a section for each of them."""
    parts = [part for part in suite.__mro__ if any(name.startswith("test_") for name in vars(part))]
    sections = [_section(part, level="##" if part is suite else "###") for part in parts]
    return "\n\n".join(sections if suite in parts else [_title(suite, "##"), *sections])


def _section(part: type[Suite], *, level: str) -> str:
    return "\n".join((_title(part, level), "", *(_rule(part, name) for name in vars(part) if name.startswith("test_"))))


def _title(suite: type[Suite], level: str) -> str:
    # `help` also shows a class's attributes, which are no rules.
    said = (inspect.getdoc(suite) or "").partition("\n\nAttributes:")[0]
    return f"{level} {suite.__name__}\n\n{said}"


def _rule(suite: type[Suite], test: str) -> str:
    sentence = " ".join((inspect.getdoc(getattr(suite, test)) or "").split())
    needed = ", ".join(f"`{each}`" for each in requirements(suite, test) if not inspect.isfunction(each))
    return f"- **{test.removeprefix('test_').replace('_', ' ')}**: {sentence}" + (f" ({needed})" if needed else "")


if __name__ == "__main__":
    sys.stdout.write(conformance_page())
