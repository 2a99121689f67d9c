"""How long nodes take from when they may go until they have gone, or are needed again."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from prometheus_client import CollectorRegistry, Histogram

from nodewright.api.reasons import Reason
from nodewright.serve.metrics.sight import Sight

_BUCKETS = [1.5**power for power in range(19)]
#: These nodes may not go yet.
_WAITING = (Reason.NOT_LONG_ENOUGH, Reason.NOT_UNREADY_LONG_ENOUGH)
#: Verdicts that nothing keeps a node.
_FREE = (Reason.EMPTY, Reason.MOVABLE, Reason.BEING_DELETED)


@dataclass(kw_only=True)
class _Eligible:
    """A node that may go."""

    since: datetime
    #: What last kept it all the same, as a code.
    delay: str = ""


class RemovalLatency:
    """Follows the nodes that may go. Written on the loop's thread."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seconds = Histogram(
            "cluster_autoscaler_node_removal_latency_seconds",
            "Time from when a node had been unneeded for long enough until it was deleted, or needed again, "
            "by what last kept it.",
            ("deleted", "delay_reason"),
            buckets=_BUCKETS,
            registry=registry,
        )
        self._eligible: dict[str, _Eligible] = {}

    def note_loop(self, sight: Sight) -> None:
        """Take up which nodes may go by now, and which may not any more."""
        decision, memory = sight.decision, sight.memory
        staying = [
            name for name in self._eligible if name not in memory.unneeded.since and name not in memory.leaving.removals
        ]
        for name in staying:
            self._ended(name, decision.at, deleted=False)
        for name in memory.unneeded.since:
            verdict = decision.nodes.get(name)
            if verdict is None or verdict.reason in _WAITING:
                continue
            known = self._eligible.setdefault(name, _Eligible(since=decision.at))
            if verdict.reason not in _FREE:
                known.delay = verdict.reason.value

    def note_deleted(self, nodes: Iterable[str], at: datetime) -> None:
        """Take up that *nodes* were deleted."""
        for name in nodes:
            self._ended(name, at, deleted=True)

    def forget(self) -> None:
        """Follow no node any more."""
        self._eligible.clear()

    def _ended(self, name: str, at: datetime, *, deleted: bool) -> None:
        known = self._eligible.pop(name, None)
        if known is not None:
            seconds = max(0.0, (at - known.since).total_seconds())
            self._seconds.labels("true" if deleted else "false", known.delay).observe(seconds)
