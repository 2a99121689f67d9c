"""Growth compared: which groups grow, and by how much."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from nodewright.api.decision import Decision
from nodewright.api.reasons import Reason
from nodewright.shadow.judgement import Judgement, JudgementKind
from nodewright.shadow.proposals import Proposals, ProposedAction


@dataclass(frozen=True, kw_only=True)
class Hindsight:
    """What we would have done in place of what the other one did."""

    decision: Decision
    #: The same, if other groups had their turn among equally good ones.
    other_turns: Sequence[Decision] = ()
    #: Returns whether two groups are equally good.
    alike: Callable[[str, str], bool] = field(default=lambda one, other: False)


class GrowthComparison:
    """Compares loop by loop. Each action, and each proposal that the other one does not follow, gets one judgement."""

    def __init__(self, patience: timedelta) -> None:
        self._proposals = Proposals(patience)

    def compare(self, grew: Mapping[str, int], hindsight: Hindsight | None, decision: Decision) -> Iterator[Judgement]:
        """Yield judgements of groups that *grew*; *hindsight* is set if any did. *decision* is the present one."""
        proposed = growth_of(decision)
        if grew and hindsight is not None:
            match = _Match(grew, hindsight, proposed, self._proposals, decision.at)
            yield from match.judgements()
            self._proposals.close(match.closed)
        for group, known in self._proposals.renew(proposed, decision.at).items():
            lag = (decision.at - known.since).total_seconds()
            yield _judgement(
                decision.at, JudgementKind.OVER, group, ours=known.action.what, why=known.action.why, lag=lag
            )
        for group, known in self._proposals.overdue(decision.at).items():
            yield Judgement(
                at=decision.at,
                kind=JudgementKind.GROWTH_MISSING,
                group=group,
                ours=known.action.what,
                why=known.action.why,
                theirs="did not",
                machines=-known.action.count,
                lag=(decision.at - known.since).total_seconds(),
            )


def growth_of(decision: Decision) -> dict[str, ProposedAction]:
    """Return the growth of *decision*, by group."""
    return {
        grow.group: ProposedAction(
            group=grow.group,
            count=grow.count,
            what=f"would grow {grow.from_size} → {grow.from_size + grow.count}",
            why=_why(grow.verdict.reason, grow.verdict.detail or str(grow.verdict), len(grow.pods)),
            pods=frozenset(grow.pods),
            optional=grow.verdict.reason is Reason.CONSOLIDATION,
        )
        for grow in decision.grow
    }


class _Match:
    """Matches the growth of one loop with what we would have ordered."""

    def __init__(
        self,
        grew: Mapping[str, int],
        hindsight: Hindsight,
        now_proposed: Mapping[str, ProposedAction],
        proposals: Proposals,
        at: datetime,
    ) -> None:
        self._left = dict(grew)
        self._hindsight = hindsight
        self._still = {group: action.count for group, action in now_proposed.items()}
        self._proposals = proposals
        self._at = at
        earlier = {group: known.action for group, known in proposals.all.items()}
        #: What we would have ordered: now, or else shortly before.
        self._ours = {**earlier, **growth_of(hindsight.decision)}
        self.closed: set[str] = set()

    def judgements(self) -> Iterator[Judgement]:
        """Yield one judgement for each group that grew."""
        yield from self._take(self._same(), JudgementKind.GROWTH)
        yield from self._take(self._at_another_turn(), JudgementKind.GROWTH_EQUIVALENT)
        yield from self._take(self._in_part(), JudgementKind.GROWTH, keep=True)
        yield from self._take(self._spread_otherwise(), JudgementKind.GROWTH_EQUIVALENT)
        for group, count in self._left.items():
            yield self._difference(group, count)

    def _same(self) -> list[str]:
        return [group for group, count in self._left.items() if count in self._counts(group)]

    def _at_another_turn(self) -> list[str]:
        for decision in self._hindsight.other_turns:
            counts = {grow.group: grow.count for grow in decision.grow}
            if self._left and all(counts.get(group) == count for group, count in self._left.items()):
                self._drop_unwanted()
                return list(self._left)
        return []

    def _in_part(self) -> list[str]:
        """Return groups of which we still propose the rest: the other one may take several steps."""
        return [
            group
            for group, count in self._left.items()
            if group in self._ours and count + self._still.get(group, 0) == self._ours[group].count
        ]

    def _spread_otherwise(self) -> list[str]:
        """Return groups that grew, together with groups like them, by as much as we would have grown these."""
        alike = self._hindsight.alike
        for group in self._left:
            ours = [other for other in self._ours if other == group or alike(group, other)]
            theirs = [other for other in self._left if other == group or alike(group, other)]
            wanted = sum(self._ours[other].count - self._still.get(other, 0) for other in ours)
            if ours and wanted == sum(self._left[other] for other in theirs):
                self._drop_unwanted()
                return theirs
        return []

    def _take(self, groups: Sequence[str], kind: JudgementKind, *, keep: bool = False) -> Iterator[Judgement]:
        for group in groups:
            count = self._left.pop(group)
            known = self._proposals.get(group)
            action = self._ours.get(group)
            late = known is not None and known.reported
            lag = (self._at - known.since).total_seconds() if known is not None else 0.0
            yield _judgement(
                self._at,
                JudgementKind.LATE if late else kind,
                group,
                ours=action.what if action else self._all_ours(),
                why=action.why if action else "",
                theirs=f"grew it by {count}",
                lag=lag,
            )
            if not keep:
                self.closed.add(group)
            self._ours.pop(group, None)

    def _difference(self, group: str, count: int) -> Judgement:
        action = self._ours.pop(group, None)
        known = self._proposals.get(group)
        self.closed.add(group)
        if action is not None:
            return _judgement(
                self._at,
                JudgementKind.GROWTH_SIZE,
                group,
                ours=action.what,
                why=action.why,
                theirs=f"grew it by {count}",
                machines=count - action.count,
                lag=(self._at - known.since).total_seconds() if known is not None else 0.0,
            )
        instead = self._unwanted()
        machines = count - sum(self._ours[other].count for other in instead)
        ours, why = self._all_ours(instead), reason_against(group, self._hindsight.decision)
        self._drop_unwanted()
        return _judgement(
            self._at,
            JudgementKind.GROWTH_GROUP if instead else JudgementKind.GROWTH_EXTRA,
            group,
            ours=ours if instead else "would not grow it",
            why=f"{group}: {why}" if instead else why,
            theirs=f"grew it by {count}",
            machines=machines,
        )

    def _counts(self, group: str) -> set[int]:
        known = self._proposals.get(group)
        actions = [self._ours.get(group), known.action if known is not None else None]
        return {action.count for action in actions if action is not None}

    def _unwanted(self) -> list[str]:
        """Return the groups that we would have grown, and that need not grow now that others have."""
        return [group for group, action in self._ours.items() if self._still.get(group, 0) < action.count]

    def _drop_unwanted(self) -> None:
        for group in self._unwanted():
            self.closed.add(group)
            del self._ours[group]

    def _all_ours(self, groups: Sequence[str] | None = None) -> str:
        proposed = {group: self._ours[group] for group in (self._ours if groups is None else groups)}
        return ", ".join(f"{action.what} of {group}" for group, action in proposed.items())


def reason_against(group: str, decision: Decision) -> str:
    """Return why *decision* does not grow *group*."""
    if decision.halted is not None:
        return str(decision.halted)
    if group in decision.groups:
        return str(decision.groups[group])
    judged = next((option.verdict for option in decision.options if option.group == group), None)
    if judged is not None:
        return str(judged)
    against = {str(by[group]) for by in decision.rejections.values() if group in by}
    if against:
        return "; ".join(sorted(against)[:3])
    waiting = {verdict.reason.text for verdict in decision.pods.values()}
    return "; ".join(sorted(waiting)[:3]) if waiting else "no pod waits for a node"


def _why(reason: Reason, detail: str, pods: int) -> str:
    if reason in (Reason.GROUP_BELOW_MIN, Reason.CONSOLIDATION):
        return detail
    return f"for {pods} pod{'' if pods == 1 else 's'}, {detail}"


def _judgement(
    at: datetime,
    kind: JudgementKind,
    group: str,
    *,
    ours: str = "",
    why: str = "",
    theirs: str = "",
    machines: int = 0,
    lag: float | None = None,
) -> Judgement:
    return Judgement(at=at, kind=kind, group=group, ours=ours, why=why, theirs=theirs, machines=machines, lag=lag)
