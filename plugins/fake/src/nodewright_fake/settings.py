"""The base of everything that is written down about a fake world."""

from typing import Annotated

from nodewright.api import parse_quantity
from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic.alias_generators import to_camel


class Settings(BaseModel):
    """A part of a document: camelCase keys, unknown ones are mistakes, never changed once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, alias_generator=to_camel)


def _quantity(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{value!r} is not a quantity: write a number with an optional suffix, such as 500m, 2, 1.5Gi")
    parse_quantity(str(value))
    return str(value)


#: A Kubernetes quantity, kept as it was written.
Quantity = Annotated[str, BeforeValidator(_quantity)]
