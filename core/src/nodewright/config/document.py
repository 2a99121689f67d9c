"""Loading: a file and flags become settings, or all that is wrong with them at once."""

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
from nodewright.config.tree import Origin, Tree, read_yaml
from nodewright.config.validation import Mistake, validate

HEADER = {"apiVersion": "nodewright.dev/v1", "kind": "Autoscaler"}
NOTHING: Mapping[Path, Any] = MappingProxyType({})


class Origins:
    """Where every value came from."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def of(self, path: Path | str) -> Origin:
        """Where the setting at *path*, such as ``scaleDown.unneededTime`` or ``groups[1].match``, came from."""
        if isinstance(path, str):
            keys = path.replace("[", ".").replace("]", "").split(".")
            path = tuple(int(key) if key.isdecimal() else key for key in keys)
        return self._tree.origin(path)

    def of_plugin_setting(self, path: Path) -> Origin:
        """Where what stands at *path* below a plugin's name came from, where nothing is a value like any other."""
        return self._tree.place(path)

    def problem(self, path: Path, message: str) -> Problem:
        """Return the mistake *message* about what stands at *path*, or about what it belongs to, with its place."""
        return self._tree.problem(path, message)


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A configuration that can be used."""

    settings: Settings
    origins: Origins
    #: What is allowed but has no effect, or most likely not the one that was meant.
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
    """Load YAML, from a path or as text called *name*, with *flags* over it; without *source* the flags say it all.

    *overrides*, values by the path of their setting, lie over both: what ``--set`` says.

    With *classes*, plugins and their settings are checked as well, and that there is a provider if it has to be
    *complete*, which is: enough to run with. A *tolerant* load only warns of an installed plugin that can't be used:
    the autoscaler starts without it. Raises `ConfigurationError` with every problem.
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
    """Return the text of the file; raises `ConfigurationError` if it can't be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        message = "is no text in UTF-8"
    except OSError as error:
        message = f"can't be read: {error.strerror or error}"
    raise ConfigurationError(Problem(message=message, source=str(path)))


def _read(source: FilePath | str | None, name: str) -> tuple[Tree, list[Problem]]:
    """Return what *source* says, which is nothing if it can't be told, and what is wrong with it as a whole."""
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
        # Whatever it is, all its keys would be unknown: say the one thing that helps.
        message = f"this is a {kind}, a configuration of Nodewright has kind: {HEADER['kind']}"
        return Tree(), [tree.problem(("kind",), message)]
    missing = [f"{key}: {value}" for key, value in HEADER.items() if tree.get((key,)) is None]
    if missing:
        problems.append(Problem(message=f"must say {' and '.join(missing)} at the top", source=name, line=1))
    return tree, problems


def _settings(data: dict[str, Any]) -> tuple[Settings, list[Mistake]]:
    """Return the settings and what is wrong; what is wrong is left out of them, so that the rest can be checked."""
    data, mistakes = copy.copy(data), []
    while True:
        settings, found = validate(Settings, data, elsewhere=_elsewhere)
        mistakes += found
        if settings is not None:
            return settings, mistakes
        for mistake in found:
            _leave_out(data, mistake.path)


def _leave_out(data: dict[str, Any], path: Path) -> None:
    """Remove the setting at *path*; a list goes as a whole, so that what remains keeps its index."""
    length = next((at for at, part in enumerate(path) if isinstance(part, int)), len(path))
    node: Any = data
    for part in path[: length - 1]:
        node = node.get(part, {})
    node.pop(path[length - 1], None)


def _unless_broken(found: Iterable[Mistake], mistakes: list[Mistake]) -> list[Mistake]:
    """Leave out what was found about settings that are not what was written, because that is wrong in itself."""
    broken = [mistake.path for mistake in mistakes]
    return [
        each
        for each in found
        if not any(path[: len(at)] == at[: len(path)] for path in (each.path, *each.others) for at in broken)
    ]


def _elsewhere(key: str) -> str:
    """End the sentence about the unknown *key* if it is a setting of another section, or a flag's name."""
    flag = FLAGS.get(key.removeprefix("--"))
    if flag is not None and flag.sets:
        return f": the flag --{flag.name} is written as {flag.sets} in YAML"
    homes = [setting.name for setting in all_settings() if setting.path[-1] == key]
    return f"; did you mean {' or '.join(homes)}?" if homes else ""


def _in_order(problems: Iterable[Problem]) -> Iterator[Problem]:
    unique = dict.fromkeys(problems)
    yield from sorted(unique, key=lambda problem: (problem.source == "flags", problem.line))
