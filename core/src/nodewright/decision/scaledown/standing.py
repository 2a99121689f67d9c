"""Standings: for which reason each node stays or may go, and since when."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache

from nodewright.api.decision import Restore
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.memory import Standing

#: Found at a price, so that nobody looks again for a while: until then they still hold.
_LASTING = (Reason.BLOCKED_BY_POD, Reason.NO_PLACE, Reason.REMOVAL_FAILED)


def note_standings(
    verdicts: Mapping[str, Verdict], restored: Iterable[Restore], standings: dict[str, Standing], now: datetime
) -> dict[str, Standing]:
    """Return the *standings* that follow from the *verdicts* on all nodes at *now*; the same ones if none changed.

    Nodes of no group have none. Of *restored* nodes it is noted that their removal failed.
    """
    failed = {each.node: each.verdict for each in restored if each.verdict.reason is Reason.REMOVAL_FAILED}
    verdicts = {**verdicts, **failed} if failed else verdicts
    # This looks at every node of the cluster in every loop.
    news = {
        name: verdict
        for name, verdict in verdicts.items()
        if (known := standings.get(name)) is None
        or verdict.reason is not known.reason
        or verdict.pod != known.pod
        or verdict.cause != known.cause
    }
    changed = {name: _next(verdict, standings.get(name), now) for name, verdict in news.items()}
    gone = [name for name in standings if name not in verdicts]
    if not gone and all(standings.get(name) is new for name, new in changed.items()):
        return standings
    merged = dict(standings)
    for name, standing in (*changed.items(), *((name, None) for name in gone)):
        if standing is not None:
            merged[name] = standing
        else:
            merged.pop(name, None)
    return merged


def _next(verdict: Verdict, known: Standing | None, now: datetime) -> Standing | None:
    if verdict.reason is Reason.NOT_OURS:
        return None
    if known is not None and _holds_on(known, verdict):
        return known
    since = known.since if known is not None and known.reason is verdict.reason else now
    return _standing(verdict.reason, since, verdict.pod, verdict.cause)


@lru_cache(maxsize=4096)
def _standing(reason: Reason, since: datetime, pod: str, cause: str) -> Standing:
    # Most nodes stay for a few reasons, and since the same moments.
    return Standing(reason=reason, since=since, pod=pod, cause=cause)


def _holds_on(known: Standing, verdict: Verdict) -> bool:
    """Tell whether *verdict* only says that nobody looked, and what is *known* still holds."""
    if verdict.reason is Reason.NOT_EXAMINED:
        return known.reason is not Reason.BEING_DELETED
    return verdict.reason is Reason.RECENTLY_UNREMOVABLE and known.reason in _LASTING
