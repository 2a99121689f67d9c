"""Loading: from a file and flags to settings, or to a list of all mistakes. And back: from settings to YAML."""

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any

from nodewright.api.errors import ConfigurationError, Problem
from nodewright.config.checks import contradictions, oddities
from nodewright.config.flag_table import FLAGS
from nodewright.config.flags import NO_FLAGS, Flags, apply
from nodewright.config.model import Settings
from nodewright.config.paths import Path, all_settings, dotted
from nodewright.config.plugins import PluginClasses, check_references, read_references
from nodewright.config.tree import Origin, Tree, dump, read_yaml
from nodewright.config.validation import Mistake, validate

HEADER = {"apiVersion": "nodewright.dev/v1", "kind": "Autoscaler"}
NOTHING: Mapping[Path, Any] = MappingProxyType({})


class Origins:
    """Where each value came from."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def of(self, path: Path | str) -> Origin:
        """Return where the setting at *path* came from, such as ``scaleDown.unneededTime`` or ``groups[1].match``."""
        if isinstance(path, str):
            keys = path.replace("[", ".").replace("]", "").split(".")
            path = tuple(int(key) if key.isdecimal() else key for key in keys)
        return self._tree.origin(path)

    def of_plugin_setting(self, path: Path) -> Origin:
        """Return where the value at *path* below a plugin's name came from. There, null is a value like any other."""
        return self._tree.place(path)

    def problem(self, path: Path, message: str) -> Problem:
        """Return the mistake *message* about the value at *path*, with the place of that value or of its parent."""
        return self._tree.problem(path, message)


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A valid configuration."""

    settings: Settings
    origins: Origins
    #: What is allowed but has no effect, or most likely not the intended one.
    warnings: tuple[Problem, ...] = ()


def load(
    source: FilePath | str | None = None,
    *,
    flags: Flags = NO_FLAGS,
    overrides: Mapping[Path, Any] = NOTHING,
    classes: PluginClasses | None = None,
    name: str = "configuration",
    complete: bool = True,
    tolerant: bool = False,
) -> Loaded:
    """Load YAML from a path, or from a text that messages call *name*. Without *source*, only the flags count.

    *flags* override the YAML. *overrides*, values by path as from ``--set``, override both.

    With *classes*, plugins and their settings are checked as well. A *complete* configuration must also name a
    provider. A *tolerant* load only warns about an installed plugin that can't be used: the autoscaler starts without
    it. Raises `ConfigurationError` with every problem.
    """
    tree, problems = _read(source, name)
    unread = bool(problems) and not tree.data
    problems += flags.problems
    warnings = apply(flags, tree)
    for path, value in overrides.items():
        tree.put(path, value, Origin(flag=f"set {dotted(path)}"))
    data, references = read_references(tree)
    settings, mistakes = _settings(data)
    mistakes += _unless_broken(contradictions(settings, tree), mistakes)
    if classes is not None:
        mistakes += check_references(references, classes)
        if complete and not unread and tree.get(("providers",)) in (None, []):
            message = "name at least one provider, here or with --cloud-provider"
            mistakes.append(Mistake(path=("providers",), message=message))
    excused = [mistake for mistake in mistakes if tolerant and mistake.of_plugin]
    told = {(problem.path, problem.line) for problem in problems}
    found = [tree.problem(mistake.path, mistake.message) for mistake in mistakes if mistake not in excused]
    problems += [problem for problem in found if problem.source == "flags" or (problem.path, problem.line) not in told]
    if problems:
        raise ConfigurationError(*_in_order(problems))
    warnings += [tree.problem(mistake.path, f"left out: {mistake.message}") for mistake in excused]
    warnings += [tree.problem(oddity.path, oddity.message) for oddity in oddities(settings)]
    return Loaded(settings=settings, origins=Origins(tree), warnings=tuple(_in_order(warnings)))


def read_file(path: FilePath) -> str:
    """Return the text of the file. Raises `ConfigurationError` if it can't be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        message = "is not UTF-8 text"
    except OSError as error:
        message = f"can't be read: {error.strerror or error}"
    raise ConfigurationError(Problem(message=message, source=str(path)))


