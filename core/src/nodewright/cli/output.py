"""Output for programs: the formats of ``-o``, and how data is written in them."""

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nodewright.config.flag import Flag
    from nodewright.config.flags import Flags

TABLE, JSON, YAML = "table", "json", "yaml"


def add_output(parser: ArgumentParser, formats: Sequence[str] = (TABLE, JSON, YAML)) -> None:
    """Declare ``-o``; the first of *formats* is the default."""
    parser.add_argument(
        "-o", "--output", choices=formats, default=formats[0], help="the output format (default: %(default)s)"
    )


def output_flags() -> tuple["Flag", ...]:
    """Return ``-o`` for commands whose words are read in Go's syntax; `output_of` reads the value."""
    from nodewright.config.flag import Flag

    return Flag("o", "string"), Flag("output", "string")


def output_of(flags: "Flags", formats: Sequence[str] = (TABLE, JSON, YAML)) -> str:
    """Return the format that *flags* name, by default the first of *formats*; raises `ConfigurationError`."""
    from nodewright.api.errors import ConfigurationError, Problem

    form: str = flags.own.get("output", flags.own.get("o", formats[0]))
    if form not in formats:
        message = f'must be one of {", ".join(formats)}, not "{form}"'
        raise ConfigurationError(*flags.problems, Problem(message=message, source="flags", path="--output"))
    return form


def written(data: Any, form: str) -> str:
    """Return plain *data* as text in the format *form*, which is ``json`` or ``yaml``, without a newline at its end."""
    if form == JSON:
        return json.dumps(data, indent=2)
    import yaml

    # Quoted so that readers of YAML 1.1, for whom `on` is a truth value, understand it as well.
    # By way of JSON, as its members of enumerations and tuples are plain.
    plain = json.loads(json.dumps(data))
    text: str = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=float("inf"))
    return text.rstrip("\n")
