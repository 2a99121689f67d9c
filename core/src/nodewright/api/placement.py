"""Placements: where pods went in a simulation."""

from collections.abc import Iterator, Mapping, Sequence


class Placement(Mapping[str, str]):
    """Node by pod key, for the first of a set's pods; which of them made no difference."""

    def __init__(self, keys: Sequence[str], rows: Sequence[int], names: Sequence[str]) -> None:
        self._keys = keys
        self._rows = rows
        self._names = names
        self._index: dict[str, int] | None = None

    def __getitem__(self, key: str) -> str:
        if self._index is None:
            self._index = {name: index for index, name in enumerate(self._keys[: len(self._rows)])}
        return self._names[self._rows[self._index[key]]]

    def of(self, keys: Sequence[str]) -> bool:
        """Tell whether this is the placement of the set with just these keys."""
        return keys is self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys[: len(self._rows)])

    def __len__(self) -> int:
        return len(self._rows)
