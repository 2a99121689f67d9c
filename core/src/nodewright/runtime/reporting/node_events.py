"""Events on nodes: when one became unneeded or needed again, and what keeps it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.api.decision import Decision
from nodewright.api.reasons import Reason
from nodewright.decision.memory import Memory
from nodewright.decision.world import World
from nodewright.explain.remedy import remedy, telling
from nodewright.kube.events import EventWriter

#: How many are written in one loop. The others have their turn in the next ones.
_PER_LOOP = 10
#: How many wait for their turn, and how many are remembered as written.
_WAITING = 1000
_REMEMBERED = 8192
#: A node gets an event of the same reason once in this time.
_PAUSE = timedelta(hours=1)
#: Reasons that lie in a node's pods, and that people can change.
_BLOCKED = (Reason.BLOCKED_BY_POD, Reason.NO_PLACE)
_NEEDED_AGAIN = "ScaleDownNeededAgain"


@dataclass(frozen=True, kw_only=True)
class _Item:
    reason: str
    message: str


class NodeEvents:
    """Writes changes only: the latest of each node, and few at a time. For the loop's thread."""

    def __init__(self, events: EventWriter) -> None:
        self._events = events
        self._waiting: dict[str, _Item] = {}
        self._written: dict[tuple[str, str], datetime] = {}

    def write(self, decision: Decision, before: Memory, memory: Memory, world: World) -> None:
        """Write what *decision* changed; it was made on *world* and the memory *before*, and left *memory*."""
        for name, item in _changes(decision, before, memory, world):
            unwritten = self._waiting.pop(name, None)
            # If the beginning was never reported, the end need not be.
            over = unwritten is not None and item is not None and item.reason == _NEEDED_AGAIN
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
        last = self._written.get((name, item.reason))
        # After a clock was set back, events must not stop until it catches up.
        if last is not None and timedelta(0) <= now - last < _PAUSE:
            return False
        if len(self._written) >= _REMEMBERED:
            self._written = {key: at for key, at in self._written.items() if timedelta(0) <= now - at < _PAUSE}
        if len(self._written) >= _REMEMBERED:
            return False
        self._written[name, item.reason] = now
        return True


def _changes(decision: Decision, before: Memory, memory: Memory, world: World) -> Iterator[tuple[str, _Item | None]]:
    """Yield the nodes whose verdict is another than *before*, and the event about that, None if it is not worth one."""
    if memory.verdicts.last is before.verdicts.last:
        return
    groups = {facts.id: facts for facts in world.groups}
    going = {drain.node for drain in decision.drain}
    for name, standing in memory.verdicts.last.items():
        if before.verdicts.last.get(name) is standing or name not in decision.nodes:
            continue
        verdict = telling(decision.nodes[name], standing)
        needed = remedy(verdict, name, world, groups.get(world.group_of.get(name, "")))
        message = f"{verdict}. What it would take: {needed}" if needed else str(verdict)
        was, is_unneeded = name in before.unneeded.since, name in memory.unneeded.since
        if name in going:
            # Its drain has an event of its own.
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
