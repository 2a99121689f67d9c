"""Expander ``random``: leaves the choice to chance."""

from collections.abc import Sequence

from nodewright.api import Expander, ExpanderContext, Option


class Random(Expander):
    """Picks one option, each as often as any other: whose turn it is depends on the seed and the choices before."""

    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return one of *options*."""
        return [context.whose_turn(options)]
