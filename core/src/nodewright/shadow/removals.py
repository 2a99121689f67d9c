"""Removals compared: which nodes go, and when."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from nodewright.api.decision import Decision
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.memory import LastVerdict
from nodewright.decision.scaledown.removal.soft_taints import unneeded_since
from nodewright.explain.remedy import telling
from nodewright.objects import Node
from nodewright.shadow.finding import Finding, Kind
from nodewright.shadow.proposals import Proposal, Proposals, Wish
from nodewright.shadow.sighting import Deeds, Going

#: A node with one of these might go, were it not for others that go first.
_IN_TURN = (
    Reason.BUDGET,
    Reason.DISRUPTION_BUDGET,
    Reason.EVICTION_LIMIT,
    Reason.GROUP_AT_MIN,
    Reason.LIMIT_MIN_RESOURCES,
)
_UNRIPE = (Reason.NOT_LONG_ENOUGH, Reason.NOT_UNREADY_LONG_ENOUGH)
#: Both would take the node out of service, each in its own way.
_REPLACED = (Reason.BEING_REPLACED, Reason.CONSOLIDATED)


@dataclass(frozen=True, kw_only=True)
class NodeViews:
    """What we thought of nodes in the loop before, when nobody had marked them yet."""

    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    standings: Mapping[str, LastVerdict] = field(default_factory=dict)
    #: When the pause of each group ends, or has ended; None where there was no reason for one.
    pauses: Mapping[str, datetime | None] = field(default_factory=dict)

    def of(self, node: str) -> Verdict | None:
        """Return our verdict on *node*; None if it was not there."""
        verdict = self.verdicts.get(node)
        return None if verdict is None else telling(verdict, self.standings.get(node))


class RemovalComparison:
    """Compares loop by loop. Until *settled*, nobody knows what the other one's timers were when we began."""

    def __init__(self, patience: timedelta, settled: datetime) -> None:
        self._patience = patience
        self._settled = settled
        self._proposals = Proposals(patience)

    def compare(
        self, deeds: Deeds, views: NodeViews, decision: Decision, nodes: Mapping[str, Node]
    ) -> Iterator[Finding]:
        """Yield what is found about the removals that began by *deeds*; *decision* on *nodes* is the present one."""
        wishes = {
            drain.node: Wish(group=drain.group, what="would remove it", why=str(drain.verdict))
            for drain in decision.drain
        }
        # Those we would have removed as well first: so that they do not stand for others.
        for name, going in sorted(deeds.began.items(), key=lambda item: self._proposals.get(item[0]) is None):
            yield self._judge(name, going, views, wishes, deeds.at)
            self._proposals.close([name])
        for name, known in self._proposals.renew(wishes, deeds.at).items():
            lag = (deeds.at - known.since).total_seconds()
            yield self._of(known, name, deeds.at, Kind.OVER, lag=lag)
        for name, known in self._proposals.overdue(deeds.at, not_before=self._settled).items():
            since = unneeded_since(nodes[name]) if name in nodes else None
            yield self._of(
                known,
                name,
                deeds.at,
                Kind.REMOVAL_MISSING,
                theirs="did not",
                lag=(deeds.at - known.since).total_seconds(),
                their_why=f"it is unneeded for them since {since:%H:%M:%S}" if since else "",
            )

    def _judge(self, name: str, going: Going, views: NodeViews, wishes: Mapping[str, Wish], now: datetime) -> Finding:
        known = self._proposals.get(name)
        if known is not None:
            lag = (going.since - known.since).total_seconds()
            kind = Kind.LATE if known.told else Kind.REMOVAL
            return self._of(known, name, now, kind, theirs="removed it", lag=lag)
        verdict = views.of(name)

        def found(kind: Kind, *, ours: str = "", why: str = "", lag: float | None = None) -> Finding:
            return Finding(
                at=now,
                kind=kind,
                group=going.group,
                node=name,
                ours=ours,
                why=why or (str(verdict) if verdict is not None else ""),
                theirs="removed it",
                lag=lag,
            )

        if verdict is None or verdict.reason is Reason.GROUP_FAULTY:
            return found(Kind.UNJUDGED, why="" if verdict else "it was not there a loop before")
        rival = self._rival(going.group, wishes)
        if verdict.reason in _REPLACED:
            return found(Kind.REMOVAL, ours="would replace it")
        if verdict.reason in _IN_TURN and (rival is not None or verdict.reason is not Reason.GROUP_AT_MIN):
            if rival is None:
                return found(Kind.REMOVAL, ours="would remove it in its turn")
            self._proposals.close([rival])
            return found(Kind.REMOVAL_EQUIVALENT, ours=f"would begin with {rival}")
        due = verdict.until if verdict.reason in _UNRIPE else views.pauses.get(going.group) or now
        if verdict.reason in (*_UNRIPE, Reason.COOLING_DOWN) and due is not None:
            lag = (going.since - due).total_seconds()
            if due <= going.since + self._patience:
                return found(Kind.REMOVAL, ours="would remove it", lag=min(lag, 0.0))
            if now < self._settled:
                return found(Kind.UNJUDGED, ours=f"would wait until {due:%H:%M:%S}", lag=lag)
            return found(Kind.REMOVAL_EARLY, ours=f"would wait until {due:%H:%M:%S}", lag=lag)
        if rival is not None:
            self._proposals.close([rival])
            return found(Kind.REMOVAL_NODE, ours=f"would remove {rival}")
        return found(Kind.REMOVAL_EXTRA, ours="would keep it")

    def _rival(self, group: str, wishes: Mapping[str, Wish]) -> str | None:
        """Return the node of *group* that we would have removed, and would not any more."""
        return next(
            (
                name
                for name, known in self._proposals.all.items()
                if known.wish.group == group and name not in wishes and not known.told
            ),
            None,
        )

    def _of(
        self,
        known: Proposal,
        name: str,
        now: datetime,
        kind: Kind,
        *,
        theirs: str = "",
        their_why: str = "",
        lag: float | None = None,
    ) -> Finding:
        return Finding(
            at=now,
            kind=kind,
            group=known.wish.group,
            node=name,
            ours=known.wish.what,
            why=known.wish.why,
            theirs=theirs,
            their_why=their_why,
            lag=lag,
        )
