"""The codec: fields that are declared once, and walked both to read an entry of a scenario and to write it.

Whatever is wrong with an entry is a `ConfigurationError` that names the place, such as ``scaleUpRequests[0].group``.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

import msgspec

from nodewright.api.errors import ConfigurationError, Problem
from nodewright.config.model.base import camel_case
from nodewright.config.wording import suggestion
from nodewright.objects import Resources, format_resource, parse_resources
from nodewright.scenario.names import Names, Role

T = TypeVar("T")

#: A key of a scenario and its value. The value of a long list is an iterator over items that are JSON already.
Entry = tuple[str, Any]

_REQUIRED: Any = object()


class Form:
    """How a value stands in a scenario. This one takes any JSON as it is."""

    def read(self, value: Any, place: str) -> Any:
        """Return what *value* means; raises `ConfigurationError` that names *place*."""
        return value

    def write(self, value: Any, names: Names) -> Any:
        """Return the JSON for *value*, with its names as *names* has them."""
        return value


class Plain(Form):
    """JSON that msgspec reads as a *kind*.

    *parse* turns what was read into the value and may raise `ValueError`; *show* turns the value into what is written.
    """

    def __init__(
        self,
        kind: Any,
        parse: Callable[[Any], Any] | None = None,
        show: Callable[[Any, Names], Any] | None = None,
    ) -> None:
        self._kind = kind
        self._parse = parse
        self._show = show

    def read(self, value: Any, place: str) -> Any:
        """Return *value* as a *kind*, parsed."""
        try:
            found = msgspec.convert(_without_null(value), self._kind)
            return found if self._parse is None else self._parse(found)
        except ValueError as error:
            raise wrong(place, str(error)) from None
        except RecursionError:
            raise wrong(place, "is nested too deeply") from None

    def write(self, value: Any, names: Names) -> Any:
        """Return what is shown of *value*."""
        return value if self._show is None else self._show(value, names)


class ListOf(Form):
    """A list of entries of one form; read as a tuple."""

    def __init__(self, form: Form) -> None:
        self._form = form

    def read(self, value: Any, place: str) -> tuple[Any, ...]:
        """Return the entries. Kubernetes objects are named in errors."""
        return tuple(
            self._form.read(entry, f"{place}[{index}]{_called(entry)}")
            for index, entry in enumerate(a_list(value, place))
        )

    def write(self, value: Iterable[Any], names: Names) -> list[Any]:
        """Return the list."""
        return [self._form.write(entry, names) for entry in value]


class MapOf(Form):
    """A mapping of entries of one form, by names of things in a *role*; without one, the names are never hidden."""

    def __init__(self, form: Form, role: Role | None = None) -> None:
        self._form = form
        self._role = role

    def read(self, value: Any, place: str) -> dict[str, Any]:
        """Return the mapping."""
        return {name: self._form.read(entry, f"{place}.{name}") for name, entry in a_mapping(value, place).items()}

    def write(self, value: Mapping[str, Any], names: Names) -> dict[str, Any]:
        """Return the mapping by the names that are shown."""
        return {
            name if self._role is None else names.of(self._role, name): self._form.write(entry, names)
            for name, entry in value.items()
        }


class Field:
    """One key of an entry, which stands for the attribute *name*.

    The key is *name* in camel case unless it is given. Without a *default* the key is required. A default and an empty
    list or mapping are not written, unless *always* says so.
    """

    def __init__(self, name: str, kind: Any, default: Any = _REQUIRED, *, key: str = "", always: bool = False) -> None:
        self.name = name
        self.key = key or camel_case(name)
        self._form = kind if isinstance(kind, Form) else Plain(kind)
        self._default = default
        self._always = always or default is _REQUIRED

    def read(self, entry: Mapping[str, Any], place: str = "", *, default: Any = _REQUIRED) -> Any:
        """Return the value that *entry*, at *place*, has for the field. Null counts as absent: Go writes it so."""
        value = entry.get(self.key)
        default = self._default if default is _REQUIRED else default
        if value is None and default is not _REQUIRED:
            return default
        return self._form.read(value, f"{place}.{self.key}" if place else self.key)

    def write(self, value: Any, names: Names) -> dict[str, Any]:
        """Return the entry's part for *value*: the key and its JSON, or nothing."""
        # Names are noted even of what is not written.
        shown = value if value is None else self._form.write(value, names)
        left_out = self._default in (value, shown) or shown in ([], {})
        return {} if left_out and not self._always else {self.key: shown}


