"""Outcomes of removals: what is known by now about the actions of earlier loops."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from nodewright.api.decision import Outcome
from nodewright.decision.memory import Removal


class RemovalOutcomes:
    """What outcomes say about removals."""

    def __init__(self, outcomes: Sequence[Outcome], removals: Mapping[str, Removal]) -> None:
        self._marks: dict[str, Outcome] = {}
        #: One mark that failed, for drains and for others: nodes of one kind are marked together.
        self._unmarked: dict[bool, Outcome] = {}
        #: Errors of deletions, by group and time: one call deletes several nodes.
        self._undeleted: dict[tuple[str, datetime], str] = {}
        #: Why evictions were refused, by pod.
        self.refusals = {each.target: each.error for each in outcomes if each.action == "evict" and not each.ok}
        #: Nodes whose marks were taken off, which may not have been seen yet.
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

    def applied(self, name: str, removal: Removal) -> Removal:
        """Return *removal* with its outcomes applied."""
        if removal.deleted_at is not None:
            error = self._undeleted.get((removal.group, removal.deleted_at), removal.error)
            return replace(removal, error=error) if error != removal.error else removal
        mark = self._marks.get(name)
        return replace(removal, started=mark.at) if mark is not None and mark.ok else removal

    def unmarked(self, name: str, removal: Removal) -> str:
        """Return why this node, or one that was to be marked with it, was not marked; empty if all were."""
        mark = self._marks.get(name)
        if mark is None:
            return ""
        if not mark.ok:
            return mark.error
        failed = self._unmarked.get(removal.drains)
        return "" if failed is None else f"{failed.target}, which was to go with it, was not marked: {failed.error}"
