"""Clean-ups compared: machines that were ordered and never came."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

from nodewright.api.decision import Decision
from nodewright.shadow.finding import Finding, Kind
from nodewright.shadow.proposals import Proposal, Proposals, Wish
from nodewright.shadow.sighting import Deeds


class CleanupComparison:
    """Compares loop by loop what groups give up without losing a node."""

    def __init__(self, patience: timedelta) -> None:
        self._proposals = Proposals(patience)

    def compare(self, deeds: Deeds, decision: Decision) -> Iterator[Finding]:
        """Yield what is found about *deeds*; *decision* is the present one."""
        at, wishes = decision.at, _wishes(decision)
        for group, count in deeds.shrank.items():
            known = self._proposals.get(group)
            self._proposals.close([group])
            yield _judge(group, count, known, wishes.get(group), deeds)
        for group, known in self._proposals.renew(wishes, at).items():
            lag = (at - known.since).total_seconds()
            yield Finding(at=at, kind=Kind.OVER, group=group, ours=known.wish.what, lag=lag)
        for group, known in self._proposals.overdue(at).items():
            yield Finding(
                at=at,
                kind=Kind.CLEANUP_MISSING,
                group=group,
                ours=known.wish.what,
                why=known.wish.why,
                theirs="did not",
                lag=(at - known.since).total_seconds(),
            )


def _judge(group: str, count: int, known: Proposal | None, wish: Wish | None, deeds: Deeds) -> Finding:
    theirs = f"took {count} off its size"
    if known is not None:
        wish = known.wish
    if wish is not None:
        kind = Kind.LATE if known is not None and known.told else Kind.CLEANUP
        lag = (deeds.at - known.since).total_seconds() if known is not None else 0.0
        return Finding(at=deeds.at, kind=kind, group=group, ours=wish.what, why=wish.why, theirs=theirs, lag=lag)
    if list(deeds.lost.values()).count(group) >= count:
        why = "the machines went before we could see whether they had failed"
        return Finding(at=deeds.at, kind=Kind.UNJUDGED, group=group, theirs=theirs, why=why)
    return Finding(at=deeds.at, kind=Kind.CLEANUP_EXTRA, group=group, ours="would not", theirs=theirs)


def _wishes(decision: Decision) -> dict[str, Wish]:
    counts: Counter[str] = Counter()
    why: dict[str, str] = {}
    for shrink in decision.shrink:
        counts[shrink.group] += shrink.count
        why[shrink.group] = str(shrink.verdict)
    for delete in decision.delete:
        if not delete.nodes:
            counts[delete.group] += len(delete.instances)
            why[delete.group] = str(delete.verdict)
    return {
        group: Wish(group=group, count=count, what=f"would give up {count}", why=why[group])
        for group, count in counts.items()
    }
