"""The settings of a scenario: those of Nodewright's YAML, and over them options, which are Cluster Autoscaler's flags.

Settings are written without what may be a secret, and options only for single groups.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from functools import reduce
from typing import Any

from nodewright.api.errors import ConfigurationError, PluginError, Problem
from nodewright.api.group import GroupOptions
from nodewright.api.group_name import is_called
from nodewright.config.document import HEADER, NOTHING, load
from nodewright.config.effective import default_options
from nodewright.config.flag_table import FLAGS
from nodewright.config.flags import parse_flags
from nodewright.config.model import Settings
from nodewright.config.model.base import camel_case
from nodewright.config.paths import Path, all_settings, step
from nodewright.config.plugins import PluginClasses, slot_of
from nodewright.config.reference import Reference
from nodewright.config.tree import dump
from nodewright.config.wording import suggestion
from nodewright.objects.duration import format_duration, parse_duration
from nodewright.scenario.fields import Field, Form, MapOf, wrong
from nodewright.strategies import priority

#: Options whose names differ from their flags.
_IRREGULAR = {
    "balancingIgnoreLabels": "balancing-ignore-label",
    "balancingLabels": "balancing-label",
    "blockingSystemPodDisruptionTimeout": "blocking-system-pod-distruption-timeout",
    "enforceNodeGroupMinSize": "enforce-node-group-min-size",
    "forceDaemonSets": "force-ds",
    "ignoreDaemonSetsUtilization": "ignore-daemonsets-utilization",
    "maxNodeGroupBinpackingDuration": "max-nodegroup-binpacking-duration",
    "maxNodesPerScaleUp": "max-nodes-per-scaleup",
    "memoryTotalGiB": "memory-total",
    "startupTaintPrefixes": "startup-taint-prefix",
    "startupTaints": "startup-taint",
    "statusTaints": "status-taint",
    "unremovableNodeRecheckTimeout": "unremovable-node-recheck-timeout",
}
_FLAG_OF = {re.sub(r"-(\w)", lambda match: match[1].upper(), name): name for name in FLAGS} | _IRREGULAR
_GROUP_FIELDS = {camel_case(each.name): each.name for each in fields(GroupOptions)} | {
    "ignoreDaemonSetsUtilization": "ignore_daemonsets_utilization"
}
#: Options of groups without a flag. As an option of the scenario, they hold for all groups.
_GROUPS_ONLY = ("zeroOrMaxNodeScaling", "allowNonAtomicScaleUpToMax")

#: The sections that decisions read. How to reach clouds and the API server is not shown.
_SECTIONS = {"seed", "scale_up", "scale_down", "processors", "limits", "health", "groups", "hooks", "templates"}
#: Strategies that come with the core have no secrets.
_OWN = "nodewright.strategies."
#: Matches no group. A budget without groups would hold for all.
_NO_GROUP = "none of these groups"

OPTIONS = Field("options", MapOf(Form()), {})
SETTINGS = Field("settings", MapOf(Form()), {})
#: The data of the ConfigMap of the expander ``priority``.
PRIORITIES = Field("priorities", str, None, key="priorityConfig")


def read_settings(
    document: Mapping[str, Any], overrides: Mapping[Path, Any] = NOTHING, classes: PluginClasses | None = None
) -> tuple[Settings, GroupOptions]:
    """Return the settings of *document*, and what holds for groups that have no options of their own.

    Options lie over settings, and *overrides*, by the path of their setting, over both. With *classes*, plugins are
    checked as well. Raises `ConfigurationError` with every option that is unknown or wrong.
    """
    options, base = OPTIONS.read(document), SETTINGS.read(document)
    words: list[str] = []
    problems = []
    for key, value in options.items():
        if key in _FLAG_OF and value is not None:
            words += [f"--{_FLAG_OF[key]}={text}" for text in _texts(key, value)]
        elif key not in _FLAG_OF and key not in _GROUPS_ONLY:
            known = [*_FLAG_OF, *_GROUPS_ONLY]
            problems.append(_problem(f"{OPTIONS.key}.{key}", f"unknown option{suggestion(key, known)}"))
    option_of = {f"--{flag}": f"{OPTIONS.key}.{key}" for key, flag in _FLAG_OF.items() if key in options}
    try:
        flags = parse_flags(words)
        source = dump({**HEADER, **base}) if base else None
        name = SETTINGS.key
        settings = load(source, flags=flags, overrides=overrides, classes=classes, name=name, complete=False).settings
    except ConfigurationError as error:
        problems += [_problem(_place(each, option_of), each.message) for each in error.problems]
    if problems:
        raise ConfigurationError(*problems)
    shared = {key: options[key] for key in _GROUPS_ONLY if key in options}
    return settings, read_group_options(shared, default_options(settings), "")


def read_group_options(options: Mapping[str, Any], defaults: GroupOptions, group: str) -> GroupOptions:
    """Return the options of *group*, laid over *defaults*; raises `ConfigurationError` that names group and option."""
    values: dict[str, Any] = {}
    for key, value in options.items():
        path = f"nodeGroups.{group}.{OPTIONS.key}.{key}" if group else f"{OPTIONS.key}.{key}"
        name = _GROUP_FIELDS.get(key)
        if name is None:
            raise wrong(path, f"unknown option{suggestion(key, list(_GROUP_FIELDS))}")
        try:
            values[name] = _like(getattr(defaults, name), value)
        except ValueError as error:
            raise wrong(path, str(error)) from None
    return replace(defaults, **values)


def write_group_options(options: GroupOptions, defaults: GroupOptions) -> dict[str, Any]:
    """Return those of a group's *options* that differ from *defaults*."""
    values = {each.name: getattr(options, each.name) for each in fields(GroupOptions)}
    return {
        camel_case(name): format_duration(value) if isinstance(value, timedelta) else value
        for name, value in values.items()
        if value != getattr(defaults, name)
    }


