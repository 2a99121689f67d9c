"""News of nodes: events that tell when a node became unneeded or needed again, and what keeps it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.api.decision import Decision
from nodewright.api.reasons import Reason
from nodewright.decision.memory import Memory
from nodewright.decision.world import World
from nodewright.explain.advice import advice, informative_verdict
from nodewright.kube.events import EventWriter

#: So many are told in one loop; the others have their turn in the next ones.
_PER_LOOP = 10
#: So many wait for their turn, and so many are remembered as told.
_WAITING = 1000
_REMEMBERED = 8192
#: The same is told of the same node once in this time.
_PAUSE = timedelta(hours=1)
#: Something about a node's pods that people can change.
_BLOCKED = (Reason.BLOCKED_BY_POD, Reason.NO_PLACE)
_NEEDED_AGAIN = "ScaleDownNeededAgain"


@dataclass(frozen=True, kw_only=True)
class _Item:
    reason: str
    message: str


class NodeNews:
    """Tells of changes only, of the latest for each node, and of few at a time. For the loop's thread."""

    def __init__(self, events: EventWriter) -> None:
        self._events = events
        self._waiting: dict[str, _Item] = {}
        self._told: dict[tuple[str, str], datetime] = {}

    def tell(self, decision: Decision, before: Memory, memory: Memory, world: World) -> None:
        """Tell what *decision* changed about nodes of *world*; memory is that of *before* and of afterwards."""
        for name, item in _news(decision, before, memory, world):
            untold = self._waiting.pop(name, None)
            # Of what nobody was told, nobody needs to hear that it is over.
            over = untold is not None and item is not None and item.reason == _NEEDED_AGAIN
            if item is not None and not over and len(self._waiting) < _WAITING:
                self._waiting[name] = item
        left = _PER_LOOP
        for name in list(self._waiting):
            if not left:
                return
            item, node = self._waiting.pop(name), world.cluster.nodes.get(name)
            if node is not None and self._is_due(name, item, decision.at):
                self._events.on_node(node, item.reason, item.message)
                left -= 1

    def _is_due(self, name: str, item: _Item, now: datetime) -> bool:
        last = self._told.get((name, item.reason))
        # A clock that was set back must not silence it until it catches up.
        if last is not None and timedelta(0) <= now - last < _PAUSE:
            return False
        if len(self._told) >= _REMEMBERED:
            self._told = {key: at for key, at in self._told.items() if timedelta(0) <= now - at < _PAUSE}
        if len(self._told) >= _REMEMBERED:
            return False
        self._told[name, item.reason] = now
        return True


def _news(decision: Decision, before: Memory, memory: Memory, world: World) -> Iterator[tuple[str, _Item | None]]:
    """Yield the nodes that stand otherwise than *before*, and what to tell of it, if it is worth telling."""
    if memory.verdicts.last is before.verdicts.last:
        return
    groups = {facts.id: facts for facts in world.groups}
    going = {drain.node for drain in decision.drain}
    for name, standing in memory.verdicts.last.items():
        if before.verdicts.last.get(name) is standing or name not in decision.nodes:
            continue
        verdict = informative_verdict(decision.nodes[name], standing)
        needed = advice(verdict, name, world, groups.get(world.group_of.get(name, "")))
        message = f"{verdict}. What it would take: {needed}" if needed else str(verdict)
        was, is_unneeded = name in before.unneeded.since, name in memory.unneeded.since
        if name in going:
            # That has an event of its own.
            yield name, None
        elif is_unneeded:
            yield (
                name,
                None
                if was
                else _Item(reason="ScaleDownUnneeded", message=f"node is not needed. It stays for now: {message}"),
            )
        elif standing.reason in _BLOCKED:
            yield name, _Item(reason="ScaleDownBlocked", message=f"node stays: {message}")
        elif was and standing.reason is not Reason.BEING_DELETED:
            yield name, _Item(reason=_NEEDED_AGAIN, message=f"node is needed again: {verdict}")
        else:
            yield name, None
