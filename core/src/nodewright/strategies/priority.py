"""Expander ``priority``: the groups that the user ranks highest."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, Field, WithJsonSchema

from nodewright.api import Expander, ExpanderContext, Option, PluginConfig

CONFIG_MAP = "cluster-autoscaler-priority-expander"
KEY = "priorities"

#: Groups of a lower priority are never preferred.
_LOWEST = -1


@lru_cache(maxsize=1024)
def _compiled(expression: str) -> Any:
    """Return the compiled *expression*. Raises `ValueError` that says what is wrong with it."""
    # Loaded by those who have priorities: it takes 5 MB.
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(expression, options)
    except re2.error as error:
        why = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error)
        raise ValueError(f"{expression!r} is no regular expression of Go: {why}") from None


def _checked(expression: str) -> str:
    _compiled(expression)
    return expression


#: A regular expression as Go has them, which never backtracks.
Expression = Annotated[str, AfterValidator(_checked), WithJsonSchema({"type": "string", "format": "regex"})]
#: Expressions by priority; a group has a priority if one of its expressions is found anywhere in the group's id.
Priorities = dict[int, tuple[Expression, ...]]


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """What the ConfigMap says: the priorities that can be used, and what is wrong with the others."""

    priorities: Priorities
    mistakes: tuple[str, ...] = ()


class PriorityConfig(PluginConfig):
    """What YAML may say under ``priority``."""

    priorities: Priorities = Field(
        default={},
        description=f"regular expressions by priority, the highest wins; empty: read them from ConfigMap {CONFIG_MAP}",
    )


class Priority(Expander):
    """Keeps the groups of the highest priority that YAML or a ConfigMap gives to any of them.

    A line of the ConfigMap that is wrong is left out. If nothing of it can be used, the last one that could be used by
    this process stays in force. All options are kept if there was none, if the ConfigMap is missing, or if no group has
    a priority.
    """

    Config = PriorityConfig
    config: PriorityConfig
    #: The last that could be used.
    _last: Ranking | None = None

    @property
    def config_map(self) -> str:
        """The ConfigMap with the priorities; none if YAML has them."""
        return "" if self.config.priorities else CONFIG_MAP

    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return the options of the highest priority."""
        priorities = self.config.priorities or self._read(context)
        if not priorities:
            return options
        ranks = [_rank(option.group.id, priorities) for option in options]
        for option, rank in zip(options, ranks, strict=True):
            if rank is None:
                message = f"group {option.group.id} has no priority and is not used while groups with one can be"
                self._notice(context, "PriorityConfigMapNotMatchedGroup", message)
        highest = max((rank for rank in ranks if rank is not None), default=_LOWEST - 1)
        if highest < _LOWEST:
            message = "no group that could grow has a priority; all options are kept"
            self._notice(context, "PriorityConfigMapNoGroupMatched", message)
            return options
        return [option for option, rank in zip(options, ranks, strict=True) if rank == highest]

    def _read(self, context: ExpanderContext) -> Priorities:
        """Return the priorities in force, none if there are none; report what is wrong."""
        data = context.config_maps.get(CONFIG_MAP)
        if data is None:
            # Whoever deletes it wants no priorities.
            self._last = None
            self._invalid(context, f"there is no ConfigMap {CONFIG_MAP}; all options are kept")
            return {}
        try:
            if KEY not in data:
                raise ValueError(f"ConfigMap {CONFIG_MAP} has no key {KEY!r}")
            self._last = parse(data[KEY])
        except ValueError as error:
            rest = "all options are kept" if self._last is None else "the priorities from before stay in force"
            self._invalid(context, f"{error}; {rest}")
        else:
            for mistake in self._last.mistakes:
                self._invalid(context, f"{mistake}; it is left out, and all else is in force")
        return {} if self._last is None else self._last.priorities

    def _invalid(self, context: ExpanderContext, message: str) -> None:
        self._notice(context, "PriorityConfigMapInvalid", message)

    def _notice(self, context: ExpanderContext, reason: str, message: str) -> None:
        context.notice(reason, message, config_map=self.config_map)


def matches(expression: str, group: str) -> bool:
    """Whether *expression* is found anywhere in the id of a *group*."""
    return _compiled(expression).search(group) is not None


def _rank(group: str, priorities: Priorities) -> int | None:
    """Return the highest priority of *group*, None if it has none."""
    found = (number for number, expressions in priorities.items() if any(matches(each, group) for each in expressions))
    return max(found, default=None)


@lru_cache(maxsize=1)
def parse(text: str) -> Ranking:
    """Return the ranking in *text*, data of the ConfigMap; raises `ValueError` if nothing of it can be used."""
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"{KEY!r} is no YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise ValueError(f"{KEY!r} is nested too deeply") from None
    if not found:
        raise ValueError(f"{KEY!r} is empty")
    if not isinstance(found, dict):
        raise ValueError(f"{KEY!r} is no list of regular expressions by priority")
    priorities: Priorities = {}
    mistakes = []
    for line in _lines(found):
        if isinstance(line, str):
            mistakes.append(line)
        else:
            number, expressions = line
            priorities[number] = (*priorities.get(number, ()), *expressions)
    if not any(priorities.values()):
        raise ValueError("; ".join(mistakes) or f"{KEY!r} has no regular expression")
    return Ranking(priorities=priorities, mistakes=tuple(mistakes))


def _lines(found: Mapping[Any, Any]) -> Iterator[tuple[int, tuple[str, ...]] | str]:
    """Yield each priority with an expression, or what is wrong with it."""
    for number, expressions in found.items():
        # For Python, true is a number.
        if not isinstance(number, int) or isinstance(number, bool):
            yield f"{KEY!r} has {number!r} in place of a priority, which is a whole number"
        elif not isinstance(expressions, list | type(None)):
            yield f"{KEY!r} has no list of regular expressions under {number}"
        else:
            for expression in expressions or ():
                try:
                    yield number, (_checked(_written(expression)),)
                except ValueError as error:
                    yield f"{KEY!r} has a mistake under {number}: {error}"


def _written(expression: object) -> str:
    """Return an item of a list as text. YAML takes some for numbers, as does Go's, which goes on with the text."""
    if isinstance(expression, str):
        return expression
    if isinstance(expression, int | float) and not isinstance(expression, bool):
        return str(expression)
    raise ValueError(f"{expression!r} is no text")
