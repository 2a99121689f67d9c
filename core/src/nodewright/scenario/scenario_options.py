"""Options of a scenario: Cluster Autoscaler's flags in camel case, read as the settings that they are here."""

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

from nodewright.api.errors import ConfigurationError, Problem
from nodewright.api.group import GroupOptions
from nodewright.config.document import HEADER, NOTHING, load
from nodewright.config.effective import default_options
from nodewright.config.flag_table import FLAGS
from nodewright.config.flags import parse_flags
from nodewright.config.model import Settings
from nodewright.config.model.base import camel_case
from nodewright.config.paths import Path
from nodewright.config.plugins import PluginClasses
from nodewright.config.tree import dump
from nodewright.config.wording import suggestion
from nodewright.objects.duration import parse_duration

#: Options that are not spelled as their flags.
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
#: Options of groups that have no flag: as an option of the scenario they hold for all groups.
_GROUPS_ONLY = ("zeroOrMaxNodeScaling", "allowNonAtomicScaleUpToMax")

#: What a scenario calls its settings.
_BASE = "settings"


def read_options(
    options: Mapping[str, Any],
    overrides: Mapping[Path, Any] = NOTHING,
    classes: PluginClasses | None = None,
    base: Mapping[str, Any] | None = None,
) -> tuple[Settings, GroupOptions]:
    """Return the settings that *options* make, and what holds for groups that have no options of their own.

    They lie over *base*, which are settings as in YAML, and *overrides*, by the path of their setting, over both. With
    *classes*, plugins are checked as well. Raises `ConfigurationError` with every option that is unknown or wrong.
    """
    known = [*_FLAG_OF, *_GROUPS_ONLY]
    words: list[str] = []
    problems = []
    for key, value in options.items():
        if key in _FLAG_OF and value is None:
            # Go writes lists that are not set so.
            continue
        if key in _FLAG_OF:
            words += [f"--{_FLAG_OF[key]}={text}" for text in _texts(key, value)]
        elif key not in _GROUPS_ONLY:
            problems.append(_problem(f"options.{key}", f"unknown option{suggestion(key, known)}"))
    option_of = {f"--{flag}": f"options.{key}" for key, flag in _FLAG_OF.items() if key in options}
    try:
        flags = parse_flags(words)
        source = dump({**HEADER, **base}) if base else None
        settings = load(source, flags=flags, overrides=overrides, classes=classes, name=_BASE, complete=False).settings
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
        path = f"nodeGroups.{group}.options.{key}" if group else f"options.{key}"
        name = _GROUP_FIELDS.get(key)
        if name is None:
            message = f"unknown option{suggestion(key, list(_GROUP_FIELDS))}"
            raise ConfigurationError(_problem(path, message))
        try:
            values[name] = _like(getattr(defaults, name), value)
        except ValueError as error:
            raise ConfigurationError(_problem(path, str(error))) from None
    return replace(defaults, **values)


def _texts(key: str, value: Any) -> list[str]:
    """Return the values as they stand on a command line, one for each time the flag is given."""
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
    """Return *value* as the type that *default* has; raises `ValueError` that says what is expected."""
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
    if problem.source == _BASE:
        return f"{_BASE}.{problem.path}".rstrip(".")
    return option_of.get(problem.path, problem.path)


def _problem(path: str, message: str) -> Problem:
    return Problem(message=message, source="scenario", path=path)
