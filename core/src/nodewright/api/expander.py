"""Expanders: which of several ways to grow is taken."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random

from nodewright.api.option import Option
from nodewright.api.plugin import Plugin
from nodewright.api.pricing import PricingModel


@dataclass(frozen=True, kw_only=True)
class ExpanderContext:
    """What an expander may know besides the options."""

    now: datetime
    #: The only source of chance: seeded, so that a replay chooses the same.
    random: Random
    #: Nodes in the cluster now, those on their way included.
    cluster_size: int
    #: Prices by provider name, where it has them.
    pricing: dict[str, PricingModel]


class Expander(Plugin):
    """Narrows options down; the chain in YAML runs until one is left, then chance decides.

    Called on the loop's thread while a decision is made. Must be pure: same input, same answer; no I/O, no clock.
    An exception makes the chain go on as if this expander had kept all options.
    """

    @abstractmethod
    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return those of *options* (at least two) that are best, in their order; ties are left to the next expander.

        An empty answer means that none is acceptable: no scale-up in this loop.
        """
