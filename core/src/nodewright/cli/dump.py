"""``nodewright dump``: a picture of the live cluster, to try policies on."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from nodewright.api.command import Command
from nodewright.api.errors import ConfigurationError, Problem

if TYPE_CHECKING:
    from nodewright.config.flags import Flags
    from nodewright.scenario.picture import Picture

_USAGE = "nodewright dump [-o json|yaml] [--output-file FILE] [--anonymize] [flags]"
_HELP = """\
Looks at the cluster and its clouds once, changes nothing, and writes all that a decision goes by as a scenario for
`nodewright decide`: nodes, pods, what they refer to, node groups, open orders, settings. Only what decisions read is
in it: no environment, no commands, no images, no secrets, no annotations but the autoscaler's.

-o, --output json|yaml   how it is written; default: json. YAML is for small clusters: it takes much longer
--output-file FILE       where to; packed if it ends in .gz; default: standard output
--anonymize              numbers in place of names and of values of labels; decisions stay the same

Other flags are those of `nodewright run`: --config FILE, and Cluster Autoscaler's.

Exit status: 0 written, 1 cluster or file can't be reached, 2 wrong usage or configuration."""
_FORMATS = ("json", "yaml")


class DumpCommand(Command):
    """Writes what a decision would go by now."""

    passthrough: ClassVar[bool] = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what there is; the words are read by `run`."""
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
    from nodewright.scenario.picture_files import json_pieces, new_file, yaml_pieces

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
    """Tell what is not in the picture though decisions may go by it."""
    for place in picture.left_out:
        print(
            f"warning: {place} is left out, as it may be a secret: give it with --set where you need it",
            file=sys.stderr,
        )
    for facts in picture.world.groups:
        if facts.error:
            print(f"warning: group {facts.id} is as it was seen last: {facts.error}", file=sys.stderr)
