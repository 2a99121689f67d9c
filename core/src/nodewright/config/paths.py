"""Paths of settings: how they are written, found and listed, and which settings have no effect yet."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from nodewright.config.model import Section, Settings
from nodewright.config.model.base import descriptions

#: Keys and list indices from the top: ``("groups", 1, "match")``.
Path = tuple[str | int, ...]

#: Settings and whole sections that are read and checked but have no effect yet, by path without indices of lists,
#: with the feature that is still to be built. Delete the line when you build the feature.
PLANNED = {
    "loop.gracefulDegradation": "graceful degradation",
    "loop.pendingPodsTimeout": "graceful degradation",
    "scaleUp.asyncGroupCreation": "creation of node groups",
    "scaleUp.proactive": "proactive scale-up",
    "scheduling": "the scheduler's own configuration",
    "provisioningRequests": "ProvisioningRequest objects",
    "capacityBuffers": "CapacityBuffer objects",
}


def dotted(path: Path) -> str:
    """Return *path* in the usual notation: ``groups[1].match``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting of the model, as opposed to a section of settings."""

    #: The keys in YAML, from the top.
    path: tuple[str, ...]
    #: The names in Python, from the top.
    names: tuple[str, ...]
    section: type[BaseModel]
    field: FieldInfo

    @property
    def name(self) -> str:
        """The path in the usual notation."""
        return ".".join(self.path)

    @property
    def description(self) -> str:
        """What the setting does, in one line."""
        return descriptions(self.section).get(self.names[-1], "")

    def of(self, settings: BaseModel) -> Any:
        """Return the value in *settings*."""
        value: Any = settings
        for name in self.names:
            value = getattr(value, name)
        return value


def all_settings(
    model: type[BaseModel] = Settings, path: tuple[str, ...] = (), names: tuple[str, ...] = ()
) -> Iterator[Setting]:
    """Yield every setting of *model* and its sections, in the model's order."""
    for name, field in model.model_fields.items():
        here, called = (*path, field.alias or name), (*names, name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield from all_settings(field.annotation, here, called)
        else:
            yield Setting(path=here, names=called, section=model, field=field)


def planned(path: tuple[str, ...]) -> str | None:
    """Return the feature that the setting at *path* waits for, or None if the setting is in effect."""
    prefixes = (".".join(path[:length]) for length in range(len(path), 0, -1))
    return next((PLANNED[prefix] for prefix in prefixes if prefix in PLANNED), None)


def allowed_keys(model: type[BaseModel], path: Path) -> list[str]:
    """Return the keys that *model* allows in the mapping at *path*; empty if it allows any."""
    models = [model]
    for part in path:
        if isinstance(part, str):
            fields = (field for each in models for key, field in _keys(each) if key == part)
            models = [found for field in fields for found in _models_in(field.annotation)]
    return [key for each in models for key, _ in _keys(each)]


def step(data: Any, part: str | int) -> Any:
    """Return the value of *data* at *part*. Raises `LookupError` if there is none."""
    if isinstance(data, list) and isinstance(part, int):
        return data[part]
    if isinstance(data, dict):
        return data[part]
    raise LookupError(part)


def _keys(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        yield field.alias or name, field


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
