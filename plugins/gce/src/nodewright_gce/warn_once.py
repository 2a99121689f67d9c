"""Warnings that are logged once, and not in each loop."""

import logging
from collections.abc import Hashable, Mapping

_log = logging.getLogger(__name__)


class WarnOnce:
    """Logs each trouble when it begins; again only if it was gone in between. For one thread."""

    def __init__(self) -> None:
        self._logged: frozenset[Hashable] = frozenset()

    def warn(self, troubles: Mapping[Hashable, str]) -> None:
        """Log the new ones among all present *troubles*: sentences by a key that identifies each."""
        for key, sentence in troubles.items():
            if key not in self._logged:
                _log.warning("%s", sentence)
        self._logged = frozenset(troubles)
