"""What flags of Cluster Autoscaler become: the settings that they make, and those that are lost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nodewright.api.errors import ConfigurationError, Problem
from nodewright.config.document import Loaded, load, to_yaml
from nodewright.config.flag_table import FLAGS, REMOVED
from nodewright.config.flags import Flags, Given, parse_flags
from nodewright.config.model import Settings
from nodewright.config.paths import planned
from nodewright.migration.note import Note, check, differs, hand

#: Clouds that a plugin of ours serves.
_SERVED = {"aws", "fake", "gce"}


@dataclass(frozen=True, kw_only=True)
class Flagged:
    """What a command line says to Nodewright."""

    settings: Settings
    #: The names of flags that have an effect here. The others must not be passed on: some would end the process.
    effective: frozenset[str]
    notes: tuple[Note, ...]

    @property
    def yaml(self) -> str:
        """The configuration, as a file."""
        return to_yaml(self.settings)

    @property
    def mapping(self) -> Mapping[str, Any]:
        """The configuration without its header."""
        return self.settings.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def read_flags(words: Sequence[str]) -> Flagged:
    """Return what the flags *words* of Cluster Autoscaler say. Never raises: what is wrong is left out and noted."""
    cloud = FLAGS["cloud-provider"]
    flags = parse_flags(words)
    unnamed = not any(each.flag is cloud for each in flags.given)
    if unnamed:
        # Ours has no default, because it may be on any cloud.
        flags = parse_flags([*words, f"--{cloud.name}={cloud.default}"])
    notes = [_refused(problem) for problem in flags.problems]
    flags = replace(flags, problems=())
    loaded, flags = _load(flags, notes)
    notes += [
        differs(f"--{each.flag.name}", f"has no effect: {each.flag.instead}")
        for each in flags.given
        if each.flag.instead and each.value != each.flag.default_value
    ]
    ineffective = {each.flag.name for each in flags.given if each.flag.instead}
    notes += [note for problem in loaded.warnings for note in _warned(problem, ineffective)]
    notes += [check(f"--{cloud.name}", f"{cloud.default}, the default of Cluster Autoscaler: none was given")] * unnamed
    notes += _clouds(loaded.settings)
    return Flagged(
        settings=loaded.settings,
        effective=frozenset(each.flag.name for each in flags.given) - ineffective,
        notes=tuple(notes),
    )


def _load(flags: Flags, notes: list[Note]) -> tuple[Loaded, Flags]:
    """Load what can be loaded of *flags*; return it with the flags that remain, and note the others."""
    while True:
        try:
            return load(flags=flags), flags
        except ConfigurationError as error:
            notes += [hand(problem.path or "flags", f"left out: {problem.message}") for problem in error.problems]
            flags = replace(flags, given=_remaining(flags.given, {problem.path for problem in error.problems}))


def _remaining(given: Sequence[Given], wrong: set[str]) -> tuple[Given, ...]:
    """Return those of *given* that are not at *wrong*: always fewer."""
    remaining = tuple(each for each in given if not wrong & {f"--{each.flag.name}", each.flag.sets})
    if len(remaining) < len(given):
        return remaining
    # Something does not go with a default: no flag of that section is sure.
    sections = {path.partition(".")[0] for path in wrong}
    remaining = tuple(each for each in given if each.flag.sets.partition(".")[0] not in sections)
    return remaining if len(remaining) < len(given) else ()


def _refused(problem: Problem) -> Note:
    name = problem.path.removeprefix("--")
    note = check if name in REMOVED else hand
    return note(problem.path or "flags", f"left out: {problem.message}")


def _warned(problem: Problem, ineffective: set[str]) -> Iterator[Note]:
    flag = FLAGS.get(problem.path.removeprefix("--"))
    if flag is not None and flag.name in ineffective:
        return
    waits = flag is not None and flag.sets and planned(tuple(flag.sets.split(".")))
    yield (hand if waits else check)(problem.path, problem.message)


def _clouds(settings: Settings) -> Iterator[Note]:
    for each in settings.providers:
        if each.name not in _SERVED:
            yield hand("--cloud-provider", f"there is no plugin for {each.name} yet: the image needs one of your own")
