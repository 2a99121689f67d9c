"""Names and patterns that documents refer to."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated

from nodewright.api import nearest
from pydantic import AfterValidator, ValidationInfo


@dataclass(frozen=True, kw_only=True)
class Known:
    """All names that a document may refer to. Give it as the context of validation, and references are checked."""

    zones: Collection[str] = ()
    instance_types: Collection[str] = ()
    groups: Collection[str] = ()
    pools: Collection[str] = ()
    #: ``namespace/name``.
    deployments: Collection[str] = ()


def suggest(value: str, names: Collection[str]) -> str:
    """Return the end of a sentence that suggests which of *names* was meant by *value*."""
    match = nearest(value, sorted(names))
    if match is not None:
        return f"; did you mean {match!r}?"
    return f"; there are: {', '.join(sorted(names))}" if names else "; there are none"


def _reference(field: str, kind: str) -> AfterValidator:
    def check(value: str, names: Collection[str]) -> None:
        if value not in names:
            raise ValueError(f"there is no {kind} {value!r}{suggest(value, names)}")

    return _checked(field, check)


def _pattern(field: str, kind: str) -> AfterValidator:
    def check(value: str, names: Collection[str]) -> None:
        if not any(fnmatchcase(name, value) for name in names):
            raise ValueError(f"no {kind} matches {value!r}{suggest(value, names)}")

    return _checked(field, check)


def _checked(field: str, check: Callable[[str, Collection[str]], None]) -> AfterValidator:
    def validate(value: str, info: ValidationInfo) -> str:
        if isinstance(info.context, Known):
            check(value, getattr(info.context, field))
        return value

    return AfterValidator(validate)


ZoneName = Annotated[str, _reference("zones", "zone")]
InstanceTypeName = Annotated[str, _reference("instance_types", "instance type")]
GroupName = Annotated[str, _reference("groups", "group")]
GroupPattern = Annotated[str, _pattern("groups", "group")]
InstanceTypePattern = Annotated[str, _pattern("instance_types", "instance type")]
PoolPattern = Annotated[str, _pattern("pools", "capacity pool")]
