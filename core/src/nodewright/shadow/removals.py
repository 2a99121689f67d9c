"""Removals compared: which nodes go, and when."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from nodewright.api.decision import Decision
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.memory import LastVerdict
from nodewright.decision.scaledown.removal.soft_taints import unneeded_since
from nodewright.explain.advice import informative_verdict
from nodewright.objects import Node
from nodewright.shadow.judgement import Judgement, JudgementKind
from nodewright.shadow.observation import Actions, MarkedNode
from nodewright.shadow.proposals import Proposal, Proposals, ProposedAction

#: Verdicts on nodes that could go if others did not go first.
_IN_TURN = (
    Reason.BUDGET,
    Reason.DISRUPTION_BUDGET,
    Reason.EVICTION_LIMIT,
    Reason.GROUP_AT_MIN,
    Reason.LIMIT_MIN_RESOURCES,
)
_UNRIPE = (Reason.NOT_LONG_ENOUGH, Reason.NOT_UNREADY_LONG_ENOUGH)
#: Verdicts on nodes that we would remove in another way.
_REPLACED = (Reason.BEING_REPLACED, Reason.CONSOLIDATED)


@dataclass(frozen=True, kw_only=True)
class NodeViews:
    """Our verdicts on nodes in the loop before, when the other one had not marked them yet."""

    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    last_verdicts: Mapping[str, LastVerdict] = field(default_factory=dict)
    #: When the pause of each group ends or ended; None if there was none.
    pauses: Mapping[str, datetime | None] = field(default_factory=dict)

    def of(self, node: str) -> Verdict | None:
        """Return our verdict on *node*; None if it was not there."""
        verdict = self.verdicts.get(node)
        return None if verdict is None else informative_verdict(verdict, self.last_verdicts.get(node))


class RemovalComparison:
    """Compares loop by loop. Until *settled*, the timers that the other one had when we began are unknown."""

    def __init__(self, patience: timedelta, settled: datetime) -> None:
        self._patience = patience
        self._settled = settled
        self._proposals = Proposals(patience)

    def compare(
        self, actions: Actions, views: NodeViews, decision: Decision, nodes: Mapping[str, Node]
    ) -> Iterator[Judgement]:
        """Yield judgements of the removals that *actions* began; *decision* on *nodes* is the present one."""
        proposed = {
            drain.node: ProposedAction(group=drain.group, what="would remove it", why=str(drain.verdict))
            for drain in decision.drain
        }
        # Nodes that we would have removed as well come first, so that they do not count as rivals of others.
        for name, going in sorted(actions.began.items(), key=lambda item: self._proposals.get(item[0]) is None):
            yield self._judge(name, going, views, proposed, actions.at)
            self._proposals.close([name])
        for name, known in self._proposals.renew(proposed, actions.at).items():
            lag = (actions.at - known.since).total_seconds()
            yield self._of(known, name, actions.at, JudgementKind.OVER, ours="would have removed it", lag=lag)
        for name, known in self._proposals.overdue(actions.at, not_before=self._settled).items():
            since = unneeded_since(nodes[name]) if name in nodes else None
            yield self._of(
                known,
                name,
                actions.at,
                JudgementKind.REMOVAL_MISSING,
                theirs="did not",
                lag=(actions.at - known.since).total_seconds(),
                their_why=f"it is unneeded for them since {since:%H:%M:%S}" if since else "",
            )

    def _judge(
        self, name: str, going: MarkedNode, views: NodeViews, proposed: Mapping[str, ProposedAction], now: datetime
    ) -> Judgement:
        known = self._proposals.get(name)
        if known is not None:
            lag = (going.since - known.since).total_seconds()
            kind = JudgementKind.LATE if known.reported else JudgementKind.REMOVAL
            return self._of(known, name, now, kind, theirs="removed it", lag=lag)
        verdict = views.of(name)

        def found(
            kind: JudgementKind, *, ours: str = "", why: str | None = None, lag: float | None = None
        ) -> Judgement:
            return Judgement(
                at=now,
                kind=kind,
                group=going.group,
                node=name,
                ours=ours,
                why=str(verdict or "") if why is None else why,
                theirs="removed it",
                lag=lag,
            )

        if verdict is None or verdict.reason is Reason.GROUP_FAULTY:
            return found(JudgementKind.UNJUDGED, why=None if verdict else "it was not there a loop before")
        rival = self._rival(going.group, proposed)
        if verdict.reason in _REPLACED:
            return found(JudgementKind.REMOVAL, ours="would replace it")
        if verdict.reason in _IN_TURN and (rival is not None or verdict.reason is not Reason.GROUP_AT_MIN):
            if rival is None:
                return found(JudgementKind.REMOVAL, ours="would remove it in its turn")
            self._proposals.close([rival])
            return found(JudgementKind.REMOVAL_EQUIVALENT, ours=f"would begin with {rival}")
        due = verdict.until if verdict.reason in _UNRIPE else views.pauses.get(going.group) or now
        if verdict.reason in (*_UNRIPE, Reason.COOLING_DOWN) and due is not None:
            lag = (going.since - due).total_seconds()
            if due <= going.since + self._patience:
                # Why it could not go yet, in the loop before, is no reason to remove it.
                return found(
                    JudgementKind.REMOVAL, ours=f"would remove it at {due:%H:%M:%S}", why="", lag=min(lag, 0.0)
                )
            if now < self._settled:
                return found(JudgementKind.UNJUDGED, ours=f"would wait until {due:%H:%M:%S}", lag=lag)
            return found(JudgementKind.REMOVAL_EARLY, ours=f"would wait until {due:%H:%M:%S}", lag=lag)
        if rival is not None:
            self._proposals.close([rival])
            return found(JudgementKind.REMOVAL_NODE, ours=f"would keep it and remove {rival}")
        return found(JudgementKind.REMOVAL_EXTRA, ours="would keep it")

    def _rival(self, group: str, proposed: Mapping[str, ProposedAction]) -> str | None:
        """Return a node of *group* that we would have removed and would not remove now."""
        return next(
            (
                name
                for name, known in self._proposals.all.items()
                if known.action.group == group and name not in proposed and not known.reported
            ),
            None,
        )

    def _of(
        self,
        known: Proposal,
        name: str,
        now: datetime,
        kind: JudgementKind,
        *,
        ours: str = "",
        theirs: str = "",
        their_why: str = "",
        lag: float | None = None,
    ) -> Judgement:
        return Judgement(
            at=now,
            kind=kind,
            group=known.action.group,
            node=name,
            ours=ours or known.action.what,
            why=known.action.why,
            theirs=theirs,
            their_why=their_why,
            lag=lag,
        )
