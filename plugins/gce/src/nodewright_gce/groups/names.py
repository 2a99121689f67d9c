"""Names of machines that are ordered, and ids of orders."""

from collections.abc import Collection
from random import Random
from threading import Lock
from uuid import UUID

#: As in Cluster Autoscaler: no vowels, so no words, and nothing that looks like something else.
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_LENGTH = 4


class Names:
    """Makes names and ids up. Safe to use from any thread."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._lock = Lock()

    def machines(self, base: str, count: int, taken: Collection[str]) -> tuple[str, ...]:
        """Return *count* names of machines of a MIG with that base name, none of which is *taken*."""
        names: dict[str, None] = {}
        while len(names) < count:
            name = f"{base}-{self._letters(_LENGTH)}"
            if name not in taken:
                names[name] = None
        return tuple(names)

    def resize_request(self) -> str:
        """Return the name of a new resize request."""
        return f"nodewright-{self._letters(2 * _LENGTH)}"

    def request_id(self) -> str:
        """Return an id by which Google knows a repeated request again."""
        with self._lock:
            return str(UUID(int=self._random.getrandbits(128), version=4))

    def _letters(self, count: int) -> str:
        with self._lock:
            return "".join(self._random.choices(_ALPHABET, k=count))
