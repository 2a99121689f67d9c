"""The effective configuration: each setting, its value, and where the value came from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import reduce
from typing import Any

from nodewright.api.group import GroupOptions
from nodewright.config.document import Loaded
from nodewright.config.effective import PROVIDER, group_options, rule_options, rule_setting
from nodewright.config.paths import Path, all_settings, dotted, planned, step
from nodewright.config.plugins import slot_of
from nodewright.config.secrets import without_secrets
from nodewright.config.tree import DEFAULT, dump
from nodewright.objects.duration import format_duration


@dataclass(frozen=True, kw_only=True)
class Row:
    """One setting."""

    setting: str
    #: The value as in YAML.
    value: Any
    origin: str

    @property
    def text(self) -> str:
        """The value on one line."""
        return '""' if self.value == "" else self.value if isinstance(self.value, str) else _on_one_line(self.value)


@dataclass(frozen=True, kw_only=True)
class GroupReport:
    """The options of one group, or of all groups that match a pattern."""

    group: str
    #: Empty if no provider was asked.
    provider: str = ""
    options: tuple[Row, ...]


def setting_rows(loaded: Loaded) -> list[Row]:
    """Return every setting, without secrets. If the items of a list have settings, each of these gets a row."""
    data = without_secrets(loaded.settings.model_dump(mode="json", by_alias=True, exclude_none=True))
    rows = []
    for setting in all_settings():
        whole = loaded.origins.of(setting.path)
        idle = " (not in effect in this version)" if planned(setting.path) and whole != DEFAULT else ""
        origin_of = loaded.origins.of_plugin_setting if slot_of(setting) and whole != DEFAULT else loaded.origins.of
        for path, value in _parts(setting.path, reduce(step, setting.path, data)):
            rows.append(Row(setting=dotted(path), value=value, origin=f"{origin_of(path)}{idle}"))
    return rows


def group_report(
    loaded: Loaded, group: str, *, provider: str = "", from_provider: GroupOptions | None = None
) -> GroupReport:
    """Return the options of *group*. *from_provider* is the same as for `group_options`."""
    options, origins = group_options(loaded.settings, group, from_provider)
    return GroupReport(group=group, provider=provider, options=_option_rows(loaded, options, origins, provider))


def rule_report(loaded: Loaded, index: int) -> GroupReport:
    """Return the options of all groups to which the rule ``groups[index]`` applies."""
    options, origins = rule_options(loaded.settings, index)
    return GroupReport(group=loaded.settings.groups[index].match, options=_option_rows(loaded, options, origins))


def as_data(rows: Sequence[Row], groups: Sequence[GroupReport]) -> dict[str, Any]:
    """Return everything as data for JSON and YAML."""
    return {"settings": [asdict(row) for row in rows], "groups": [_listed(asdict(group)) for group in groups]}


def _option_rows(
    loaded: Loaded, options: GroupOptions, origins: Mapping[str, str], provider: str = ""
) -> tuple[Row, ...]:
    return tuple(
        Row(
            setting=rule_setting(name),
            value=format_duration(value) if isinstance(value, timedelta) else value,
            origin=_origin(loaded, origins[name], provider),
        )
        for name, value in asdict(options).items()
    )


def _parts(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    """Yield the settings in *value*: the value itself, or its parts if it is a mapping or a list of mappings."""
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for index, item in enumerate(value):
            yield from _parts((*path, index), item)
    elif isinstance(value, Mapping) and value:
        for key, below in value.items():
            yield from _parts((*path, key), below)
    else:
        yield path, value


def _origin(loaded: Loaded, setting: str, provider: str) -> str:
    if setting == PROVIDER:
        return f"provider {provider}".rstrip()
    origin = loaded.origins.of(setting) if setting else None
    if origin is None or str(origin) == "default":
        return "default"
    return f"{origin} ({setting})" if setting.startswith("groups[") else str(origin)


def _listed(group: dict[str, Any]) -> dict[str, Any]:
    return group | {"options": list(group["options"])}


def _on_one_line(value: Any) -> str:
    return dump(value, flow=True).removesuffix("\n").removesuffix("\n...")
