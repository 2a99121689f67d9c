"""Expander ``priority``: the groups that the user ranks highest."""

from collections.abc import Sequence
from functools import lru_cache
from re import Pattern

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from nodewright.api import Expander, ExpanderContext, Option, PluginConfig

CONFIG_MAP = "cluster-autoscaler-priority-expander"
KEY = "priorities"

#: Patterns by priority; a group has a priority if one of its patterns is found anywhere in the group's id.
Priorities = dict[int, tuple[Pattern[str], ...]]

_PRIORITIES = TypeAdapter(Priorities)
#: Groups of a lower priority are never preferred.
_LOWEST = -1


class PriorityConfig(PluginConfig):
    """What YAML may say under ``priority``."""

    priorities: Priorities = Field(
        default={},
        description=f"regular expressions by priority, the highest wins; empty: read them from ConfigMap {CONFIG_MAP}",
    )


class Priority(Expander):
    """Keeps the groups of the highest priority that YAML or a ConfigMap gives to any of them.

    All options are kept if no group has a priority, or if the ConfigMap is missing or can't be used.
    """

    Config = PriorityConfig
    config: PriorityConfig

    @property
    def config_map(self) -> str:
        """The ConfigMap with the priorities; none if YAML has them."""
        return "" if self.config.priorities else CONFIG_MAP

    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return the options of the highest priority."""
        try:
            priorities = self.config.priorities or _read(context)
        except ValueError as error:
            self._notice(context, "PriorityConfigMapInvalid", f"{error}; all options are kept")
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

    def _notice(self, context: ExpanderContext, reason: str, message: str) -> None:
        context.notice(reason, message, config_map=self.config_map)


def _rank(group: str, priorities: Priorities) -> int | None:
    """Return the highest priority of *group*, None if it has none."""
    found = (priority for priority, patterns in priorities.items() if any(each.search(group) for each in patterns))
    return max(found, default=None)


def _read(context: ExpanderContext) -> Priorities:
    """Return the priorities in the ConfigMap; raises `ValueError` that says what is wrong with it."""
    data = context.config_maps.get(CONFIG_MAP)
    if data is None:
        raise ValueError(f"there is no ConfigMap {CONFIG_MAP}")
    if KEY not in data:
        raise ValueError(f"ConfigMap {CONFIG_MAP} has no key {KEY!r}")
    return parse(data[KEY])


@lru_cache(maxsize=1)
def parse(text: str) -> Priorities:
    """Return the priorities in *text*, data of the ConfigMap; raises `ValueError` that says what is wrong with it."""
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"{KEY!r} is no YAML: {' '.join(str(error).split())}") from None
    if not found:
        raise ValueError(f"{KEY!r} is empty")
    try:
        return _PRIORITIES.validate_python(found)
    except ValidationError as error:
        mistake = error.errors()[0]
        place = ".".join(str(part) for part in mistake["loc"])
        raise ValueError(
            f"{KEY!r} is no list of regular expressions by priority: {place and place + ': '}{mistake['msg']}"
        ) from None
