"""Expander ``most-pods``: the option that helps most pods."""

from collections.abc import Sequence

from nodewright.api import Expander, ExpanderContext, Option


class MostPods(Expander):
    """Keeps the options that help the largest number of pods."""

    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return the options that help most."""
        most = max(option.pod_count for option in options)
        return [option for option in options if option.pod_count == most]
