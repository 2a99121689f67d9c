"""The base of all sections of the model."""

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator


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
        use_attribute_docstrings=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _leave_out_null(cls, data: Any) -> Any:
        """Ignore a key without a value: it remains when everything below it is commented out."""
        return {key: value for key, value in data.items() if value is not None} if isinstance(data, dict) else data
