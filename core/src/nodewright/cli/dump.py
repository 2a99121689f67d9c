"""``nodewright dump``: writes a picture of the live cluster, to try policies on."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from nodewright.api.command import Command
from nodewright.cli.output import JSON, YAML, add_output, output_flags, output_of
from nodewright.cli.warning import warn

if TYPE_CHECKING:
    from nodewright.cli.progress import Progress
    from nodewright.config.flags import Flags
    from nodewright.scenario.scenario import Picture

_USAGE = "nodewright dump [-o json|yaml] [--output-file FILE] [--anonymize] [flags]"
_HELP = """\
Reads the cluster and its clouds once, changes nothing, and writes everything that a decision depends on as a scenario \
for `nodewright decide`: nodes, pods, the objects that they refer to, node groups, open orders, settings. The scenario \
has only the fields that decisions read: no environment, no commands, no images, no secrets, and no annotations but \
the autoscaler's and those that plugins in use declare. YAML takes much longer than JSON: use it for small clusters.

The other flags are those of `nodewright run`: --config FILE, and Cluster Autoscaler's.

Exit status: 0 written, 1 the cluster or the file can't be reached, 2 wrong usage or configuration."""
_FORMATS = (JSON, YAML)


class DumpCommand(Command):
    """Writes what a decision would be based on now."""

    passthrough: ClassVar[bool] = True
    examples: ClassVar[Mapping[str, str]] = {
        "nodewright dump --config nodewright.yaml --output-file picture.json.gz": "keep the cluster as it is now",
        "nodewright dump --config nodewright.yaml --anonymize": "the same without names, to show to others",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Describe the usage. `run` parses the words."""
        parser.usage = _USAGE
        parser.epilog = _HELP
        add_output(parser, _FORMATS)
        parser.add_argument(
            "--output-file",
            metavar="FILE",
            help="the file to write, compressed if it ends in .gz (default: standard output)",
        )
        parser.add_argument(
            "--anonymize",
            action="store_true",
            help="replace names and the values of labels by numbers; decisions stay the same",
        )

    def run(self, arguments: Namespace) -> int:
        """Write the picture."""
        from nodewright.cli.start import looking
        from nodewright.config.flag import Flag
        from nodewright.config.flags import parse_flags

        own = (*output_flags(), Flag("output-file", "string"), Flag("anonymize", "bool", "false"))
        flags = parse_flags(arguments.rest, own=own)
        form = output_of(flags, _FORMATS)
        with looking(flags) as (autoscaler, _, progress):
            picture = autoscaler.picture()
            progress.now("writing", total=picture.size)
            _write(picture, form, flags, progress)
        _warn(picture)
        return 0


def _write(picture: "Picture", form: str, flags: "Flags", progress: "Progress") -> None:
    from nodewright.scenario.files import json_pieces, new_file, yaml_pieces

    entries = picture.entries(anonymize=flags.own.get("anonymize", False))
    pieces: Iterable[bytes] = json_pieces(entries) if form == "json" else yaml_pieces(entries)
    file = flags.own.get("output-file")
    if file:
        with new_file(file) as output:
            output.writelines(_counted(pieces, progress))
        return
    sys.stdout.flush()
    for piece in _counted(pieces, progress) if not sys.stdout.isatty() else pieces:
        sys.stdout.buffer.write(piece)


def _counted(pieces: Iterable[bytes], progress: "Progress") -> Iterator[bytes]:
    for piece in pieces:
        yield piece
        progress.step()


def _warn(picture: "Picture") -> None:
    """Warn about what is missing in the picture although decisions may depend on it."""
    for place in picture.left_out:
        warn(f"{place} is left out because it may be a secret: set it with --set where you need it")
    for facts in picture.world.groups:
        if facts.error:
            warn(f"group {facts.id} is as it was read last: {facts.error}")