def _texts(key: str, value: Any) -> list[str]:
    """Return *value* as on a command line, one text for each time the flag is given."""
    match value:
        case bool():
            return [str(value).lower()]
        case [int() as low, int() as high]:
            return [f"{low}:{high}"]
        case list() if key == "gpuTotal":
            return [":".join(str(_entry(limit, name)) for name in ("type", "min", "max")) for limit in value]
        case list():
            return [str(item) for item in value]
    return [str(value)]


def _entry(limit: Any, name: str) -> Any:
    return limit.get(name, "") if isinstance(limit, Mapping) else ""


def _like(default: Any, value: Any) -> Any:
    """Return *value* as the type of *default*; raises `ValueError` that says what is expected."""
    match default:
        case bool():
            if not isinstance(value, bool):
                raise ValueError(f"write true or false, not {value!r}")
            return value
        case timedelta():
            return parse_duration(str(value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"write a number, not {value!r}")
    return float(value)


def _place(problem: Problem, option_of: Mapping[str, str]) -> str:
    if problem.source == SETTINGS.key:
        return f"{SETTINGS.key}.{problem.path}".rstrip(".")
    return option_of.get(problem.path, problem.path)


def _problem(path: str, message: str) -> Problem:
    return Problem(message=message, source="scenario", path=path)


@dataclass(frozen=True, kw_only=True)
class ShownSettings:
    """What is shown of a configuration."""

    #: As in YAML, without defaults.
    data: Mapping[str, Any]
    #: The settings of plugins that are not shown, such as ``scaleUp.expanders.grpc.url``.
    left_out: tuple[str, ...] = ()


def show_settings(settings: Settings, classes: PluginClasses, hidden: Mapping[str, str] | None = None) -> ShownSettings:
    """Return what is shown of *settings*.

    Of plugins that do not come with the core, only numbers and switches are shown: text may be a secret. With *hidden*
    names, by real ones, groups have these, and rules for groups by name are left out: they are part of the groups.
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
    """Replace patterns in disruption budgets by the *hidden* names of the groups that they match."""
    for budget in data.get("scaleDown", {}).get("disruption", {}).get("budgets", ()):
        if budget.get("groups"):
            patterns = budget["groups"]
            shown = [name for real, name in hidden.items() if any(is_called(real, pattern) for pattern in patterns)]
            budget["groups"] = shown or [_NO_GROUP]


def hide_priorities(text: str, hidden: Mapping[str, str]) -> str:
    """Return *text*, the data of the ConfigMap, with the *hidden* names of groups in place of patterns."""
    try:
        found = priority.parse(text).priorities
    except ValueError:
        # The expander can't use it either.
        return ""
    return "".join(
        f"{number}:\n" + "".join(f"- {pattern}\n" for pattern in patterns) if patterns else f"{number}: []\n"
        for number, patterns in _hidden(found, hidden).items()
    )


@dataclass
class _Plugins:
    """Shows references to plugins."""

    classes: PluginClasses
    hidden: Mapping[str, str] | None
    left_out: list[str] = field(default_factory=list)

    def show(self, kind: str, place: str, reference: Reference) -> str | dict[str, Any]:
        """Return what is shown of a plugin's *reference* at *place*."""
        config = dict(reference.config)
        # A plugin in a process of its own is not imported here.
        if reference.isolation is None and self._is_own(kind, reference.name):
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
    """Return *priorities* with the *hidden* names of the groups that patterns match."""
    return {
        number: [
            f"^{shown}$" for real, shown in hidden.items() if any(priority.matches(each, real) for each in patterns)
        ]
        for number, patterns in priorities.items()
    }
