"""Groups that are held: they may have taken an order that no reading of their provider shows yet."""

from collections.abc import Mapping, Set

from nodewright.decision.execution import Hold


class HeldGroups:
    """Owns which groups are held, by id. For the loop's thread.

    A group is held from a call that took too long, or whose result is in doubt, until the call has ended and the
    provider was read after that.
    """

    def __init__(self) -> None:
        self._under_way: dict[str, Hold] = {}
        self._unread: dict[str, Hold] = {}

    @property
    def all(self) -> Mapping[str, Hold]:
        """All held groups."""
        return {**self._unread, **self._under_way}

    @property
    def under_way(self) -> Mapping[str, Hold]:
        """Those with a call that took too long and has not ended."""
        return dict(self._under_way)

    def begin(self, group: str, hold: Hold) -> None:
        """Hold *group*: a call takes too long. What already holds a group stays."""
        self._under_way.setdefault(group, hold)

    def end(self, group: str) -> None:
        """Note that no call for *group* is under way any more; it stays held until its provider was read."""
        hold = self._under_way.pop(group, None)
        if hold is not None:
            self._unread[group] = hold

    def doubt(self, groups: Mapping[str, Hold]) -> None:
        """Hold *groups* until their providers were read: it is unknown whether they took an order."""
        self._unread |= groups

    def read(self, stale: Set[str]) -> None:
        """Note that all providers were read; facts of *stale* groups are older than that, so these stay held."""
        self._unread = {group: hold for group, hold in self._unread.items() if group in stale}
