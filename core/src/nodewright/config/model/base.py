"""The base of all sections of the model."""

import ast
import inspect
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import Any

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema


def camel_case(name: str) -> str:
    """Return *name* as it is written in YAML: ``unneeded_time`` becomes ``unneededTime``."""
    first, *others = name.split("_")
    return first + "".join(part.title() for part in others)


class Section(BaseModel):
    """A section of settings. It is frozen, refuses unknown keys, and is camelCase in YAML and snake_case in Python.

    The text below a field is its description in the JSON Schema and in the documentation.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        alias_generator=camel_case,
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core_schema)
        described = handler.resolve_ref_schema(schema)["properties"]
        for name, text in descriptions(cls).items():
            field = cls.model_fields[name]
            # A section that says the same of itself is not described twice.
            if not isinstance(field.annotation, type) or field.annotation.__doc__ != text:
                described[field.alias or name]["description"] = text
        return schema

    @model_validator(mode="before")
    @classmethod
    def _leave_out_null(cls, data: Any) -> Any:
        """Ignore a key without a value: it remains when everything below it is commented out."""
        return {key: value for key, value in data.items() if value is not None} if isinstance(data, dict) else data


@cache
def descriptions(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the texts below the fields of *model* and its bases, by the fields' names.

    Pydantic could read them itself, but would parse each model's source whenever it is imported.
    """
    found: dict[str, str] = {}
    for kind in reversed(model.__mro__):
        if issubclass(kind, BaseModel) and kind not in (BaseModel, Section):
            (definition,) = ast.parse(dedent(inspect.getsource(kind))).body
            assert isinstance(definition, ast.ClassDef)
            for field, text in pairwise(definition.body):
                match field, text:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(written))):
                        found[name] = inspect.cleandoc(written)
    return {name: text for name, text in found.items() if name in model.model_fields}
