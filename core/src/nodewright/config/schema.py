"""The JSON Schema of the file: all settings, with those of every installed plugin."""

import inspect
from collections.abc import Iterable
from functools import reduce
from typing import Any

from nodewright.api.errors import PluginError
from nodewright.api.plugin import Plugin
from nodewright.config import isolation
from nodewright.config.model import Settings
from nodewright.config.paths import PLANNED, all_settings, step
from nodewright.config.plugins import PluginClasses, slot_of
from nodewright.config.reference import Slot

Schema = dict[str, Any]


def json_schema(classes: PluginClasses) -> Schema:
    """Return the schema. It allows any settings for a plugin that can't be loaded."""
    schema = Settings.model_json_schema(by_alias=True, mode="validation")
    _write_defaults(schema)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Nodewright"
    schema["required"] = ["apiVersion", "kind"]
    for path, coming in PLANNED.items():
        field = _property(schema, path.split("."))
        field["planned"] = coming
        field["description"] = f"{field.get('description', '')} (Not in effect in this version.)".lstrip()
    for setting in all_settings():
        slot = slot_of(setting)
        if slot is not None:
            _offer_plugins(schema, _property(schema, setting.path), slot, classes)
    return schema


def _write_defaults(schema: Schema) -> None:
    """Write defaults as in YAML. Pydantic formats durations differently, and repeats the defaults of whole sections."""
    for part in (schema, *schema["$defs"].values()):
        for field in part.get("properties", {}).values():
            if "$ref" in field:
                field.pop("default", None)
    data = Settings().model_dump(mode="json", by_alias=True)
    for setting in all_settings():
        _property(schema, setting.path)["default"] = reduce(step, setting.path, data)


def _offer_plugins(schema: Schema, field: Schema, slot: Slot, classes: PluginClasses) -> None:
    choices: list[Schema] = []
    for name in classes.names(slot.kind):
        try:
            plugin = classes.load(slot.kind, name)
        except PluginError as error:
            choices += _choices(name, {"type": "object"}, f"This plugin can't be used: {error}")
        else:
            if issubclass(plugin, slot.base):
                choices += _choices(name, _settings_of(schema, slot, name, plugin), _summary(plugin))
    # JSON Schema has no empty choice: without a plugin of this kind, no value is valid.
    offer: Schema = {"anyOf": choices} if choices else {"not": {}}
    if field.get("type") == "array":
        # A list can also be written as one text with commas, as in flags.
        offer = {"anyOf": [{"type": "array", "items": offer}, {"type": "string"}]}
    kept = {key: field[key] for key in ("title", "description", "default", "planned") if key in field}
    field.clear()
    field.update(kept | offer)


def _choices(name: str, settings: Schema, description: str) -> list[Schema]:
    with_settings = {
        "type": "object",
        "properties": {name: settings},
        "required": [name],
        "additionalProperties": False,
    }
    return [{"const": name, "description": description}, with_settings | {"description": description}]


def _settings_of(schema: Schema, slot: Slot, name: str, plugin: type[Plugin]) -> Schema:
    """Add the plugin's own schema to the definitions, and return a reference to it."""
    prefix = f"{slot.kind}.{name}"
    own = plugin.Config.model_json_schema(by_alias=True, ref_template=f"#/$defs/{prefix}.{{model}}")
    own.setdefault("properties", {})[isolation.KEY] = isolation.json_schema()
    for inner, definition in own.pop("$defs", {}).items():
        schema["$defs"][f"{prefix}.{inner}"] = definition
    schema["$defs"][prefix] = own
    reference = {"$ref": f"#/$defs/{prefix}"}
    # If no setting is required, a name with nothing below it is valid as well.
    return reference if own.get("required") else {"anyOf": [reference, {"type": "null"}]}


def _property(schema: Schema, path: Iterable[str]) -> Schema:
    """Return the schema of the setting at *path*."""
    node = schema
    for key in path:
        node = node.get("items", node)
        if "$ref" in node:
            node = schema["$defs"][node["$ref"].rpartition("/")[2]]
        node = node["properties"][key]
    return node


def _summary(plugin: type[Plugin]) -> str:
    return (inspect.getdoc(plugin) or "").partition("\n")[0]
