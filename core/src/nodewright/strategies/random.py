"""Expander ``random``: leaves the choice to chance."""

from collections.abc import Sequence

from nodewright.api import Expander, ExpanderContext, Option


class Random(Expander):
    """Picks one option, each with the same chance."""

    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return one of *options*."""
        return [context.random.choice(options)]
