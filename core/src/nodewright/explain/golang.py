"""Values as Go prints them, so that programs that read Cluster Autoscaler's output can read ours."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TypeAlias

#: Plain data, as in JSON.
Data: TypeAlias = "Mapping[str, Data] | Sequence[Data] | str | int | None"

_PLAIN = re.compile(r"[A-Za-z_/](?:[\w ./,()=+@%'-]|:(?! |$))*(?<! )", re.ASCII)
#: Words that YAML does not take for text, in Go's library.
_WORDS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])
#: Text that begins like a number or a time is always quoted: every reader accepts that.
_NUMERIC = re.compile(r"[-+.]?\d|[-+]?\.(inf|nan)", re.IGNORECASE)


#: How many texts are kept: keys, states and times repeat.
_REPEATED = 1024
_ESCAPED = {'"': r"\"", "\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


def go_time(time: datetime) -> str:
    """Return *time* as ``time.Time.String`` does, such as ``2030-01-01 00:00:00.5 +0000 UTC``."""
    time = time.astimezone(UTC)
    fraction = f".{time.microsecond:06}".rstrip("0").rstrip(".")
    return f"{time:%Y-%m-%d %H:%M:%S}{fraction} +0000 UTC"


def go_duration(span: timedelta) -> str:
    """Return *span* as ``time.Duration.String`` does, such as ``1h2m3.5s``."""
    micros = abs(span) // timedelta(microseconds=1)
    sign = "-" if span < timedelta(0) else ""
    if micros < 1_000_000:
        number, unit = (micros, "µs") if micros < 1000 else (micros / 1000, "ms")
        return f"{sign}{_digits(number)}{unit}" if micros else "0s"
    minutes, rest = divmod(micros, 60_000_000)
    hours, minutes = divmod(minutes, 60)
    text = f"{_digits(rest / 1_000_000)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{text}"
    return f"{sign}{minutes}m{text}" if minutes else f"{sign}{text}"


def go_float(number: float) -> str:
    """Return *number* as ``%v`` does: ``0``, ``0.25``."""
    return repr(float(number)).removesuffix(".0")


def go_quoted(text: str) -> str:
    """Return *text* as ``%q`` does."""
    return '"' + "".join(map(_escaped, text)) + '"'


def rfc3339(time: datetime) -> str:
    """Return *time* as API objects have it."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def go_yaml(data: Mapping[str, Data]) -> str:
    """Return *data* as ``sigs.k8s.io/yaml`` marshals it: keys sorted, two spaces, lists no deeper than their key.

    Long texts stay on one line.
    """
    lines: list[str] = []
    _write(data, "", "", lines)
    return "".join(lines)


def _write(data: Mapping[str, Data], first: str, indent: str, lines: list[str]) -> None:
    """Add the lines of *data*; the first one begins with *first*, the others with *indent*."""
    for key in sorted(data):
        value, name = data[key], _text(key)
        if isinstance(value, Mapping) and value:
            lines.append(f"{first}{name}:\n")
            _write(value, indent + "  ", indent + "  ", lines)
        elif isinstance(value, Sequence) and not isinstance(value, str) and value:
            lines.append(f"{first}{name}:\n")
            for each in value:
                if isinstance(each, Mapping) and each:
                    _write(each, indent + "- ", indent + "  ", lines)
                else:
                    lines.append(f"{indent}- {_scalar(each)}\n")
        else:
            lines.append(f"{first}{name}: {_scalar(value)}\n")
        first = indent


def _scalar(value: Data) -> str:
    match value:
        case None:
            return "null"
        case int():
            return str(value)
        case Mapping():
            return "{}"
        case str():
            return _text(value)
    return "[]"


@lru_cache(_REPEATED)
def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    # YAML takes times as in `go_time` for text.
    if re.fullmatch(r"[-\d]+ [\d:.]+ \+0000 UTC", text):
        return text
    if not text.isprintable() or not text or _NUMERIC.match(text) or text.lower() in _WORDS:
        return go_quoted(text)
    return "'" + text.replace("'", "''") + "'"


def _escaped(character: str) -> str:
    if character in _ESCAPED:
        return _ESCAPED[character]
    if character.isprintable():
        return character
    return f"\\u{ord(character):04x}" if ord(character) <= 0xFFFF else f"\\U{ord(character):08x}"


def _digits(number: float) -> str:
    return f"{number:.6f}".rstrip("0").rstrip(".")
