"""What all sections of the model have in common."""

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator


def camel_case(name: str) -> str:
    """Return *name* the way YAML writes it: ``unneeded_time`` is ``unneededTime``."""
    first, *others = name.split("_")
    return first + "".join(part.title() for part in others)


class Section(BaseModel):
    """A group of settings: frozen, unknown keys are mistakes, camelCase in YAML and snake_case in Python.

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
        """Take a key without a value as not written: what remains when all that stood below it is commented out."""
        return {key: value for key, value in data.items() if value is not None} if isinstance(data, dict) else data
