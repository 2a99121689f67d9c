"""``nodewright why``: what would happen to a pod, a node or a group now, and for what reasons."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from typing import ClassVar

from nodewright.api.command import Command

_USAGE = "nodewright why pod NAMESPACE/NAME | node NAME | group NAME [flags]"
_HELP = """\
Looks at the cluster once and decides as the loop would, but does nothing: how long a node has been unneeded, and which
groups are backed off, is read from what the running autoscaler remembers, and left as it is.

Flags are those of `nodewright run`: --config FILE, and Cluster Autoscaler's."""


class WhyCommand(Command):
    """Asks one question of one decision."""

    passthrough: ClassVar[bool] = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say what there is; the words are read by `run`."""
        parser.usage = _USAGE
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = _HELP

    def run(self, arguments: Namespace) -> int:
        """Print the answer; 1 if there is no such thing, 2 for wrong usage."""
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
