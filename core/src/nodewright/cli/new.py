"""``nodewright new``: writes a distribution with a plugin that works, for its author to change."""

import ast
import re
import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, NamedTuple

from nodewright import __version__
from nodewright.api.command import Command
from nodewright.api.nearest import nearest
from nodewright.cli.exit_status import ExitStatus
from nodewright.cli.table import aligned

#: Folders of files that are ordinary Python, of a plugin called ``my-plugin``. What is in ``common`` belongs to every
#: kind; if a kind has the same file, its own text follows.
TEMPLATES = Path(__file__).parent / "templates"
_COMMON = "common"

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
#: Lines of code stay within their length with names of so many characters.
_LONGEST = 24
_LATER = "signals come later, with nodewright-metrics: until then there is no contract that one could be written for"


class Kind(NamedTuple):
    """What can be written."""

    #: The kind's key in `PLUGIN_KINDS`.
    plugins: str
    #: Module and class, as in the entry point.
    home: str
    #: What it does, for the help.
    what: str


KINDS = {
    "provider": Kind("providers", "provider:MyPluginProvider", "a cloud, with a double of it in the tests"),
    "expander": Kind("expanders", "expander:MyPlugin", "chooses among ways to grow"),
    "estimator": Kind("estimators", "estimator:MyPlugin", "computes how many nodes pods need"),
    "processor": Kind("processors", "processor:MyPlugin", "a step of the list that --of names"),
    "drain-rule": Kind("drain_rules", "drain_rule:MyPlugin", "says what draining a node means for a pod"),
    "prices": Kind("prices", "prices:MyPlugin", "says what nodes and pods cost"),
    "hook": Kind("hooks", "hooks:MyPlugin", "takes part in other steps: here a veto and an observer"),
}
#: What a processor may be a step of. The first is the default.
LISTS = ("pending-pods", "scale-down-candidates")


class RefusalError(Exception):
    """What was asked for can't be written; says why, and what to do."""


