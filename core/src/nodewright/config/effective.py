"""The options of one node group: from its rule in YAML, else from its provider, else from the general settings."""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from nodewright.api.group import GroupOptions
from nodewright.api.group_name import is_called
from nodewright.config.model import Settings
from nodewright.config.model.base import camel_case

#: The origin of a value from the provider: usually a tag or an annotation of the group.
PROVIDER = "provider"


@dataclass(frozen=True)
class _Option:
    """A field of `GroupOptions`, and where it is in the settings and in a rule under ``groups``."""

    name: str
    #: Empty if there is no general setting.
    in_settings: str
    in_rule: str


_OPTIONS = (
    _Option("scale_down_utilization_threshold", "scale_down.utilization_threshold", "scale_down.utilization_threshold"),
    _Option(
        "scale_down_gpu_utilization_threshold",
        "scale_down.gpu_utilization_threshold",
        "scale_down.gpu_utilization_threshold",
    ),
    _Option("scale_down_unneeded_time", "scale_down.unneeded_time", "scale_down.unneeded_time"),
    _Option("scale_down_unready_time", "scale_down.unready_time", "scale_down.unready_time"),
    _Option("max_node_provision_time", "health.max_node_provision_time", "max_node_provision_time"),
    _Option("max_node_startup_time", "health.max_node_startup_time", "max_node_startup_time"),
    _Option(
        "ignore_daemonsets_utilization",
        "scale_down.ignore_daemonsets_utilization",
        "scale_down.ignore_daemonsets_utilization",
    ),
    _Option("zero_or_max_node_scaling", "", "zero_or_max"),
    _Option("allow_non_atomic_scale_up_to_max", "", "allow_non_atomic_scale_up_to_max"),
)
_GENERAL = tuple((option.name, attrgetter(option.in_settings)) for option in _OPTIONS if option.in_settings)
_RULED = tuple((option.name, attrgetter(option.in_rule)) for option in _OPTIONS)


def default_options(settings: Settings) -> GroupOptions:
    """Return the options of a group without a rule and without tags: the defaults for `NodeGroup.options`."""
    return GroupOptions(**{name: get(settings) for name, get in _GENERAL})


def group_options(
    settings: Settings,
    group_id: str,
    from_provider: GroupOptions | Callable[[GroupOptions], GroupOptions] | None = None,
) -> tuple[GroupOptions, dict[str, str]]:
    """Return the options of the group, and for each field the path of the setting that it came from.

    *from_provider* is what `NodeGroup.options` returned for `default_options`, or that method itself. A field from
    the provider has the origin `PROVIDER`. A field that is not set anywhere has an empty origin.
    """
    defaults = default_options(settings)
    own = from_provider(defaults) if callable(from_provider) else from_provider or defaults
    index = next((at for at, rule in enumerate(settings.groups) if is_called(group_id, rule.match)), None)
    return _combine(settings, index, own, defaults)


def rule_options(settings: Settings, index: int) -> tuple[GroupOptions, dict[str, str]]:
    """Return the options of a group to which the rule ``groups[index]`` applies, as `group_options` does."""
    defaults = default_options(settings)
    return _combine(settings, index, defaults, defaults)


def rule_setting(field: str) -> str:
    """Return the path in a rule under ``groups`` of the *field* of `GroupOptions`."""
    return _PATHS_IN_RULE[field]


def _combine(
    settings: Settings, index: int | None, own: GroupOptions, defaults: GroupOptions
) -> tuple[GroupOptions, dict[str, str]]:
    rule = None if index is None else settings.groups[index]
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, get in _RULED:
        ruled = None if rule is None else get(rule)
        values[name] = getattr(own, name) if ruled is None else ruled
        if ruled is not None:
            origins[name] = f"groups[{index}].{_PATHS_IN_RULE[name]}"
        elif values[name] != getattr(defaults, name):
            origins[name] = PROVIDER
        else:
            origins[name] = _PATHS_IN_SETTINGS[name]
    return GroupOptions(**values), origins


def _written(place: str) -> str:
    return ".".join(map(camel_case, place.split(".")))


_PATHS_IN_SETTINGS = {option.name: _written(option.in_settings) for option in _OPTIONS}
_PATHS_IN_RULE = {option.name: _written(option.in_rule) for option in _OPTIONS}
