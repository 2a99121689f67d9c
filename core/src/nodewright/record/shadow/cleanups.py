"""Clean-ups compared: machines that were ordered and never came."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta

from nodewright.api.decision import Decision
from nodewright.record.shadow.finding import Finding, Kind
from nodewright.record.shadow.proposals import Proposals, Wish


class CleanupComparison:
    """Compares loop by loop what groups give up without losing a node."""

    def __init__(self, patience: timedelta) -> None:
        self._proposals = Proposals(patience)

    def compare(self, shrank: Mapping[str, int], decision: Decision) -> Iterator[Finding]:
        """Yield what is found when groups *shrank*; *decision* is the present one."""
        at, wishes = decision.at, _wishes(decision)
        for group, count in shrank.items():
            known = self._proposals.get(group)
            self._proposals.close([group])
            wish = known.wish if known is not None else wishes.get(group)
            late = known is not None and known.told
            yield Finding(
                at=at,
                kind=Kind.CLEANUP_EXTRA if wish is None else Kind.LATE if late else Kind.CLEANUP,
                group=group,
                ours=wish.what if wish else "would not",
                why=wish.why if wish else "",
                theirs=f"took {count} off its size",
                lag=(at - known.since).total_seconds() if known is not None else 0.0,
            )
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
                theirs="do not",
            )


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
