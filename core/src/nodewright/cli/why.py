"""``nodewright why``: what would happen to a pod, a node or a group now, and why."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from typing import ClassVar

from nodewright.api.command import Command

_USAGE = "nodewright why pod NAMESPACE/NAME | node NAME | group NAME [flags]"
_HELP = """\
Reads the cluster once and decides as the loop would, but changes nothing. It also reads the memory of the running
autoscaler: how long a node has been unneeded, and which groups are backed off.

The flags are those of `nodewright run`: --config FILE, and Cluster Autoscaler's."""


class WhyCommand(Command):
    """Answers one question about one decision."""

    passthrough: ClassVar[bool] = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Describe the usage. `run` parses the words."""
        parser.usage = _USAGE
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = _HELP

    def run(self, arguments: Namespace) -> int:
        """Print the answer. Return 1 if there is no such object, and 2 for wrong usage."""
        from nodewright.cli.start import autoscaler_for
        from nodewright.explain import explanation

        explain = {
            "pod": explanation.explain_pod,
            "node": explanation.explain_node,
            "group": explanation.explain_group,
        }
        match arguments.rest:
            case [kind, name, *flags] if kind in explain and not name.startswith("-"):
                autoscaler, _ = autoscaler_for(flags)
            case _:
                print(f"usage: {_USAGE}", file=sys.stderr)
                return 2
        try:
            autoscaler.start()
            autoscaler.glance_at_memory()
            print("\n".join(explain[kind](autoscaler.look(), name)))
        finally:
            autoscaler.close()
        return 0
