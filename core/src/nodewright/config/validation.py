"""Validation: plain data against a pydantic model, with all mistakes in plain words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from nodewright.config.paths import Path, allowed_keys, step
from nodewright.config.secrets import is_secret
from nodewright.config.wording import describe, suggestion

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """A mistake at a path."""

    path: Path
    message: str
    #: Other settings that are involved.
    others: tuple[Path, ...] = ()
    #: Whether it only prevents the use of one installed plugin.
    of_plugin: bool = False

    def below(self, path: Path) -> "Mistake":
        """Return the same mistake, with *path* in front of its own path."""
        return Mistake(path=(*path, *self.path), message=self.message)


def validate(
    model: type[M], data: Mapping[str, Any], *, elsewhere: Callable[[str], str] = lambda key: ""
) -> tuple[M | None, list[Mistake]]:
    """Return *data* as a *model*, or None and all mistakes in it.

    *elsewhere* gets an unknown key. It returns the end of the message about that key if it knows where the key belongs,
    and an empty text otherwise. Messages do not quote secrets.
    """
    try:
        return model.model_validate(data, by_alias=True, by_name=False), []
    except ValidationError as error:
        messages: dict[Path, list[str]] = {}
        for details in error.errors(include_url=False):
            path = _path_in(model, data, details)
            message = (
                _unknown(model, path, elsewhere)
                if details["type"] == "extra_forbidden"
                else describe(details, secret=any(map(is_secret, path)))
            )
            # A value that fits none of several types is one mistake; pydantic reports one for each type.
            said = messages.setdefault(path, [])
            if message not in said:
                said.append(message)
        return None, [Mistake(path=path, message=", or ".join(said)) for path, said in messages.items()]


def _unknown(model: type[BaseModel], path: Path, elsewhere: Callable[[str], str]) -> str:
    key = str(path[-1])
    allowed = allowed_keys(model, path[:-1])
    hint = suggestion(key, allowed)
    return "unknown setting" + (hint if hint.endswith("?") else elsewhere(key) or hint)


def _path_in(model: type[BaseModel], data: Any, details: ErrorDetails) -> Path:
    """Return the path of the mistake in *data*, without the names of types that pydantic adds."""
    path: Path = ()
    for part in details["loc"]:
        try:
            data = step(data, part)
        except LookupError:
            # It is not written, but may be a setting that is missing, or whose default is wrong.
            if part not in allowed_keys(model, path):
                continue
            data = None
        path = (*path, part)
    return path
