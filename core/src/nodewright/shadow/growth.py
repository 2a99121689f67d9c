"""Growth compared: which groups grow, and by how much."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from nodewright.api.decision import Decision
from nodewright.api.reasons import Reason
from nodewright.shadow.finding import Finding, Kind
from nodewright.shadow.proposals import Proposals, Wish


@dataclass(frozen=True, kw_only=True)
class Hindsight:
    """What we would have done in place of what was done."""

    decision: Decision
    #: The same, had other groups had their turn among those that are equally good.
    other_turns: Sequence[Decision] = ()
    #: Tells whether two groups are of equal merit.
    alike: Callable[[str, str], bool] = field(default=lambda one, other: False)


class GrowthComparison:
    """Compares loop by loop. Each deed gets one finding, and each proposal that nobody follows."""

    def __init__(self, patience: timedelta) -> None:
        self._proposals = Proposals(patience)

    def compare(self, grew: Mapping[str, int], hindsight: Hindsight | None, decision: Decision) -> Iterator[Finding]:
        """Yield what is found when groups *grew*; *hindsight* is there if any did. *decision* is the present one."""
        wishes = wishes_of(decision)
        if grew and hindsight is not None:
            match = _Match(grew, hindsight, wishes, self._proposals, decision.at)
            yield from match.findings()
            self._proposals.close(match.closed)
        for group, known in self._proposals.renew(wishes, decision.at).items():
            lag = (decision.at - known.since).total_seconds()
            yield _finding(decision.at, Kind.OVER, group, ours=known.wish.what, why=known.wish.why, lag=lag)
        for group, known in self._proposals.overdue(decision.at).items():
            yield Finding(
                at=decision.at,
                kind=Kind.GROWTH_MISSING,
                group=group,
                ours=known.wish.what,
                why=known.wish.why,
                theirs="did not",
                machines=-known.wish.count,
                lag=(decision.at - known.since).total_seconds(),
            )


def wishes_of(decision: Decision) -> dict[str, Wish]:
    """Return the growth of *decision*, by group."""
    return {
        grow.group: Wish(
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
        now_wished: Mapping[str, Wish],
        proposals: Proposals,
        at: datetime,
    ) -> None:
        self._left = dict(grew)
        self._hindsight = hindsight
        self._still = {group: wish.count for group, wish in now_wished.items()}
        self._proposals = proposals
        self._at = at
        proposed = {group: known.wish for group, known in proposals.all.items()}
        #: What we would have ordered: now, or else a short while ago.
        self._ours = {**proposed, **wishes_of(hindsight.decision)}
        self.closed: set[str] = set()

    def findings(self) -> Iterator[Finding]:
        """Yield one finding for each group that grew."""
        yield from self._take(self._same(), Kind.GROWTH)
        yield from self._take(self._at_another_turn(), Kind.GROWTH_EQUIVALENT)
        yield from self._take(self._in_part(), Kind.GROWTH, keep=True)
        yield from self._take(self._spread_otherwise(), Kind.GROWTH_EQUIVALENT)
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
        """Return groups of which the rest is still wished: the other one may take several steps."""
        return [
            group
            for group, count in self._left.items()
            if group in self._ours and count + self._still.get(group, 0) == self._ours[group].count
        ]

    def _spread_otherwise(self) -> list[str]:
        """Return groups that took, together with those that are like them, as much as we would have given these."""
        alike = self._hindsight.alike
        for group in self._left:
            ours = [other for other in self._ours if other == group or alike(group, other)]
            theirs = [other for other in self._left if other == group or alike(group, other)]
            wanted = sum(self._ours[other].count - self._still.get(other, 0) for other in ours)
            if ours and wanted == sum(self._left[other] for other in theirs):
                self._drop_unwanted()
                return theirs
        return []

    def _take(self, groups: Sequence[str], kind: Kind, *, keep: bool = False) -> Iterator[Finding]:
        for group in groups:
            count = self._left.pop(group)
            known = self._proposals.get(group)
            wish = self._ours.get(group)
            late = known is not None and known.told
            lag = (self._at - known.since).total_seconds() if known is not None else 0.0
            yield _finding(
                self._at,
                Kind.LATE if late else kind,
                group,
                ours=wish.what if wish else self._all_ours(),
                why=wish.why if wish else "",
                theirs=f"grew it by {count}",
                lag=lag,
            )
            if not keep:
                self.closed.add(group)
            self._ours.pop(group, None)

    def _difference(self, group: str, count: int) -> Finding:
        wish = self._ours.pop(group, None)
        known = self._proposals.get(group)
        self.closed.add(group)
        if wish is not None:
            return _finding(
                self._at,
                Kind.GROWTH_SIZE,
                group,
                ours=wish.what,
                why=wish.why,
                theirs=f"grew it by {count}",
                machines=count - wish.count,
                lag=(self._at - known.since).total_seconds() if known is not None else 0.0,
            )
        instead = self._unwanted()
        machines = count - sum(self._ours[other].count for other in instead)
        ours, why = self._all_ours(instead), reason_against(group, self._hindsight.decision)
        self._drop_unwanted()
        return _finding(
            self._at,
            Kind.GROWTH_GROUP if instead else Kind.GROWTH_EXTRA,
            group,
            ours=ours if instead else "would not grow it",
            why=f"{group}: {why}" if instead else why,
            theirs=f"grew it by {count}",
            machines=machines,
        )

    def _counts(self, group: str) -> set[int]:
        known = self._proposals.get(group)
        wishes = [self._ours.get(group), known.wish if known is not None else None]
        return {wish.count for wish in wishes if wish is not None}

    def _unwanted(self) -> list[str]:
        """Return the groups that we would have grown and that need not grow any more, now that others have."""
        return [group for group, wish in self._ours.items() if self._still.get(group, 0) < wish.count]

    def _drop_unwanted(self) -> None:
        for group in self._unwanted():
            self.closed.add(group)
            del self._ours[group]

    def _all_ours(self, groups: Sequence[str] | None = None) -> str:
        wishes = {group: self._ours[group] for group in (self._ours if groups is None else groups)}
        return ", ".join(f"{wish.what} of {group}" for group, wish in wishes.items())


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


def _finding(
    at: datetime,
    kind: Kind,
    group: str,
    *,
    ours: str = "",
    why: str = "",
    theirs: str = "",
    machines: int = 0,
    lag: float | None = None,
) -> Finding:
    return Finding(at=at, kind=kind, group=group, ours=ours, why=why, theirs=theirs, machines=machines, lag=lag)
