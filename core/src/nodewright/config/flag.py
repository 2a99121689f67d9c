"""One command line flag: how its value is read, and which setting it changes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from nodewright.objects.duration import format_duration, parse_duration

#: As in Go: a ``list`` takes one item each time it is given; a ``slice`` also takes several, separated by commas.
FlagType = Literal["string", "bool", "int", "float", "duration", "list", "slice"]


def _bool(text: str) -> bool:
    if text in ("1", "t", "T", "true", "TRUE", "True"):
        return True
    if text in ("0", "f", "F", "false", "FALSE", "False"):
        return False
    raise ValueError(f'write true or false, not "{text}"')


def _int(text: str) -> int:
    digits = text.lstrip("+-")
    octal = len(digits) > 1 and digits[0] == "0" and digits.isdecimal()
    try:
        number = int(text, 8 if octal else 0)
    except ValueError:
        raise ValueError(f'write a whole number, not "{text}"') from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{text} is too large")
    return number


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f'write a number, not "{text}"') from None


_READERS: Mapping[FlagType, Callable[[str], Any]] = {
    "string": str,
    "bool": _bool,
    "int": _int,
    "float": _float,
    "duration": lambda text: format_duration(parse_duration(text)),
    "list": str,
    "slice": lambda text: [part for part in text.split(",") if part],
}


def seconds(value: int) -> str:
    """Return a number of seconds as a duration."""
    return f"{value}s"


def one(value: str) -> list[str]:
    """Return one name as a list."""
    return [value]


def cores(value: str) -> dict[str, Any]:
    """Return ``min:max`` cores as a range."""
    low, high = _range(value, value, "min:max, such as 0:320000")
    return {"min": low, "max": high}


def gibibytes(value: str) -> dict[str, Any]:
    """Return ``min:max`` GiB as a range."""
    low, high = _range(value, value, "min:max, such as 0:6400000")
    return {"min": f"{low}Gi", "max": f"{high}Gi"}


def gpus(value: Sequence[str]) -> list[dict[str, Any]]:
    """Return items of ``type:min:max`` as ranges by type."""
    ranges = []
    for item in value:
        kind, _, rest = item.partition(":")
        low, high = _range(rest, item, "type:min:max, such as nvidia-tesla-t4:0:16")
        ranges.append({"type": kind, "min": low, "max": high})
    return ranges


def drain_priorities(value: str) -> list[dict[str, Any]]:
    """Return ``priority:seconds,...`` as a list of priorities."""
    priorities = []
    for item in filter(None, value.split(",")):
        priority, _, grace = item.partition(":")
        try:
            priorities.append({"priority": int(priority), "maxGracefulTermination": f"{int(grace)}s"})
        except ValueError:
            raise ValueError(f'write priority:seconds,..., such as 10000:20,0:60, not "{value}"') from None
    return priorities


def _range(text: str, written: str, shape: str) -> tuple[int, int]:
    low, _, high = text.partition(":")
    if not (low.isdecimal() and high.isdecimal()):
        raise ValueError(f'write {shape}, not "{written}"')
    return int(low), int(high)


@dataclass(frozen=True)
class Flag:
    """A flag of Cluster Autoscaler, or one of Nodewright's own."""

    name: str
    type: FlagType
    #: As Cluster Autoscaler writes it.
    default: str = ""
    _: KW_ONLY
    #: The path of the setting that it changes, as in YAML.
    sets: str = ""
    #: For a setting of plugins: the path where they are named, the name of the plugin (empty for all), and the key.
    plugin: tuple[str, str, str] | None = None
    #: Why it has no effect in Nodewright, or what replaces it.
    instead: str = ""
    #: Whether Cluster Autoscaler ignores it as well.
    dead: bool = False
    #: The only value allowed, and why.
    only: tuple[str, str] | None = None
    #: Converts the value to what the setting takes in YAML.
    becomes: Callable[[Any], Any] | None = None

    def read(self, texts: Sequence[str]) -> Any:
        """Return the value in YAML for *texts*, which has one item for each time the flag was given.

        Raises `ValueError` with advice on how to write it.
        """
        values = [_READERS[self.type](text) for text in texts]
        match self.type:
            case "list":
                value: Any = values
            case "slice":
                value = [item for items in values for item in items]
            case _:
                value = values[-1]
        if self.only is not None and value != _READERS[self.type](self.only[0]):
            raise ValueError(self.only[1])
        return self.becomes(value) if self.becomes is not None else value

    @property
    def default_value(self) -> Any:
        """Its value in YAML if it is not given."""
        if not self.default and self.type in ("list", "slice"):
            return []
        return self.read([self.default])
