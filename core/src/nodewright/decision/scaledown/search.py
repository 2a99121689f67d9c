"""The search for nodes that could all go together, with the time there is for it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.health.readiness import is_ready
from nodewright.decision.memory import UnneededMemory
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown.drain.drainability import Drainability, Drainable
from nodewright.decision.scaledown.removable import Removable
from nodewright.decision.world import World
from nodewright.objects import Node
from nodewright.scheduling import ClusterSimulation
from nodewright.scheduling.relocation import Relocation

_NOT_EXAMINED = Verdict(reason=Reason.NOT_EXAMINED)
_EMPTY = Verdict(reason=Reason.EMPTY)


@dataclass(kw_only=True)
class Found:
    """What came of a search."""

    #: How it was found out.
    relocation: Relocation
    #: In the order in which they were found.
    removable: list[Removable] = field(default_factory=list)
    #: Why each of the other candidates stays.
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    #: Candidates that there was no time for, in the order in which it is their turn.
    unexamined: tuple[str, ...] = ()


def search(
    candidates: Sequence[Node],
    world: World,
    memory: UnneededMemory,
    simulation: ClusterSimulation,
    policy: Policy,
    now: datetime,
    *,
    deadline: float,
) -> Found:
    """Return which *candidates* could go at *now*, if all of them that are found went.

    Each finds its pods a place in *simulation*, which is used up by that, on nodes that stay. The search ends when the
    policy's stopwatch is past *deadline*, but for the first candidate; those that were left are looked at first in the
    next loop.
    """
    drainability = Drainability(world, policy, now)
    judged = [(node, drainability.of(node.name)) for node in candidates]
    in_turn = _in_turn(judged, memory)
    queue = [(node, drainable) for node, drainable in in_turn if drainable.blocker is None]
    relocation = Relocation(simulation, [node.name for node, _ in queue])
    found = Found(relocation=relocation)
    found.verdicts.update({node.name: each.blocker for node, each in in_turn if each.blocker is not None})
    for index, (node, drainable) in enumerate(queue):
        name = node.name
        if index and policy.stopwatch() > deadline:
            found.unexamined = tuple(each.name for each, _ in queue[index:])
            found.verdicts.update(dict.fromkeys(found.unexamined, _NOT_EXAMINED))
            break
        # Nodes before it may have used up what budgets allowed.
        drainable = drainability.of(name) if drainable.budgeted else drainable
        if drainable.blocker is not None:
            found.verdicts[name] = drainable.blocker
            continue
        guests = tuple(guest.key for guest in relocation.guests(name))
        relocated = relocation.remove(name, drainable.move, memory.hints.get(name, ()))
        if relocated.homeless is not None:
            found.verdicts[name] = Verdict(reason=Reason.NO_PLACE, pod=relocated.homeless.key)
            continue
        drainability.spend(drainable)
        group = world.group_on(name)
        assert group is not None, "every candidate has a group"
        found.removable.append(
            Removable(
                node=node,
                group=group,
                move=drainable.move,
                guests=guests,
                waits=drainable.waits,
                verdict=_unneeded([row.key for row in drainable.move] + list(guests)),
                hints=relocated.hints,
                ready=is_ready(node, world, policy.settings.templates),
                risky=drainable.risky,
            )
        )
    return found


def _in_turn(judged: list[tuple[Node, Drainable]], memory: UnneededMemory) -> list[tuple[Node, Drainable]]:
    """Return candidates in the order in which they are tried.

    Those that there was no time for the last time come first. Then empty ones, and those that were unneeded before,
    the longest first, so that nobody comes between; the others as they came.
    """
    turn = {name: number for number, name in enumerate(memory.unexamined)}
    last = len(turn)

    def rank(entry: tuple[Node, Drainable]) -> tuple[int, bool, bool, float]:
        node, drainable = entry
        since = memory.since.get(node.name)
        return turn.get(node.name, last), bool(drainable.move), since is None, since.timestamp() if since else 0.0

    return sorted(judged, key=rank)


def _unneeded(moving: list[str]) -> Verdict:
    if not moving:
        return _EMPTY
    return Verdict(reason=Reason.MOVABLE, detail=f"{len(moving)} pods" if len(moving) > 1 else moving[0])
