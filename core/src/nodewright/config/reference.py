"""References: where the YAML names a plugin, with or without settings of its own."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from nodewright.api.plugin import Plugin
from nodewright.config import isolation
from nodewright.config.isolation import ProcessIsolation


@dataclass(frozen=True, kw_only=True)
class Slot:
    """Marks a field of the model: it takes references to plugins of one kind."""

    #: The kind in the registry: ``providers``, ``expanders``, ...
    kind: str
    #: The class that these plugins have to be subclasses of.
    base: type[Plugin]


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A plugin named in YAML: ``name`` or ``{name: {setting: value}}``."""

    name: str
    #: What stands under the name, as plain JSON; `check_references` checks it against the plugin's ``Config``.
    config: Mapping[str, Any] = field(default_factory=dict, hash=False)
    #: The process of its own that the plugin runs in; None: ours.
    isolation: ProcessIsolation | None = None
    #: Where it stands in the file; empty if it came from elsewhere.
    path: tuple[str | int, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def read(cls, item: object, *, path: tuple[str | int, ...] = ()) -> "Reference":
        """Return what *item* of a YAML list (or of Python) refers to.

        Raises `ValueError` that says how to write it.
        """
        if isinstance(item, Reference):
            return item
        if isinstance(item, str) and item.strip():
            return cls(name=item.strip(), path=path)
        if not isinstance(item, dict) or not item:
            raise ValueError("write the name of a plugin, or {name: {setting: value}}")
        if len(item) > 1:
            first, second = list(item)[:2]
            raise ValueError(
                f"one plugin per item: indent {second} further if it is a setting of {first}, "
                f"or begin it with a dash if it is a plugin"
            )
        ((name, config),) = item.items()
        if config is not None and not isinstance(config, dict):
            raise ValueError(f"write the settings of {name} as {name}: {{setting: value}}")
        config = copy.deepcopy(config or {})
        apart = isolation.read(name, value) if (value := config.pop(isolation.KEY, None)) is not None else None
        return cls(name=name, config=config, isolation=apart, path=path)

    def written(self) -> str | dict[str, Any]:
        """Return this as it is written in YAML."""
        settings = dict(self.config)
        if self.isolation is not None:
            settings[isolation.KEY] = self.isolation.written()
        return {self.name: settings} if settings else self.name

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type[Any], handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.read, serialization=core_schema.plain_serializer_function_ser_schema(cls.written)
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string"}, {"type": "object", "minProperties": 1, "maxProperties": 1}]}


def unique_name(name: str, taken: Mapping[str, object]) -> str:
    """Return *name*, with a number if one configuration names it more than once."""
    number = 2
    unique = name
    while unique in taken:
        unique = f"{name}-{number}"
        number += 1
    return unique
