"""The command line: Cluster Autoscaler's flags in Go's syntax. They override the file."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from nodewright.api.errors import Problem
from nodewright.api.nearest import nearest
from nodewright.config.flag import Flag
from nodewright.config.flag_table import FLAGS, REMOVED
from nodewright.config.paths import Path
from nodewright.config.tree import Origin, Tree
from nodewright.config.values import split_commas

#: Nodewright's own flags of every command that takes a configuration.
OWN = (
    Flag("config", "string"),
    Flag("dry-run", "bool", "false", sets="dryRun"),
)


@dataclass(frozen=True, kw_only=True)
class Given:
    """A flag that was given, with its value as in YAML."""

    flag: Flag
    value: Any


@dataclass(frozen=True, kw_only=True)
class Flags:
    """A command line that was parsed."""

    given: tuple[Given, ...] = ()
    #: The values of the command's own flags, by name.
    own: Mapping[str, Any] = field(default_factory=dict)
    #: Words that are neither a flag nor the value of a flag.
    words: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def config(self) -> FilePath | None:
        """The file that ``--config`` names."""
        return FilePath(self.own["config"]) if self.own.get("config") else None


NO_FLAGS = Flags()


def parse_flags(argv: Sequence[str], *, own: Sequence[Flag] = (), words: int = 0) -> Flags:
    """Parse *argv* as Go does: ``-flag`` or ``--flag``, ``=value`` or the next word, booleans without a value.

    *own* are the command's own flags. At most *words* other words are allowed. Never raises: mistakes are in
    `Flags.problems`, so that they can be reported together with those of the file.
    """
    known = FLAGS | {flag.name: flag for flag in (*OWN, *own)}
    texts: dict[str, list[str]] = {}
    others: list[str] = []
    problems: list[Problem] = []
    for name, text in _split(argv, known):
        if not name:
            others.append(text or "")
        elif name not in known:
            problems.append(_problem(name, _unknown(name, known)))
        elif text is None:
            problems.append(_problem(name, "needs a value"))
        else:
            texts.setdefault(name, []).append(text)
    given = []
    for name, values in texts.items():
        try:
            given.append(Given(flag=known[name], value=known[name].read(values)))
        except ValueError as error:
            problems.append(_problem(name, str(error)))
    problems += [Problem(message=f'"{word}" is not expected here', source="flags") for word in others[words:]]
    return Flags(
        given=tuple(each for each in given if each.flag.name in FLAGS or each.flag.sets),
        own={each.flag.name: each.value for each in given if each.flag.name not in FLAGS and not each.flag.sets},
        words=tuple(others),
        problems=tuple(problems),
    )


def apply(flags: Flags, tree: Tree) -> list[Problem]:
    """Write the values of *flags* over those in *tree*. Return warnings about flags that have no effect."""
    warnings = []
    for each in flags.given:
        if each.flag.sets:
            _put(tree, tuple(each.flag.sets.split(".")), each)
    # Flags can name plugins: only now is it clear which ones there are.
    for each in flags.given:
        flag = each.flag
        if flag.plugin is not None and not _put_plugin_setting(tree, each, *flag.plugin):
            if each.value != flag.default_value:
                warnings.append(_problem(flag.name, f"has no effect: {_missing(*flag.plugin[:2])}"))
        elif flag.instead and each.value != flag.default_value:
            also = ", here or in Cluster Autoscaler" if flag.dead else ""
            warnings.append(_problem(flag.name, f"has no effect{also}: {flag.instead}"))
    return warnings


def _split(argv: Sequence[str], known: Mapping[str, Flag]) -> Iterator[tuple[str, str | None]]:
    """Yield each flag with the text of its value, or None if it is missing, and other words with an empty name."""
    words = deque(argv)
    while words:
        word = words.popleft()
        if word == "--":
            yield from (("", rest) for rest in words)
            return
        if word == "-" or not word.startswith("-"):
            yield "", word
            continue
        name, equals, text = word.removeprefix("-").removeprefix("-").partition("=")
        name = name.replace("_", "-")
        flag = known.get(name)
        if equals:
            yield name or "-", text
        elif flag is None:
            # The next word is most likely its value, and one message is enough.
            if words and not words[0].startswith("-"):
                words.popleft()
            yield name or "-", ""
        elif flag.type == "bool":
            yield name, "true"
        else:
            yield name, words.popleft() if words else None


def _put(tree: Tree, path: tuple[str, ...], given: Given) -> None:
    value = given.value
    if isinstance(value, list) and tree.place(path).flag:
        value = [*tree.get(path), *value]
    tree.put(path, value, Origin(source="flags", flag=given.flag.name))


def _put_plugin_setting(tree: Tree, given: Given, where: str, plugin: str, key: str) -> bool:
    """Write the value into the settings of those plugins. Return whether there are any."""
    path: Path = tuple(where.split("."))
    items = tree.get(path)
    if isinstance(items, str):
        items = split_commas(items)
        tree.put(path, items, tree.place(path))
    found = False
    for index, item in enumerate(items if isinstance(items, list) else ()):
        name = next(iter(item), None) if isinstance(item, dict) else item
        if not isinstance(name, str) or (plugin and name != plugin):
            continue
        settings = item[name] if isinstance(item, dict) else None
        items[index] = {name: {**(settings if isinstance(settings, dict) else {}), key: given.value}}
        tree.places[(*path, index, name, key)] = Origin(source="flags", flag=given.flag.name)
        found = True
    return found


def _missing(where: str, plugin: str) -> str:
    return f"{plugin} is not among {where}" if plugin else f"{where} is empty"


def _unknown(name: str, known: Mapping[str, Flag]) -> str:
    if name in REMOVED:
        return REMOVED[name]
    match = nearest(name, known)
    return f"unknown flag; did you mean --{match}?" if match else "unknown flag"


def _problem(name: str, message: str) -> Problem:
    return Problem(message=message, source="flags", path=f"--{name}")