class Codec(Form, Generic[T]):
    """Entries whose fields *make* takes as keyword arguments.

    Fields *besides* are read and written elsewhere. Keys of the *past*, which earlier versions wrote, are ignored.
    """

    def __init__(
        self, make: Callable[..., T], *fields: Field, besides: Iterable[Field] = (), past: Iterable[str] = ()
    ) -> None:
        self._make = make
        self._fields = fields
        self._keys = [field.key for field in (*fields, *besides)]
        self._past = frozenset(past)

    def read(self, value: Any, place: str) -> T:
        """Return what the entry *value* stands for."""
        return self._make(**self.read_fields(value, place))

    def read_fields(self, entry: Any, place: str, **defaults: Any) -> dict[str, Any]:
        """Return the fields of *entry* by name; *defaults* take the place of those that were declared."""
        present = [key for key in a_mapping(entry, place) if key not in self._past]
        refuse_unknown(present, self._keys, f"{place}.")
        return {
            field.name: field.read(entry, place, default=defaults.get(field.name, _REQUIRED)) for field in self._fields
        }

    def write(self, value: T, names: Names) -> dict[str, Any]:
        """Return the entry for *value*."""
        return write_fields(self._fields, vars(value), names)


def write_fields(fields: Iterable[Field], values: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """Return the keys of *fields* with their JSON; *values* are by the fields' names."""
    entry: dict[str, Any] = {}
    for field in fields:
        entry |= field.write(values[field.name], names)
    return entry


def name_of(role: Role) -> Plain:
    """Return the form of the name of a thing in *role*."""
    return Plain(str, show=lambda value, names: names.of(role, value))


#: Resources as a node or a container has them.
AMOUNTS = Plain(
    dict[str, str | int | float],
    parse=parse_resources,
    show=lambda value, names: amounts_json(value),
)


def amounts_json(resources: Resources) -> dict[str, str]:
    """Return *resources* as quantities."""
    return {name: format_resource(name, amount) for name, amount in resources.items()}


def a_list(value: Any, place: str) -> list[Any]:
    """Return *value* if it is a list."""
    if not isinstance(value, list):
        raise wrong(place, f"write a list, not {type(value).__name__}")
    return value


def a_mapping(value: Any, place: str) -> dict[str, Any]:
    """Return *value* if it is a mapping."""
    if not isinstance(value, dict):
        raise wrong(place, f"write a mapping, not {type(value).__name__}")
    return value


def refuse_unknown(entry: Iterable[str], known: Iterable[str], place: str = "") -> None:
    """Raise `ConfigurationError` that names the first key of *entry* that is not *known*; *place* is before it."""
    for key in entry:
        if key not in known:
            raise wrong(f"{place}{key}", f"unknown key{suggestion(key, known)}")


def wrong(place: str, message: str) -> ConfigurationError:
    """Return the error about *place* in a scenario."""
    return ConfigurationError(Problem(message=message, source="scenario", path=place))


def _called(entry: Any) -> str:
    """Return `` (namespace/name)`` of a Kubernetes object, or as much of that as it has."""
    metadata = entry.get("metadata") if isinstance(entry, Mapping) else None
    if not isinstance(metadata, Mapping) or not metadata.get("name"):
        return ""
    namespace = metadata.get("namespace")
    return f" ({namespace}/{metadata['name']})" if namespace else f" ({metadata['name']})"


def _without_null(value: Any) -> Any:
    """Return *value* without what is null: Go writes lists and maps so that are not set."""
    if isinstance(value, dict):
        return {key: _without_null(each) for key, each in value.items() if each is not None}
    return [_without_null(each) for each in value] if isinstance(value, list) else value
