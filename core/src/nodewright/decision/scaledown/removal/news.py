"""News of removals: what was heard of the actions of earlier loops."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from nodewright.api.decision import Outcome
from nodewright.decision.memory import Removal


class News:
    """What outcomes say about removals."""

    def __init__(self, outcomes: Sequence[Outcome], removals: Mapping[str, Removal]) -> None:
        self._marks: dict[str, Outcome] = {}
        #: A mark that failed, by whether the nodes that were marked at the same time have pods to be moved.
        self._unmarked: dict[bool, Outcome] = {}
        #: Errors of deletions, by group and time of the order: one order deletes several nodes.
        self._undeleted: dict[tuple[str, datetime], str] = {}
        #: Why pods were not let go, by pod.
        self.refusals = {each.target: each.error for each in outcomes if each.action == "evict" and not each.ok}
        #: Nodes whose marks have come off, which may not be seen yet.
        self.restored = frozenset(each.target for each in outcomes if each.action == "restore" and each.ok)
        for outcome in outcomes:
            removal = removals.get(outcome.target)
            if removal is None:
                continue
            if outcome.action == "drain":
                self._marks[outcome.target] = outcome
                if not outcome.ok:
                    self._unmarked.setdefault(removal.drains, outcome)
            elif outcome.action == "delete-instances" and not outcome.ok and removal.deleted_at is not None:
                self._undeleted[removal.group, removal.deleted_at] = outcome.error

    def heard(self, name: str, removal: Removal) -> Removal:
        """Return *removal* with what was heard of it."""
        if removal.deleted_at is not None:
            error = self._undeleted.get((removal.group, removal.deleted_at), removal.error)
            return replace(removal, error=error) if error != removal.error else removal
        mark = self._marks.get(name)
        return replace(removal, started=mark.at) if mark is not None and mark.ok else removal

    def unmarked(self, name: str, removal: Removal) -> str:
        """Return why the node, or one that was to be marked with it, was not; empty if they were."""
        mark = self._marks.get(name)
        if mark is None:
            return ""
        if not mark.ok:
            return mark.error
        failed = self._unmarked.get(removal.drains)
        return "" if failed is None else f"{failed.target}, which was to go with it, was not marked: {failed.error}"
