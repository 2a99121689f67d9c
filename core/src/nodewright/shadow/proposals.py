"""Proposals: what we would do for as long as it takes the other one to do it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta


@dataclass(frozen=True, kw_only=True)
class Wish:
    """One thing that a decision would do."""

    group: str
    count: int = 1
    #: In words, what and why.
    what: str
    why: str = ""
    #: The pods that it is for, ``namespace/name``; none if it is for none in particular.
    pods: frozenset[str] = frozenset()
    #: Whether the other one may leave it undone: it has nothing of the kind.
    optional: bool = False


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A wish, since it was first made. As long as it is repeated in each loop, it is one and the same."""

    wish: Wish
    since: datetime
    #: Whether it was told that the other one does not do it.
    told: bool = False
    #: Since when it is not repeated any more; None while it is.
    lapsed: datetime | None = None


class Proposals:
    """Those that are open, by what they are about, and those that lapsed up to *patience* ago.

    One that is made for pods of another one is as old as that: first these pods were to be helped here, now there.
    """

    def __init__(self, patience: timedelta) -> None:
        self._patience = patience
        self._known: dict[str, Proposal] = {}

    @property
    def all(self) -> Mapping[str, Proposal]:
        """All of them, by key."""
        return self._known

    def get(self, key: str) -> Proposal | None:
        """Return the proposal about *key*, if there is one."""
        return self._known.get(key)

    def close(self, keys: Collection[str]) -> None:
        """Forget the proposals about *keys*: they have come to their end."""
        for key in keys:
            self._known.pop(key, None)

    def renew(self, wishes: Mapping[str, Wish], now: datetime) -> dict[str, Proposal]:
        """Take over what is wished at *now*; return those that are over, though it was told that they are not done."""
        fresh = {key for key, known in self._known.items() if known.lapsed is None and key not in wishes}
        self._known |= {key: replace(self._known[key], lapsed=now) for key in fresh}
        lapsed = [self._known[key] for key in fresh]
        for key, wish in wishes.items():
            known = self._known.get(key)
            if known is None or not _goes_on(known.wish, wish):
                since = (each.since for each in lapsed if each.wish.pods & wish.pods)
                known = Proposal(wish=wish, since=min(since, default=now))
            self._known[key] = replace(known, wish=wish, lapsed=None)
        past = {key: known for key, known in self._known.items() if self._is_past(known, now)}
        self.close(past)
        return {key: known for key, known in past.items() if known.told}

    def overdue(self, now: datetime, *, not_before: datetime | None = None) -> dict[str, Proposal]:
        """Return what is proposed in vain for too long, each once; time before *not_before* does not count."""
        late = {
            key: replace(known, told=True)
            for key, known in self._known.items()
            if not (known.told or known.lapsed or known.wish.optional)
            and now - max(known.since, not_before or known.since) > self._patience
        }
        self._known |= late
        return late

    def _is_past(self, known: Proposal, now: datetime) -> bool:
        return known.lapsed is not None and now - known.lapsed > self._patience


def _goes_on(before: Wish, now: Wish) -> bool:
    """Tell whether it is the same wish: at least for some of the same pods, if it is for pods."""
    return not (before.pods and now.pods) or not before.pods.isdisjoint(now.pods)
