"""The words with which a container starts, and which of them are flags."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from nodewright.migration.documents import Document, entries, mappings
from nodewright.migration.note import Note, check, hand

#: Cluster Autoscaler's program, by the last part of its path.
PROGRAM = "cluster-autoscaler"
_SHELLS = {"sh", "bash", "ash", "dash"}
_LAUNCHERS = {"exec", "tini", "--"}
#: After these, a shell does something else than starting the program.
_SHELL_OPERATORS = re.compile(r"\d*>>?.*|\d*<.*|\|\|?.*|&&?|;")
_REFERENCE = re.compile(r"\$(\$?)\(([A-Za-z_][\w.-]*)\)")
_SHELL_REFERENCE = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")


def is_autoscaler(container: Document) -> bool:
    """Return whether *container* runs Cluster Autoscaler: by its command, or by its image."""
    words = [*entries(container, "command"), *entries(container, "args")]
    if any(PurePosixPath(part).name == PROGRAM for each in words for part in str(each).split()[:3]):
        return True
    name, _, _ = PurePosixPath(str(container.get("image", ""))).name.partition("@")
    return name.partition(":")[0].startswith(PROGRAM)


def flags_of(container: Document) -> tuple[list[str], list[Note]]:
    """Return the flags with which *container* starts, with its variables put in, and what was lost on the way."""
    words = [str(each) for each in (*entries(container, "command"), *entries(container, "args"))]
    variables = {
        str(each.get("name")): str(each["value"])
        for each in mappings(container, "env")
        if isinstance(each.get("value"), str | int | float)
    }
    notes: list[Note] = []
    if words and PurePosixPath(words[0]).name in _SHELLS:
        script, lost = _script(words[1:])
        if lost:
            notes.append(check("command", f"the shell's part is left out, and logs go to standard error: {lost}"))
        words = [_SHELL_REFERENCE.sub(lambda found: variables.get(found[1], found[0]), each) for each in script]
    words = [_REFERENCE.sub(lambda found: _referred(found, variables), each) for each in words]
    flags = []
    for each in _without_program(words):
        name, _, value = each.partition("=")
        if "$(" in each or _SHELL_REFERENCE.search(value):
            notes.append(hand(name, f"{each} has a variable that only the cluster knows: write its value"))
        else:
            flags.append(each)
    return flags, notes


def _script(words: Sequence[str]) -> tuple[list[str], str]:
    """Return the command that a shell is told to run, and the rest of what it is told."""
    text = next((each for each in words if not each.startswith("-")), "")
    try:
        parts = shlex.split(text)
    except ValueError:
        return [], text
    start = next((at for at, part in enumerate(parts) if PurePosixPath(part).name == PROGRAM), 0)
    end = next((at for at in range(start, len(parts)) if _SHELL_OPERATORS.fullmatch(parts[at])), len(parts))
    before = [part for part in parts[:start] if part not in _LAUNCHERS]
    return parts[start:end], " ".join([*before, *parts[end:]])


def _without_program(words: Sequence[str]) -> Iterator[str]:
    """Yield *words* without those before the first flag: the program and what launches it."""
    flags = False
    for each in words:
        flags = flags or (each.startswith("-") and each not in _LAUNCHERS)
        if flags:
            yield each


def _referred(found: re.Match[str], variables: Mapping[str, str]) -> str:
    escaped, name = found.groups()
    return f"$({name})" if escaped else variables.get(name, found[0])
