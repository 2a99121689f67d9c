"""``nodewright plugins``: what is installed, and how it is."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict, replace

from nodewright.api import Command
from nodewright.cli.commands import BUILT_IN
from nodewright.cli.table import aligned, screen_width
from nodewright.plugins.known import Known, State
from nodewright.plugins.registry import Registry

HEADER = ("KIND", "NAME", "DISTRIBUTION", "VERSION", "STATE", "WHAT IT IS, OR WHAT IS WRONG")


class PluginsCommand(Command):
    """Shows every implementation that any installed distribution registers."""

    summary = "show every plugin: where it comes from, and whether it works"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the output format."""
        parser.add_argument("-o", "--output", choices=("table", "json"), default="table", help="default: %(default)s")

    def run(self, arguments: Namespace) -> int:
        """Print them all; that some have failed is no failure of this command."""
        known = [_shadowed(each) for each in Registry().known()]
        print(as_json(known) if arguments.output == "json" else as_table(known, width=screen_width()))
        return 0


def as_table(known: Sequence[Known], *, width: int | None = None) -> str:
    """Return one line for each implementation, or as many as its last column needs to stay within *width*."""
    rows = [
        (each.kind, each.name, each.distribution, each.version, str(each.state), each.reason or each.description)
        for each in known
    ]
    return aligned([HEADER, *rows], width=width)


def as_json(known: Sequence[Known]) -> str:
    """Return a JSON list with one object for each implementation."""
    return json.dumps([asdict(each) for each in known], indent=2)


def _shadowed(known: Known) -> Known:
    if known.kind == "commands" and known.name in BUILT_IN:
        return replace(known, state=State.FAILED, reason="not used: nodewright itself has a command of this name")
    return known
