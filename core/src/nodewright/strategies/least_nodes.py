"""Expander ``least-nodes``: the option that takes the fewest nodes."""

from collections.abc import Sequence

from nodewright.api import Expander, ExpanderContext, Option


class LeastNodes(Expander):
    """Keeps the options that take the smallest number of nodes; one that takes none is no option."""

    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return the options that take fewest."""
        fewest = min((option.nodes for option in options if option.nodes), default=0)
        return [option for option in options if option.nodes and option.nodes == fewest]
