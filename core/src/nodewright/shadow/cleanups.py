"""Clean-ups compared: machines that were ordered and never came."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

from nodewright.api.decision import Decision
from nodewright.shadow.judgement import Judgement, JudgementKind
from nodewright.shadow.observation import Actions
from nodewright.shadow.proposals import Proposal, Proposals, ProposedAction


class CleanupComparison:
    """Compares, loop by loop, machines that groups give up without losing a node."""

    def __init__(self, patience: timedelta) -> None:
        self._proposals = Proposals(patience)

    def compare(self, actions: Actions, decision: Decision) -> Iterator[Judgement]:
        """Yield judgements of *actions*; *decision* is the present one."""
        at, proposed = decision.at, _cleanups_of(decision)
        for group, count in actions.shrank.items():
            known = self._proposals.get(group)
            self._proposals.close([group])
            yield _judge(group, count, known, proposed.get(group), actions)
        for group, known in self._proposals.renew(proposed, at).items():
            lag = (at - known.since).total_seconds()
            yield Judgement(at=at, kind=JudgementKind.OVER, group=group, ours=known.action.what, lag=lag)
        for group, known in self._proposals.overdue(at).items():
            yield Judgement(
                at=at,
                kind=JudgementKind.CLEANUP_MISSING,
                group=group,
                ours=known.action.what,
                why=known.action.why,
                theirs="did not",
                lag=(at - known.since).total_seconds(),
            )


def _judge(
    group: str, count: int, known: Proposal | None, action: ProposedAction | None, actions: Actions
) -> Judgement:
    theirs = f"took {count} off its size"
    if known is not None:
        action = known.action
    if action is not None:
        kind = JudgementKind.LATE if known is not None and known.reported else JudgementKind.CLEANUP
        lag = (actions.at - known.since).total_seconds() if known is not None else 0.0
        return Judgement(
            at=actions.at, kind=kind, group=group, ours=action.what, why=action.why, theirs=theirs, lag=lag
        )
    if list(actions.lost.values()).count(group) >= count:
        why = "the machines went before we could see whether they had failed"
        return Judgement(at=actions.at, kind=JudgementKind.UNJUDGED, group=group, theirs=theirs, why=why)
    return Judgement(at=actions.at, kind=JudgementKind.CLEANUP_EXTRA, group=group, ours="would not", theirs=theirs)


def _cleanups_of(decision: Decision) -> dict[str, ProposedAction]:
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
        group: ProposedAction(group=group, count=count, what=f"would give up {count}", why=why[group])
        for group, count in counts.items()
    }
