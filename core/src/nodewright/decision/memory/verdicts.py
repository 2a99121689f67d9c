"""The last verdict on each node, and since when it has been the same."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import ClassVar, Self

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.memory.slices import Shedding, Slice

#: Found at a price, so that the node is not looked at again for a while: until then they still hold.
_LASTING = (Reason.BLOCKED_BY_POD, Reason.NO_PLACE, Reason.REMOVAL_FAILED)


@dataclass(frozen=True, kw_only=True)
class LastVerdict:
    """For which reason a node stays, or may go."""

    reason: Reason
    #: Since when it has been this one.
    since: datetime
    #: As in the verdict: the pod that is in the way, and what is the matter with it.
    pod: str = ""
    cause: str = ""
    #: What failed, if a removal did.
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class VerdictMemory(Slice):
    """The last verdicts. Owned by the stage `verdicts`."""

    #: Of every node that belongs to a group.
    last: dict[str, LastVerdict] = field(default_factory=dict)

    may_wait: ClassVar[frozenset[str]] = frozenset({"last"})
    sheds: ClassVar[tuple[Shedding, ...]] = (
        # Found again in the next loop.
        Shedding(cost=20, what="details of verdicts", take=lambda kept: kept.without_details()),
        # As well, but not since when.
        Shedding(cost=30, what="verdicts", take=lambda _: VerdictMemory()),
    )

    def noted(self, verdicts: Mapping[str, Verdict], failed: Iterable[tuple[str, Verdict]], now: datetime) -> Self:
        """Return what follows from the *verdicts* on all nodes at *now*; the same memory if none changed.

        Nodes of no group have none. *failed* are the nodes whose removal failed, with the reason.
        """
        last = self.last
        failures = dict(failed)
        verdicts = {**verdicts, **failures}
        # This looks at every node of the cluster in every loop.
        news = {
            name: verdict
            for name, verdict in verdicts.items()
            if (known := last.get(name)) is None
            or verdict.reason is not known.reason
            or verdict.pod != known.pod
            or verdict.cause != known.cause
        }
        changed = {name: _next(verdict, last.get(name), now) for name, verdict in news.items()}
        # What failed anew is told anew.
        changed |= {name: _failure(each, now) for name, each in failures.items()}
        gone = [name for name in last if name not in verdicts]
        if not gone and all(last.get(name) is new for name, new in changed.items()):
            return self
        merged = dict(last)
        for name, new in (*changed.items(), *((name, None) for name in gone)):
            if new is not None:
                merged[name] = new
            else:
                merged.pop(name, None)
        return replace(self, last=merged)

    def without_details(self) -> Self:
        """Return the memory without the pods that are in the way, and without what failed."""
        return replace(
            self, last={name: replace(each, pod="", cause="", detail="") for name, each in self.last.items()}
        )


def _next(verdict: Verdict, known: LastVerdict | None, now: datetime) -> LastVerdict | None:
    if verdict.reason is Reason.NOT_OURS:
        return None
    if known is not None and _still_holds(known, verdict):
        return known
    since = known.since if known is not None and known.reason is verdict.reason else now
    return _last_verdict(verdict.reason, since, verdict.pod, verdict.cause)


def _failure(failed: Verdict, now: datetime) -> LastVerdict:
    return LastVerdict(reason=failed.reason, since=now, pod=failed.pod, cause=failed.cause, detail=failed.detail)


@lru_cache(maxsize=4096)
def _last_verdict(reason: Reason, since: datetime, pod: str, cause: str) -> LastVerdict:
    # Most nodes stay for a few reasons, and since the same moments.
    return LastVerdict(reason=reason, since=since, pod=pod, cause=cause)


def _still_holds(known: LastVerdict, verdict: Verdict) -> bool:
    """Tell whether *verdict* only says that the node was not looked at, and what is *known* still holds."""
    if verdict.reason is Reason.NOT_EXAMINED:
        return known.reason is not Reason.BEING_DELETED
    return verdict.reason is Reason.RECENTLY_UNREMOVABLE and known.reason in _LASTING
