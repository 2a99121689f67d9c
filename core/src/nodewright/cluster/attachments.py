"""Attachments: the volumes that storage drivers have attached to each node, and how many each node can take."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from nodewright.cluster.node_table import Counts, NodeTable, Rows
from nodewright.cluster.pod_class import PodClass

#: A volume as its driver knows it: the driver's name and the volume's.
Attachment = tuple[str, str]

_NO_LIMIT = np.iinfo(np.int32).max


@dataclass(kw_only=True)
class _Use:
    """Where the pods of a class run, and what must be attached for one of them."""

    needs: frozenset[Attachment]
    #: Number of pods by row.
    at: dict[int, int] = field(default_factory=dict)


class Attachments:
    """Follows the pods that have volumes. A volume that several pods of a node use counts once there."""

    def __init__(self, table: NodeTable, needs: Callable[[PodClass], frozenset[Attachment]]) -> None:
        self._table = table
        self._needs = needs
        self._uses: dict[PodClass, _Use] = {}
        #: The classes that use a claim, by the claim's key.
        self._users: dict[str, dict[PodClass, None]] = {}
        #: Number of pods by row, for each volume.
        self._attached: dict[Attachment, dict[int, int]] = {}
        self._counts: dict[str, Counts] = {}
        self._limits: dict[str, Counts] = {}

    def add(self, pod_class: PodClass, rows: Rows | int, numbers: Rows | int) -> None:
        """Follow pods that came (or, with negative *numbers*, went)."""
        use = self._uses.get(pod_class)
        if use is None:
            use = self._uses[pod_class] = _Use(needs=self._needs(pod_class))
            for key in pod_class.claim_keys:
                self._users.setdefault(key, {})[pod_class] = None
        for row, number in _pairs(rows, numbers):
            _change(use.at, row, number)
            self._attach(use.needs, row, number)
        if not use.at:
            del self._uses[pod_class]
            for key in pod_class.claim_keys:
                users = self._users.get(key, {})
                users.pop(pod_class, None)
                if not users:
                    self._users.pop(key, None)

    def renew(self, claims: Iterable[str]) -> None:
        """Recompute what is attached for the pods that use *claims*, given by their keys."""
        for pod_class in {user: None for claim in claims for user in self._users.get(claim, ())}:
            self._renew(pod_class)

    def renew_all(self) -> None:
        """Recompute what is attached for all pods."""
        for pod_class in self._uses:
            self._renew(pod_class)

    def users(self, claim: str) -> Iterable[PodClass]:
        """Return the classes with pods on nodes that use *claim*, given by its key."""
        return self._users.get(claim, ())

    def homes(self) -> Iterable[tuple[PodClass, Iterable[int]]]:
        """Return the classes with pods on nodes that have volumes, each with the rows of its pods."""
        return ((pod_class, use.at) for pod_class, use in self._uses.items())

    def rows_of(self, attachment: Attachment) -> Iterable[int]:
        """Return the rows of the nodes where a volume is attached."""
        return self._attached.get(attachment, ())

    def counts(self, driver: str) -> Counts:
        """Return by row how many volumes of *driver* are attached; an array to read, as long as the table's."""
        return self._column(self._counts, driver, 0)

    def limit(self, row: int, limits: Mapping[str, int]) -> None:
        """Set how many volumes a node can take, by driver. A driver that is not named has no limit."""
        for driver in {**self._limits, **limits}:
            self._column(self._limits, driver, _NO_LIMIT)[row] = min(limits.get(driver, _NO_LIMIT), _NO_LIMIT)

    def limits(self, driver: str) -> Counts:
        """Return by row how many volumes of *driver* a node takes; an array to read, as long as the table's."""
        return self._column(self._limits, driver, _NO_LIMIT)

    def _renew(self, pod_class: PodClass) -> None:
        use = self._uses[pod_class]
        needs = self._needs(pod_class)
        if needs == use.needs:
            return
        for row, number in use.at.items():
            self._attach(use.needs, row, -number)
            self._attach(needs, row, number)
        use.needs = needs

    def _attach(self, attachments: Iterable[Attachment], row: int, number: int) -> None:
        for attachment in attachments:
            at = self._attached.setdefault(attachment, {})
            was = row in at
            _change(at, row, number)
            now = row in at
            if was != now:
                self._column(self._counts, attachment[0], 0)[row] += 1 if now else -1
            if not at:
                del self._attached[attachment]

    def _column(self, columns: dict[str, Counts], driver: str, default: int) -> Counts:
        column = columns.get(driver)
        if column is None:
            column = columns[driver] = np.full(self._table.capacity, default, dtype=np.int32)
        elif len(column) < self._table.capacity:
            more = np.full(self._table.capacity - len(column), default, dtype=np.int32)
            column = columns[driver] = np.concatenate([column, more])
        return column


def _pairs(rows: Rows | int, numbers: Rows | int) -> Iterable[tuple[int, int]]:
    if isinstance(rows, int) and isinstance(numbers, int):
        return ((rows, numbers),)
    return zip(np.atleast_1d(rows).tolist(), np.atleast_1d(numbers).tolist(), strict=True)


def _change(numbers: dict[int, int], row: int, by: int) -> None:
    numbers[row] = numbers.get(row, 0) + by
    if not numbers[row]:
        del numbers[row]
