"""What a loop can do without: tried, and told of once if it fails."""

import logging
from collections.abc import Callable

from nodewright.api import NodewrightError

_log = logging.getLogger(__name__)


class Attempts:
    """Remembers what is wrong with each thing that was tried. For one thread."""

    def __init__(self) -> None:
        self._trouble: dict[str, str] = {}

    def make(self, what: str, attempt: Callable[[], None]) -> None:
        """Run *attempt*, which reads *what*; whatever it raises is logged when it begins and when it is over."""
        try:
            attempt()
        except NodewrightError as error:
            self._note(what, str(error) or type(error).__name__)
        except Exception as error:
            if self._note(what, f"{type(error).__name__}: {error}"):
                _log.exception("reading %s failed, which is a fault of nodewright-aws", what)
        else:
            if self._trouble.pop(what, ""):
                _log.info("%s can be read again", what)

    def _note(self, what: str, trouble: str) -> bool:
        """Log *trouble* unless it is known; tell whether it is new."""
        if self._trouble.get(what) == trouble:
            return False
        self._trouble[what] = trouble
        _log.warning("%s could not be read, and what was known of them stays: %s", what, trouble)
        return True
