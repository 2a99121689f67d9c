"""The reference of the public API: pages in reStructuredText, made of what `docsite.surface` finds."""

import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from textwrap import indent

from docsite.surface import OPAQUE, Entry, surface


@dataclass(frozen=True, kw_only=True)
class Page:
    """One page: the public names that are defined in certain modules."""

    name: str
    title: str
    #: The modules where its names are defined, or packages of them. Their docstrings introduce them.
    homes: tuple[str, ...]


PAGES = (
    Page(
        name="plugins",
        title="Plugins and commands",
        homes=("nodewright.api.plugin", "nodewright.api.command", "nodewright.api.clock"),
    ),
    Page(
        name="providers",
        title="Providers",
        homes=(
            "nodewright.api.provider",
            "nodewright.api.group",
            "nodewright.api.instance",
            "nodewright.api.template",
            "nodewright.api.pricing",
        ),
    ),
    Page(
        name="strategies",
        title="Strategies",
        homes=(
            "nodewright.api.expander",
            "nodewright.api.option",
            "nodewright.api.estimator",
            "nodewright.api.simulation",
            "nodewright.api.processor",
            "nodewright.api.drain_rule",
            "nodewright.api.protection",
        ),
    ),
    Page(name="hooks", title="Hooks", homes=("nodewright.api.hookspecs",)),
    Page(
        name="decisions",
        title="Decisions",
        homes=("nodewright.api.decision", "nodewright.api.verdict", "nodewright.api.notice", "nodewright.api.json"),
    ),
    Page(name="reasons", title="Reasons", homes=("nodewright.api.reasons",)),
    Page(name="errors", title="Errors", homes=("nodewright.api.errors",)),
    Page(
        name="values",
        title="Quantities, durations, names",
        homes=("nodewright.objects.quantity", "nodewright.objects.duration", "nodewright.api.nearest"),
    ),
    Page(
        name="objects",
        title="Objects of Kubernetes",
        homes=(
            "nodewright.objects.pod",
            "nodewright.objects.requests",
            "nodewright.objects.affinity",
            "nodewright.objects.selector",
            "nodewright.objects.node",
            "nodewright.objects.taint",
            "nodewright.objects.meta",
            "nodewright.objects.volume",
            "nodewright.objects.budget",
            "nodewright.objects.workload",
        ),
    ),
    Page(name="testing", title="Tests of plugins", homes=("nodewright.testing", "nodewright.explain.narrative")),
    Page(name="suites", title="Conformance suites", homes=("nodewright.testing.conformance",)),
    Page(
        name="library",
        title="The library",
        homes=(
            "nodewright.library",
            "nodewright.scenario",
            "nodewright.explain",
            "nodewright.decision",
            "nodewright.config",
        ),
    ),
)

_INTRODUCTION = """\
The public API
==============

Everything here is imported from the module that stands before its name. Value types are frozen dataclasses: they are
made by keyword, and `dataclasses.replace` makes changed copies. *Opaque* types are only passed on. `help()` shows the
same texts.

.. toctree::
   :maxdepth: 1

"""


class IncompleteError(Exception):
    """The reference can't be made: something has no description, or no page."""


def reference() -> dict[str, str]:
    """Return the text of each page by the name of its file.

    Raises `IncompleteError` that names everything public without a description and every name without a page.
    """
    entries = surface()
    silent = [each.path for each in entries if each.needs_text and not each.text]
    if silent:
        raise IncompleteError(f"public, but without a docstring or a comment: {', '.join(silent)}")
    placed: dict[str, list[Entry]] = {page.name: [] for page in PAGES}
    for each in entries:
        if each.home:
            placed[_page_of(each).name].append(each)
    pages = {f"{page.name}.rst": "\n".join(_page(page, placed[page.name], entries)) for page in PAGES}
    index = _INTRODUCTION + "".join(f"   {page.name}\n" for page in PAGES)
    return {"index.rst": index, **pages}


def _page_of(entry: Entry) -> Page:
    """Return the page with the longest home that the entry's home is, or is in."""
    fitting = [(home, page) for page in PAGES for home in page.homes if f"{entry.home}.".startswith(f"{home}.")]
    if not fitting:
        raise IncompleteError(f"{entry.path} has no page: enter {entry.home} in PAGES in docsite/reference.py")
    return max(fitting, key=lambda found: len(found[0]))[1]