def to_yaml(settings: Settings) -> str:
    """Return the shortest YAML that loads as *settings*."""
    header = {"apiVersion": settings.api_version, "kind": settings.kind}
    return dump(header | settings.model_dump(mode="json", by_alias=True, exclude_defaults=True))


def flags_to_yaml(flags: Flags, settings: Settings, warnings: list[str]) -> str:
    """Return the YAML that does the same as *flags*, with comments about the flags that it leaves out."""
    without = [f"--{each.flag.name}: {each.flag.instead}" for each in flags.given if each.flag.instead]
    notes = [*(f"left out {line}" for line in without), *warnings]
    if not settings.providers:
        notes.append("no --cloud-provider was given: name one under providers")
    return "".join(f"# {note}\n" for note in notes) + to_yaml(settings)


def _read(source: FilePath | str | None, name: str) -> tuple[Tree, list[Problem]]:
    """Return the data of *source*, which is empty if it can't be read, and what is wrong with it as a whole."""
    if source is None:
        return Tree(), []
    try:
        text = read_file(source) if isinstance(source, FilePath) else source
    except ConfigurationError as error:
        return Tree(), list(error.problems)
    name = str(source) if isinstance(source, FilePath) else name
    tree, problems = read_yaml(text, name)
    if problems and not tree.data:
        return tree, problems
    kind = tree.get(("kind",))
    if isinstance(kind, str) and kind != HEADER["kind"]:
        # All its keys would be unknown: one message is enough.
        message = f"this is a {kind}; a configuration of Nodewright has kind: {HEADER['kind']}"
        return Tree(), [tree.problem(("kind",), message)]
    missing = [f"{key}: {value}" for key, value in HEADER.items() if tree.get((key,)) is None]
    if missing:
        problems.append(Problem(message=f"must say {' and '.join(missing)} at the top", source=name, line=1))
    return tree, problems


def _settings(data: dict[str, Any]) -> tuple[Settings, list[Mistake]]:
    """Return the settings and all mistakes. The settings leave wrong values out, so that the rest can be checked."""
    data, mistakes = copy.copy(data), []
    while True:
        settings, found = validate(Settings, data, elsewhere=_elsewhere)
        mistakes += found
        if settings is not None:
            return settings, mistakes
        for mistake in found:
            _leave_out(data, mistake.path)


def _leave_out(data: dict[str, Any], path: Path) -> None:
    """Remove the setting at *path*. The empty path is that of everything.

    A list is removed as a whole: its other items would change their index.
    """
    if not path:
        data.clear()
        return
    length = next((at for at, part in enumerate(path) if isinstance(part, int)), len(path))
    node: Any = data
    for part in path[: length - 1]:
        node = node.get(part, {})
    node.pop(path[length - 1], None)


def _unless_broken(found: Iterable[Mistake], mistakes: list[Mistake]) -> list[Mistake]:
    """Leave out findings about settings whose written value is itself a mistake: they are about the default."""
    broken = [mistake.path for mistake in mistakes]
    return [
        each
        for each in found
        if not any(path[: len(at)] == at[: len(path)] for path in (each.path, *each.others) for at in broken)
    ]


def _elsewhere(key: str) -> str:
    """Return the end of the message about the unknown *key*, if it is a setting of another section or a flag."""
    flag = FLAGS.get(key.removeprefix("--"))
    if flag is not None and flag.sets:
        return f": in YAML, the flag --{flag.name} is {flag.sets}"
    homes = [setting.name for setting in all_settings() if setting.path[-1] == key]
    return f"; did you mean {' or '.join(homes)}?" if homes else ""


def _in_order(problems: Iterable[Problem]) -> Iterator[Problem]:
    unique = dict.fromkeys(problems)
    yield from sorted(unique, key=lambda problem: (problem.source == "flags", problem.line))
