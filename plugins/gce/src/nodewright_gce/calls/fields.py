"""The parameter ``fields``: asks Google for what is read, and for nothing else."""

from functools import cache
from typing import Any, get_args

import msgspec


@cache
def fields_of(kind: type[msgspec.Struct]) -> str:
    """Return all fields of *kind*, and those of structs in it, such as ``name,status(isStable,autoscaler)``.

    Google refuses fields that it does not have. Where it has less of a struct than elsewhere, the annotation of that
    field says so: ``msgspec.Meta(extra={"fields": "code,message"})``.
    """
    return ",".join(_field(field.encode_name, field.type) for field in msgspec.structs.fields(kind))


def _field(name: str, kind: Any) -> str:
    parts = (kind, *get_args(kind))
    fewer = next((each.extra["fields"] for each in parts if isinstance(each, msgspec.Meta) and each.extra), None)
    inner = next((each for each in parts if _is_struct(each)), None)
    # The values of a mapping come whole.
    if inner is None or _is_mapping(kind):
        return name
    return f"{name}({fewer or fields_of(inner)})"


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _is_mapping(kind: Any) -> bool:
    return hasattr(getattr(kind, "__origin__", None), "keys")