def _page(page: Page, entries: Sequence[Entry], all_entries: Sequence[Entry]) -> Iterator[str]:
    yield from (page.title, "=" * len(page.title), "")
    for home in page.homes:
        of_home = [each for each in entries if f"{each.home}.".startswith(f"{home}.")]
        yield from _introduction(home, alone=len(page.homes) == 1)
        for entry in sorted(of_home, key=_reading_order):
            yield from _directive(entry, [each for each in all_entries if _is_member(each, entry)])


def _introduction(home: str, *, alone: bool) -> Iterator[str]:
    text = inspect.getdoc(import_module(home)) or ""
    headline, _, rest = text.partition("\n\n")
    title, colon, said = headline.partition(": ")
    if not alone:
        title = title.rstrip(".")
        yield from (title, "-" * len(title), "", f"{said[0].upper()}{said[1:]}" if colon else "", "", rest, "")
    else:
        yield from (headline, "", rest, "")


def _reading_order(entry: Entry) -> tuple[str, bool, int]:
    """What plugins implement comes before the values that it takes and returns, and both as in the source."""
    if entry.kind == "data":
        return entry.home, True, 0
    return entry.home, not entry.form.startswith(": class"), inspect.getsourcelines(entry.value)[1]


def _is_member(entry: Entry, owner: Entry) -> bool:
    return owner.kind == "class" and entry.path.rpartition(".")[0] == owner.path and not entry.home


def _directive(entry: Entry, members: Sequence[Entry]) -> Iterator[str]:
    module, _, name = entry.path.rpartition(".")
    own = [each for each in members if not each.path.endswith(".__init__")]
    match entry.kind:
        case "class":
            made = next((each.form for each in members if each.path.endswith(".__init__")), "")
            yield f".. py:class:: {name}{_called(made).partition(' ->')[0]}"
            yield f"   :module: {module}"
            yield from ("", f"   {_nature(entry)}", "")
            yield from (indent(entry.text, "   "), "")
            for member in own:
                yield from (indent(line, "   ") for line in _member(member))
        case "function":
            yield from (f".. py:function:: {name}{entry.form}", f"   :module: {module}", "")
            yield from (indent(entry.text, "   "), "")
        case _:
            yield from (f".. py:data:: {name}", f"   :module: {module}", *_typed(entry.form), "")
            yield from (indent(entry.text, "   "), "")


def _nature(entry: Entry) -> str:
    if entry.path.rpartition(".")[2] in OPAQUE:
        return "*Opaque.*"
    kind, _, bases = entry.form.removeprefix(": ").partition("(")
    names = [base for base in bases.rstrip(")").split(", ") if base not in ("", "ABC", "Protocol", "Exception")]
    said = {"dataclass": "*A value type.*", "struct": "*An object.*", "enumeration": "*An enumeration.*"}.get(kind, "")
    return f"Base: {', '.join(f'`{name}`' for name in names)}." if names else said


def _member(entry: Entry) -> Iterator[str]:
    name = entry.path.rpartition(".")[2]
    match entry.kind:
        case "method":
            abstract = getattr(entry.value, "__isabstractmethod__", False)
            yield f".. py:method:: {name}{_called(entry.form)}"
            yield from ["   :abstractmethod:"] if abstract else []
        case "property":
            abstract = getattr(entry.value, "__isabstractmethod__", False)
            yield f".. py:property:: {name}"
            yield from ["   :abstractmethod:"] if abstract else []
            yield f"   :type: {entry.form.removeprefix(': ').removesuffix(' (property)')}"
        case "fixture":
            yield f".. py:property:: {name}"
            yield "   :type: fixture"
        case _:
            yield f".. py:attribute:: {name}"
            yield from _typed(entry.form)
    yield from ("", indent(entry.text, "   "), "")


def _called(signature: str) -> str:
    """Return the signature of a method as it is called."""
    return re.sub(r"^\(self(, )?", "(", signature)


def _typed(form: str) -> Iterator[str]:
    kind, _, value = form.partition(" = ")
    if kind:
        yield f"   :type: {kind.removeprefix(': ')}"
    if value:
        yield f"   :value: {value}"
