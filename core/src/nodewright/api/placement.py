"""Placements: where pods went in a simulation."""

from collections.abc import ItemsView, Iterator, Mapping, Sequence, ValuesView


class Placement(Mapping[str, str]):
    """Node by pod key, for as many of a set's pods as were placed: the first ones, as all are alike."""

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
        """Tell whether this is the placement of the set that has this very tuple of keys."""
        return keys is self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys[: len(self._rows)])

    def __len__(self) -> int:
        return len(self._rows)

    def items(self) -> ItemsView[str, str]:
        """Return pods with their nodes."""
        return _Items(self)

    def values(self) -> ValuesView[str]:
        """Return the node of each pod."""
        return _Values(self)

    def nodes(self) -> Iterator[str]:
        """Yield the node of each pod, in the order of the pods."""
        names = self._names
        return (names[row] for row in self._rows)


class _Items(ItemsView[str, str]):
    """Iterates over pods and nodes side by side: looking up one pod after the other is slow for large sets."""

    _mapping: Placement

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return zip(self._mapping, self._mapping.nodes(), strict=True)


class _Values(ValuesView[str]):
    """The same for nodes alone."""

    _mapping: Placement

    def __iter__(self) -> Iterator[str]:
        return self._mapping.nodes()
