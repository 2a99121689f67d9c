"""Settings in a picture: those that decisions go by, and of plugins' own settings what can't be a secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import reduce
from typing import Any

from nodewright.api.errors import PluginError
from nodewright.config.model import Settings
from nodewright.config.paths import all_settings, step
from nodewright.config.plugins import PluginClasses, slot_of
from nodewright.config.reference import Reference
from nodewright.strategies import priority

#: All that decisions read. How to reach clouds and the API server stays where it is.
_SECTIONS = {"seed", "scale_up", "scale_down", "processors", "limits", "health", "groups", "hooks", "templates"}
#: Strategies that come with the core have no secrets.
_OWN = "nodewright.strategies."
#: Matches no group: a budget that names none is about all.
_NO_GROUP = "none of these groups"


@dataclass(frozen=True, kw_only=True)
class ShownSettings:
    """What is shown of a configuration."""

    #: As in YAML, without what is as it is by default.
    data: Mapping[str, Any]
    #: The settings of plugins that are not shown, such as ``scaleUp.expanders.grpc.url``.
    left_out: tuple[str, ...] = ()


def show_settings(settings: Settings, classes: PluginClasses, hidden: Mapping[str, str] | None = None) -> ShownSettings:
    """Return what is shown of *settings*.

    Of a plugin that does not come with the core only numbers and switches are: text may be a secret. Where names are
    *hidden*, names of groups have others in their place, and rules by name are left out: they are part of the groups.
    """
    data = settings.model_dump(mode="json", by_alias=True, include=_SECTIONS, exclude_defaults=True)
    if hidden is not None:
        data.pop("groups", None)
        _hide_budgets(data, hidden)
    plugins = _Plugins(classes, hidden)
    for setting in all_settings():
        slot = slot_of(setting)
        if slot is None or setting.names[0] not in _SECTIONS:
            continue
        value = setting.of(settings)
        try:
            section = reduce(step, setting.path[:-1], data)
        except LookupError:
            continue
        if setting.path[-1] in section:
            section[setting.path[-1]] = (
                plugins.show(slot.kind, setting.name, value)
                if isinstance(value, Reference)
                else [plugins.show(slot.kind, setting.name, reference) for reference in value]
            )
    return ShownSettings(data=data, left_out=tuple(plugins.left_out))


def _hide_budgets(data: Mapping[str, Any], hidden: Mapping[str, str]) -> None:
    """Write into disruption budgets the *hidden* names of the groups that their patterns match."""
    for budget in data.get("scaleDown", {}).get("disruption", {}).get("budgets", ()):
        if budget.get("groups"):
            patterns = budget["groups"]
            shown = [name for real, name in hidden.items() if any(fnmatchcase(real, pattern) for pattern in patterns)]
            budget["groups"] = shown or [_NO_GROUP]


def hide_priorities(text: str, hidden: Mapping[str, str]) -> str:
    """Return the priorities that *text*, the data of the ConfigMap, gives to groups, with other names for these."""
    try:
        found = priority.parse(text)
    except ValueError:
        # Whatever it says, the expander can't use it.
        return ""
    return "".join(
        f"{number}:\n" + "".join(f"- {pattern}\n" for pattern in patterns) if patterns else f"{number}: []\n"
        for number, patterns in _hidden(found, hidden).items()
    )


@dataclass
class _Plugins:
    """Shows references of plugins."""

    classes: PluginClasses
    hidden: Mapping[str, str] | None
    left_out: list[str] = field(default_factory=list)

    def show(self, kind: str, place: str, reference: Reference) -> str | dict[str, Any]:
        """Return what is shown of a plugin's *reference* at *place*."""
        config = dict(reference.config)
        if self._is_own(kind, reference.name):
            if self.hidden is not None and kind == "expanders" and reference.name == "priority" and config:
                config = self._hide_priorities(config)
        else:
            config = {key: value for key, value in config.items() if isinstance(value, bool | int | float)}
            self.left_out += [f"{place}.{reference.name}.{key}" for key in reference.config if key not in config]
        return Reference(name=reference.name, config=config).written()

    def _is_own(self, kind: str, name: str) -> bool:
        try:
            return self.classes.load(kind, name).__module__.startswith(_OWN)
        except PluginError:
            return False

    def _hide_priorities(self, config: dict[str, Any]) -> dict[str, Any]:
        priorities = priority.PriorityConfig.model_validate(config).priorities
        return {"priorities": _hidden(priorities, self.hidden or {})}


def _hidden(priorities: priority.Priorities, hidden: Mapping[str, str]) -> dict[int, list[str]]:
    """Return the same priorities by the hidden names of the groups that patterns match."""
    return {
        number: [f"^{shown}$" for real, shown in hidden.items() if any(each.search(real) for each in patterns)]
        for number, patterns in priorities.items()
    }