class NewCommand(Command):
    """Writes a distribution that builds, installs and passes its conformance suite."""

    examples: ClassVar[Mapping[str, str]] = {
        "nodewright new expander near-data": "write nodewright-near-data/ here",
        "nodewright new processor night --of scale-down-candidates --into plugins": "another kind, elsewhere",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare kind, name and place."""
        parser.epilog = "kinds:\n" + aligned([(f"  {kind}", each.what) for kind, each in KINDS.items()])
        parser.add_argument("kind", metavar="KIND", help="what to write; see below")
        parser.add_argument("name", metavar="NAME", help="what YAML will call it, such as near-data")
        parser.add_argument(
            "--into", type=Path, default=Path(), metavar="DIR", help="where to put nodewright-NAME/ (default: here)"
        )
        parser.add_argument("--of", choices=LISTS, help=f"for a processor (default: {LISTS[0]})")

    def run(self, arguments: Namespace) -> int:
        """Write the distribution and print what to do next."""
        try:
            texts = distribution(arguments.kind, arguments.name, of=arguments.of)
            name = arguments.name.replace("_", "-")
            folder = _written(arguments.into, f"nodewright-{name}", texts)
        except RefusalError as refusal:
            print(f"nodewright new: {refusal}", file=sys.stderr)
            return ExitStatus.WRONG
        except OSError as error:
            print(f"nodewright new: {error.filename} can't be written: {error.strerror}", file=sys.stderr)
            return ExitStatus.FAILED
        print(f"{folder}/ has {_a(_noun(KINDS[arguments.kind]))} that works. Comments with EDIT say what to do where.")
        print("Next:\n")
        place = str(folder) if folder.is_absolute() else f"./{folder}"
        print(f"  pip install --editable {shlex.quote(f'{place}[test]')}")
        print(f"  pytest {shlex.quote(str(folder))}")
        print("  nodewright plugins")
        return ExitStatus.DONE


def distribution(kind: str, name: str, *, of: str | None = None) -> Mapping[str, str]:
    """Return the files, by path, of a distribution with a plugin called *name*; raises `RefusalError`."""
    if kind == "signal":
        raise RefusalError(_LATER)
    if kind not in KINDS:
        meant = nearest(kind.replace("_", "-"), KINDS)
        raise RefusalError(
            f"{kind!r} can't be written: " + (f"did you mean {meant}?" if meant else f"say {_list(KINDS)}")
        )
    if of and kind != "processor":
        raise RefusalError(f"--of is for processors, and this is to be {_a(_noun(KINDS[kind]))}: leave it out")
    _refuse_malformed(name)
    name = name.replace("_", "-")
    _refuse_taken(KINDS[kind].plugins, name)
    texts = rendered(kind, name, of=of)
    _refuse_confusing(name, texts)
    return texts


def rendered(kind: str, name: str, *, of: str | None = None, prefix: str = "nodewright") -> Mapping[str, str]:
    """Return the files, by path, of the distribution *prefix*-*name*, whatever its name is."""
    words = {
        "nodewright-my-plugin": f"{prefix}-{name}",
        "nodewright_my_plugin": f"{prefix}-{name}".replace("-", "_"),
        "my-plugin": name,
        "my_plugin": name.replace("-", "_"),
        "MyPlugin": _class(name),
        "${home}": KINDS[kind].home.replace("MyPlugin", _class(name)),
        "${plugins}": KINDS[kind].plugins,
        "${Noun}": _noun(KINDS[kind]).capitalize(),
        "${requirement}": f"nodewright{version_range(__version__)}",
    }
    texts: dict[str, str] = {}
    for folder in (_COMMON, (of or LISTS[0]) if kind == "processor" else kind):
        for path in _files(TEMPLATES / folder):
            place = _filled(path.relative_to(TEMPLATES / folder).as_posix(), words)
            texts[place] = texts.get(place, "") + _filled(path.read_text(encoding="utf-8"), words)
    return texts


def version_range(version: str) -> str:
    """Return which versions keep the contract of this one: those up to the next one that may break it."""
    from packaging.version import Version

    this = Version(version)
    end = f"{this.major + 1}" if this.major else f"0.{this.minor + 1}"
    # pip takes a version that is not final yet only for a range that begins with one.
    return f">={this if this.is_prerelease else f'{this.major}.{this.minor}'},<{end}"


def _files(folder: Path) -> Iterator[Path]:
    """Yield all files below *folder*, without what pip has compiled of them."""
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".pyc")


def _filled(text: str, words: Mapping[str, str]) -> str:
    # In one go: a name that was put in may contain a word itself.
    return re.sub("|".join(map(re.escape, words)), lambda found: words[found[0]], text)


def _written(into: Path, name: str, texts: Mapping[str, str]) -> Path:
    """Write all files into a new folder."""
    if not into.is_dir():
        raise RefusalError(f"there is no folder {into}: create it, or give another one to --into")
    folder = into / name
    try:
        folder.mkdir()
    except FileExistsError:
        raise RefusalError(
            f"{folder} is there already: remove it, choose another NAME, or another place by --into"
        ) from None
    for place, text in texts.items():
        file = folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def _refuse_malformed(name: str) -> None:
    dashed = name.replace("_", "-")
    short = dashed.removeprefix("nodewright-")
    if _NAME.fullmatch(short) and dashed == short and len(short) <= _LONGEST:
        return
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", short)
    better = re.sub(r"[^a-z0-9]+", "-", words.lower()).lstrip("-0123456789")[:_LONGEST].strip("-")
    raise RefusalError(
        f"{name!r} can't be the name: take up to {_LONGEST} lower-case letters and digits, with single dashes between "
        "them, a letter first, and without nodewright-" + (f"; what about {better}?" if better else "")
    )


def _refuse_taken(plugins: str, name: str) -> None:
    # Of all commands, only this one and those that load plugins need these.
    from importlib.metadata import distributions

    from nodewright.plugins.entrypoints import PLUGIN_KINDS, registrations
    from nodewright.plugins.registry import COMING, DISTRIBUTIONS

    kind = PLUGIN_KINDS[plugins]
    own = f"nodewright-{name}"
    owners = [each.distribution for each in registrations(kind) if each.name == name]
    known = DISTRIBUTIONS.get((plugins, name))
    if owners or known:
        reason = f"{owners[0] if owners else known} has {_a(kind.noun)} of this name already"
    elif (plugins, name) in COMING:
        reason = f"Nodewright will have {_a(kind.noun)} of this name"
    elif own in DISTRIBUTIONS.values() or own in {f"nodewright-{coming}" for _, coming in COMING}:
        reason = f"{own} is a distribution of Nodewright's own"
    elif any(distributions(name=own)):
        reason = f"another distribution {own} is installed"
    else:
        return
    raise RefusalError(f"{name!r} is taken: {reason}; choose another name, such as my-{name}")


def _refuse_confusing(name: str, texts: Mapping[str, str]) -> None:
    """Refuse a name whose class could not be called so, such as None, or would be taken for something else."""
    if _class(name).startswith("Test"):
        raise RefusalError(f"{name!r} can't be the name: pytest takes classes called Test... for tests; choose another")
    for text in (text for place, text in texts.items() if place.endswith(".py")):
        try:
            bound = list(_bound(ast.parse(text)))
        except SyntaxError:
            raise RefusalError(
                f"{name!r} can't be the name: no class can be called {_class(name)} in Python; choose another"
            ) from None
        twice = [each for each in bound if bound.count(each) > 1]
        if twice:
            raise RefusalError(
                f"{name!r} can't be the name: there would be two classes {twice[0]} in one module; choose another"
            )


def _bound(module: ast.Module) -> Iterator[str]:
    """Yield the names that the statements of *module* bind."""
    for statement in module.body:
        match statement:
            case ast.ImportFrom(names=names) | ast.Import(names=names):
                yield from (each.asname or each.name for each in names)
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield name


def _class(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-"))


def _noun(kind: Kind) -> str:
    from nodewright.plugins.entrypoints import PLUGIN_KINDS

    return PLUGIN_KINDS[kind.plugins].noun


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _list(words: Mapping[str, object]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}"
