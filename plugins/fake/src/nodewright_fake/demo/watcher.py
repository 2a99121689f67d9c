"""The demo's eyes in the autoscaler: a plugin that watches what is decided and how it goes."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from nodewright.api import (
    Decision,
    DeleteInstances,
    Drain,
    Evict,
    Grow,
    Outcome,
    Plugin,
    PluginConfig,
    Reason,
    Restore,
    Shrink,
    Verdict,
    hookimpl,
)
from nodewright.testing import describe_actions, describe_failure

from nodewright_fake.demo.log import LineKind, Log
from nodewright_fake.demo.words import count

Action = Restore | Shrink | Grow | DeleteInstances | Drain | Evict

_KINDS: dict[type[Action], LineKind] = {
    Restore: LineKind.TROUBLE,
    Shrink: LineKind.TROUBLE,
    Grow: LineKind.GROW,
    DeleteInstances: LineKind.SHRINK,
    Drain: LineKind.DRAIN,
    Evict: LineKind.DRAIN,
}
#: Reasons to delete machines that never became nodes.
_STILLBORN = (Reason.CREATE_FAILED, Reason.NEVER_REGISTERED)


@dataclass(frozen=True, kw_only=True)
class Cause:
    """What was done, and why."""

    action: str
    reason: Reason


class Watcher(Plugin):
    """Observes an autoscaler. Its hooks are called on the loop's thread; what it noted may be read from any."""

    def __init__(self, log: Log) -> None:
        super().__init__(PluginConfig())
        #: Decisions by what was done and why, and the nodes and machines that they were about.
        self.decisions: Counter[Cause] = Counter()
        self.nodes: Counter[Cause] = Counter()
        #: What went wrong.
        self.troubles: Counter[str] = Counter()
        #: Pods that left a node because they were asked to.
        self.evictions = 0
        #: The latest verdict on each node.
        self.verdicts: dict[str, Verdict] = {}
        self._log = log
        self._refusals: list[Outcome] = []

    @hookimpl
    def on_decision(self, decision: Decision) -> None:
        """Note what is done and why."""
        self._tell_refusals()
        self.verdicts = decision.nodes
        for action, text in zip(_actions(decision), describe_actions(decision), strict=True):
            self._log.tell(_kind(action), text, at=decision.at)
            if not isinstance(action, Evict):
                cause = Cause(action=_name(action), reason=action.verdict.reason)
                self.decisions[cause] += 1
                self.nodes[cause] += _size(action)

    @hookimpl
    def on_outcome(self, outcome: Outcome) -> None:
        """Note what went wrong. Refused evictions come in swarms, so the next decision logs them in one line."""
        if outcome.ok:
            self.evictions += outcome.action == "evict"
        elif outcome.action == "evict":
            self.troubles["evictions refused, and tried again"] += 1
            self._refusals.append(outcome)
        else:
            self.troubles[f"actions that failed: {outcome.action}"] += 1
            self._log.tell(LineKind.TROUBLE, describe_failure(outcome), at=outcome.at)

    @hookimpl
    def on_fault(self, plugin: str, where: str, error: str) -> None:
        """Note that a plugin failed."""
        self.troubles[f"faults of plugin {plugin}"] += 1
        self._log.tell(LineKind.TROUBLE, f"plugin {plugin} failed in {where}: {error}")

    def _tell_refusals(self) -> None:
        refusals, self._refusals = self._refusals, []
        if refusals:
            why = refusals[0].error.rpartition(": ")[2]
            self._log.tell(
                LineKind.TROUBLE,
                f"{count(len(refusals), 'eviction')} refused, to be tried again: {why}",
                at=refusals[0].at,
            )


def _actions(decision: Decision) -> Iterator[Action]:
    """All actions, in the order in which they are logged."""
    yield from decision.restore
    yield from decision.shrink
    yield from decision.grow
    yield from decision.delete
    yield from decision.drain
    yield from decision.evict


def _kind(action: Action) -> LineKind:
    if isinstance(action, DeleteInstances) and action.verdict.reason in _STILLBORN:
        return LineKind.TROUBLE
    return _KINDS[type(action)]


def _name(action: Action) -> str:
    return "delete" if isinstance(action, DeleteInstances) else type(action).__name__.lower()


def _size(action: Action) -> int:
    """How many nodes or machines the action is about."""
    match action:
        case Grow() | Shrink():
            return action.count
        case DeleteInstances():
            return len(action.instances)
    return 1
