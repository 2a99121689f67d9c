"""Drainability: which pods of a node have to move, and which keep the node."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from nodewright.api.drain_rule import PodFate
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import PodRow
from nodewright.cluster.pod_class import PodClass
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown.drain.chain import DrainChain
from nodewright.decision.scaledown.drain.pod_budgets import PodBudgets
from nodewright.decision.world import World


@dataclass(frozen=True, kw_only=True, slots=True)
class Drainable:
    """What draining a node means for its pods."""

    #: Pods that have to find another node.
    move: tuple[PodRow, ...] = ()
    #: DaemonSet pods, which go with their node.
    daemons: tuple[PodRow, ...] = ()
    #: Pods that are waited for before the node is deleted.
    waits: tuple[PodRow, ...] = ()
    #: Why the node can't be drained: the first pod that must not move. Then the other fields are empty.
    blocker: Verdict | None = None
    #: Whether disruption budgets let only some of its pods leave at a time.
    risky: bool = False
    #: Whether any budget covers one of these pods: once other nodes have spent it, the result may be different.
    budgeted: bool = False


class _Part(Enum):
    """The pods among which a pod counts. Any other answer is the reason why it blocks."""

    MOVES = "move"
    DAEMON = "daemons"
    WAITS = "waits"
    STAYS = "stays behind"


#: Answers by class of pods and name of their controller.
_Kept = dict[PodClass, dict[str, _Part | str]]


class Drainability:
    """What the drain rules say about nodes in one loop.

    Rules are asked once about equal pods, or about each pod where a rule says that its answer varies.
    """

    def __init__(self, world: World, policy: Policy, now: datetime) -> None:
        self._cluster = world.cluster
        self._chain = DrainChain(world.cluster, policy, now)
        self._budgets = PodBudgets(world.cluster.budgets.values())
        self._kept: _Kept = {}
        self._kept_whatever_budgets: _Kept = {}

    def of(self, node: str, *, budgets_block: bool = True) -> Drainable:
        """Return what draining *node* means for its pods. The first one that must not move blocks.

        Once a drain is under way (*budgets_block* False), a spent budget only delays it, as the API server refuses
        evictions. A pod that is already ending does not keep the node then either.
        """
        kept = self._kept if budgets_block else self._kept_whatever_budgets
        move: list[PodRow] = []
        daemons: list[PodRow] = []
        waits: list[PodRow] = []
        for row in self._cluster.pods_on(node):
            owner = row.owner
            try:
                part = kept[row.pod_class]["" if owner is None else owner.name]
            except KeyError:
                part = self._ask(row, kept, budgets_block=budgets_block)
            if part is _Part.MOVES:
                move.append(row)
            elif part is _Part.DAEMON:
                daemons.append(row)
            elif part is _Part.WAITS:
                waits.append(row)
            elif part is not _Part.STAYS:
                return Drainable(blocker=Verdict(reason=Reason.BLOCKED_BY_POD, pod=row.key, cause=part))
        if move and budgets_block and not self._cluster.budgets_seen:
            return Drainable(blocker=Verdict(reason=Reason.BUDGETS_UNSEEN))
        claims = self._budgets.claims(move) if self._budgets else {}
        return Drainable(
            move=tuple(move),
            daemons=tuple(daemons),
            waits=tuple(waits),
            budgeted=bool(claims),
            risky=bool(claims) and not self._budgets.suffice(claims),
        )

    def keeps(self, row: PodRow) -> bool:
        """Tell whether the pod must not move, so that its node stays."""
        try:
            part = self._kept[row.pod_class]["" if row.owner is None else row.owner.name]
        except KeyError:
            part = self._ask(row, self._kept, budgets_block=True)
        return isinstance(part, str)

    def spend(self, drainable: Drainable) -> None:
        """Let the pods of a removable node use up their budgets, so that less is left for other nodes."""
        if drainable.budgeted:
            for pod_class in self._budgets.spend(self._budgets.claims(drainable.move)):
                self._kept.pop(pod_class, None)

    def _ask(self, row: PodRow, kept: _Kept, *, budgets_block: bool) -> _Part | str:
        budgets = self._budgets.of(row)
        judgement = self._chain.ask(row, budgets, self._budgets.spent(budgets) if budgets_block else ())
        part = _part(judgement.fate, row)
        if isinstance(part, str) and row.deleted is not None and not budgets_block:
            part = _part(PodFate.MOVES, row)
        if judgement.shared and not self._budgets.is_distinct(row):
            kept.setdefault(row.pod_class, {})["" if row.owner is None else row.owner.name] = part
        return part


def is_long_terminating(row: PodRow, now: datetime) -> bool:
    """Tell whether the pod should have ended by now: it counts as gone."""
    return row.deleted is not None and row.pod_class.pod.gone_by(row.deleted) < now


def _part(fate: PodFate | str, row: PodRow) -> _Part | str:
    match fate:
        case PodFate.MOVES:
            return _Part.DAEMON if row.pod_class.pod.is_daemon else _Part.MOVES
        case PodFate.WAITS:
            return _Part.WAITS
        case PodFate.STAYS:
            return _Part.STAYS
    return fate
