"""Troubles that people are told of once, and not in each loop."""

import logging
from collections.abc import Hashable, Mapping

_log = logging.getLogger(__name__)


class Troubles:
    """Warns of each trouble when it begins; again only if it was over in between."""

    def __init__(self) -> None:
        self._told: frozenset[Hashable] = frozenset()

    def tell(self, present: Mapping[Hashable, str]) -> None:
        """Warn of what is new among all troubles that there are now: sentences by what tells one from another."""
        for trouble, sentence in present.items():
            if trouble not in self._told:
                _log.warning("%s", sentence)
        self._told = frozenset(present)
