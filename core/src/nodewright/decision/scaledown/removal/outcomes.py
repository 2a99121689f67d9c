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
        #: Deletions that failed, by group and time: one call deletes several nodes.
        self._undeleted: dict[tuple[str, datetime], Outcome] = {}
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
                self._undeleted[removal.group, removal.deleted_at] = outcome

    def applied(self, name: str, removal: Removal) -> Removal:
        """Return *removal* with its outcomes applied. A deletion that the cloud puts off is asked for once more."""
        if removal.deleted_at is not None:
            refusal = self._undeleted.get((removal.group, removal.deleted_at))
            if refusal is None:
                return removal
            if refusal.temporary and not removal.put_off:
                return replace(removal, deleted_at=None, put_off=_put_off(refusal))
            return replace(removal, error=refusal.error)
        mark = self._marks.get(name)
        return replace(removal, started=mark.at) if mark is not None and mark.ok else removal

    def unmarked(self, name: str, removal: Removal) -> str:
        """Return why this node, or one that was to be marked with it, was not marked; empty if all were."""
        mark = self._marks.get(name)
        if mark is None:
            return ""
        if not mark.ok:
            return f"it could not be marked: {mark.error}"
        failed = self._unmarked.get(removal.drains)
        return "" if failed is None else f"{failed.target}, which was to go with it, was not marked: {failed.error}"


def _put_off(refusal: Outcome) -> str:
    when = "" if refusal.not_before is None else f" at {refusal.not_before:%H:%M:%S}"
    return f"the cloud is asked once more{when}: {refusal.error}"
