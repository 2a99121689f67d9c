"""Isolation: what YAML may say of the process that a plugin runs in."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, TypeAdapter

from nodewright.config.values import Bytes, PositiveDuration

#: The key beside a plugin's own settings.
KEY = "isolation"
#: What Python and the contract take by themselves, with some room.
_LEAST_MEMORY = 128 << 20

_EXAMPLE = "write process, or {process: {memory: 512Mi, deadline: 10s}}"


def _enough(memory: int) -> int:
    if memory < _LEAST_MEMORY:
        raise ValueError("must be at least 128Mi: Python takes half of that")
    return memory


def _read(value: object) -> object:
    if value == "process":
        return {"process": {}}
    if not isinstance(value, dict):
        raise ValueError(_EXAMPLE)
    return {key: {} if inner is None else inner for key, inner in value.items()}


class _Base(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class ProcessIsolation(_Base):
    """A process of the plugin's own."""

    memory: Annotated[Bytes, AfterValidator(_enough)] | None = None
    """How much memory the process may take. Without a limit, as much as there is."""
    deadline: PositiveDuration | None = None
    """How long a call may take before the process is ended. By default loop.refreshTimeout for the refresh of a
    provider, loop.actionTimeout for its actions, and 10s for all other calls."""

    def written(self) -> Any:
        """Return this as it is written in YAML, below the key."""
        limits = self.model_dump(mode="json", exclude_none=True)
        return {"process": limits} if limits else "process"


class _Choice(_Base):
    process: ProcessIsolation
    """Run the plugin in a process of its own."""


class _Settings(BaseModel):
    """What `KEY` is a key of, for the place of mistakes."""

    isolation: Annotated[_Choice, BeforeValidator(_read)]


_READER = TypeAdapter(dict[str, _Settings])


def read(name: str, value: object) -> ProcessIsolation:
    """Return *value*, which is written below the key under the plugin *name*.

    Raises pydantic's `ValidationError`, whose places begin with the name.
    """
    return _READER.validate_python({name: {KEY: value}})[name].isolation.process


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of what is written below the key."""
    schema = ProcessIsolation.model_json_schema()
    choice = {
        "type": "object",
        "properties": {"process": schema},
        "required": ["process"],
        "additionalProperties": False,
    }
    return {
        "description": "Where the plugin runs. By default, in Nodewright's own process.",
        "anyOf": [{"const": "process"}, choice],
    }
