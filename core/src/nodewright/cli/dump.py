"""``nodewright dump``: writes a picture of the live cluster, to try policies on."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from nodewright.api.command import Command
from nodewright.api.errors import ConfigurationError, Problem

if TYPE_CHECKING:
    from nodewright.config.flags import Flags
    from nodewright.scenario.scenario import Picture

_USAGE = "nodewright dump [-o json|yaml] [--output-file FILE] [--anonymize] [flags]"
_HELP = """\
Reads the cluster and its clouds once, changes nothing, and writes everything that a decision depends on as a scenario
for `nodewright decide`: nodes, pods, the objects that they refer to, node groups, open orders, settings. The scenario
has only the fields that decisions read: no environment, no commands, no images, no secrets, and no annotations but the
autoscaler's and those that plugins in use declare.

-o, --output json|yaml   the output format; default: json. YAML takes much longer: use it for small clusters
--output-file FILE       the file to write, compressed if it ends in .gz; default: standard output
--anonymize              replace names and the values of labels by numbers; decisions stay the same

The other flags are those of `nodewright run`: --config FILE, and Cluster Autoscaler's.

Exit status: 0 written, 1 the cluster or the file can't be reached, 2 wrong usage or configuration."""
_FORMATS = ("json", "yaml")


class DumpCommand(Command):
    """Writes what a decision would be based on now."""

    passthrough: ClassVar[bool] = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Describe the usage. `run` parses the words."""
        parser.usage = _USAGE
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = _HELP

    def run(self, arguments: Namespace) -> int:
        """Write the picture."""
        from nodewright.cli.start import autoscaler_for
        from nodewright.config.flag import Flag
        from nodewright.config.flags import parse_flags

        own = (
            Flag("o", "string", "json"),
            Flag("output", "string", "json"),
            Flag("output-file", "string"),
            Flag("anonymize", "bool", "false"),
        )
        flags = parse_flags(arguments.rest, own=own)
        form = flags.own.get("output", flags.own.get("o", "json"))
        if form not in _FORMATS:
            message = f'must be one of {", ".join(_FORMATS)}, not "{form}"'
            raise ConfigurationError(Problem(message=message, source="flags", path="--output"))
        autoscaler, _ = autoscaler_for(arguments.rest, own=own)
        try:
            autoscaler.start()
            autoscaler.glance_at_memory()
            picture = autoscaler.picture()
            _warn(picture)
            _write(picture, form, flags)
        finally:
            autoscaler.close()
        return 0


def _write(picture: "Picture", form: str, flags: "Flags") -> None:
    from nodewright.scenario.files import json_pieces, new_file, yaml_pieces

    entries = picture.entries(anonymize=flags.own.get("anonymize", False))
    pieces: Iterable[bytes] = json_pieces(entries) if form == "json" else yaml_pieces(entries)
    file = flags.own.get("output-file")
    if file:
        with new_file(file) as output:
            output.writelines(pieces)
        return
    sys.stdout.flush()
    for piece in pieces:
        sys.stdout.buffer.write(piece)


def _warn(picture: "Picture") -> None:
    """Warn about what is missing in the picture although decisions may depend on it."""
    for place in picture.left_out:
        print(
            f"warning: {place} is left out because it may be a secret: set it with --set where you need it",
            file=sys.stderr,
        )
    for facts in picture.world.groups:
        if facts.error:
            print(f"warning: group {facts.id} is as it was read last: {facts.error}", file=sys.stderr)
