"""Labels of which there are few, whatever clouds and plugins think of."""

from collections.abc import Iterable

_MOST = 64
_OTHER = "other"


class Few:
    """Lets the first values through, and makes one of all that come when there are many."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = set(known)

    def of(self, value: str) -> str:
        """Return *value*, or ``other`` if there are too many before it."""
        if value not in self._known:
            if len(self._known) >= _MOST:
                return _OTHER
            self._known.add(value)
        return value
