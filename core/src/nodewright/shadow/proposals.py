"""Proposals: what we would do, remembered until the other one does it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta


@dataclass(frozen=True, kw_only=True)
class ProposedAction:
    """An action that a decision would take."""

    group: str
    count: int = 1
    #: What and why, in words.
    what: str
    why: str = ""
    #: The pods that it is for, ``namespace/name``; none if it is for no pods in particular.
    pods: frozenset[str] = frozenset()
    #: Whether the other one may leave it undone, as it can do nothing of the kind.
    optional: bool = False


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """An action, since it was first proposed. While each loop proposes it again, it stays one proposal."""

    action: ProposedAction
    since: datetime
    #: Whether it was reported that the other one does not do it.
    reported: bool = False
    #: Since when no loop proposes it; None while one does.
    lapsed: datetime | None = None


class Proposals:
    """Open proposals, by what they are about, and those that lapsed up to *patience* ago.

    A proposal for pods of a lapsed one is as old as that one: the same pods would be helped elsewhere.
    """

    def __init__(self, patience: timedelta) -> None:
        self._patience = patience
        self._known: dict[str, Proposal] = {}

    @property
    def all(self) -> Mapping[str, Proposal]:
        """All proposals, by key."""
        return self._known

    def get(self, key: str) -> Proposal | None:
        """Return the proposal about *key*, if there is one."""
        return self._known.get(key)

    def close(self, keys: Collection[str]) -> None:
        """Forget the proposals about *keys*: they are settled."""
        for key in keys:
            self._known.pop(key, None)

    def renew(self, proposed: Mapping[str, ProposedAction], now: datetime) -> dict[str, Proposal]:
        """Take over what is *proposed* at *now*; return those that are over though they were reported as not done."""
        fresh = {key for key, known in self._known.items() if known.lapsed is None and key not in proposed}
        self._known |= {key: replace(self._known[key], lapsed=now) for key in fresh}
        lapsed = [self._known[key] for key in fresh]
        for key, action in proposed.items():
            known = self._known.get(key)
            if known is None or not _goes_on(known.action, action):
                since = (each.since for each in lapsed if each.action.pods & action.pods)
                known = Proposal(action=action, since=min(since, default=now))
            self._known[key] = replace(known, action=action, lapsed=None)
        past = {key: known for key, known in self._known.items() if self._is_past(known, now)}
        self.close(past)
        return {key: known for key, known in past.items() if known.reported}

    def overdue(self, now: datetime, *, not_before: datetime | None = None) -> dict[str, Proposal]:
        """Return proposals that were in vain for too long, each once; time before *not_before* does not count."""
        late = {
            key: replace(known, reported=True)
            for key, known in self._known.items()
            if not (known.reported or known.lapsed or known.action.optional)
            and now - max(known.since, not_before or known.since) > self._patience
        }
        self._known |= late
        return late

    def _is_past(self, known: Proposal, now: datetime) -> bool:
        return known.lapsed is not None and now - known.lapsed > self._patience


def _goes_on(before: ProposedAction, now: ProposedAction) -> bool:
    """Return whether it is the same proposal: if it is for pods, for some of the same."""
    return not (before.pods and now.pods) or not before.pods.isdisjoint(now.pods)
