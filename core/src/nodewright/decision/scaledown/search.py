"""The search for nodes that could go: first all of them together, then the chosen ones by themselves."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

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
from nodewright.scheduling.relocation import Relocation, Tenant

_NOT_EXAMINED = Verdict(reason=Reason.NOT_EXAMINED)
_EMPTY = Verdict(reason=Reason.EMPTY)


@dataclass(kw_only=True)
class Found:
    """The result of a search."""

    #: The simulated moves of the removable nodes' pods.
    relocation: Relocation
    #: In the order in which they were found.
    removable: list[Removable] = field(default_factory=list)
    #: Why each of the other candidates stays.
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    #: Candidates for which there was no time, in the order in which the next loop looks at them.
    unexamined: tuple[str, ...] = ()


class Search:
    """Searches for nodes that could all go, by what *drainability* says about them."""

    def __init__(self, world: World, drainability: Drainability, simulation: ClusterSimulation, policy: Policy) -> None:
        self._world = world
        self._drainability = drainability
        self._simulation = simulation
        self._policy = policy

    def among(self, candidates: Sequence[Node], memory: UnneededMemory, *, deadline: float) -> Found:
        """Return which *candidates* could go if all of them that are found went.

        The pods of each get a place in the simulation, which is used up by that, on nodes that stay. The search ends
        when the policy's stopwatch is past *deadline*, but looks at one candidate at least. The next loop begins with
        those that are left.
        """
        judged = [(node, self._drainability.of(node.name)) for node in candidates]
        in_turn = _in_turn(judged, memory)
        queue = [(node, drainable) for node, drainable in in_turn if drainable.blocker is None]
        relocation = Relocation(self._simulation, [node.name for node, _ in queue])
        found = Found(relocation=relocation)
        found.verdicts.update({node.name: each.blocker for node, each in in_turn if each.blocker is not None})
        for index, (node, drainable) in enumerate(queue):
            if index and self._policy.stopwatch() > deadline:
                found.unexamined = tuple(each.name for each, _ in queue[index:])
                found.verdicts.update(dict.fromkeys(found.unexamined, _NOT_EXAMINED))
                break
            # Nodes before it may have used up what budgets allowed.
            drainable = self._drainability.of(node.name) if drainable.budgeted else drainable
            result = self._try(node, drainable, relocation, memory)
            if isinstance(result, Removable):
                found.removable.append(result)
            else:
                found.verdicts[node.name] = result
        return found

    def _try(
        self, node: Node, drainable: Drainable, relocation: Relocation, memory: UnneededMemory
    ) -> Removable | Verdict:
        """Move the pods of *node*, and return it as removable; or return why it is not."""
        name = node.name
        if drainable.blocker is not None:
            return drainable.blocker
        guests = tuple(guest.key for guest in relocation.guests(name))
        relocated = relocation.remove(name, drainable.move, memory.hints.get(name, ()))
        if relocated.homeless is not None:
            return Verdict(reason=Reason.NO_PLACE, pod=relocated.homeless.key)
        self._drainability.spend(drainable)
        group = self._world.group_on(name)
        assert group is not None, "every candidate has a group"
        return Removable(
            node=node,
            group=group,
            move=drainable.move,
            guests=guests,
            waits=drainable.waits,
            verdict=_unneeded([row.key for row in drainable.move] + list(guests)),
            hints=relocated.hints,
            ready=is_ready(node, self._world, self._policy.settings.templates),
            risky=drainable.risky,
        )


class Confirmation:
    """Checks whether the nodes that are chosen among those *removable* could go if only they went.

    That all of these could go together does not mean that a part of them can: a pod may have found its place beside
    another one that moved, or in the domain of a node that was gone. Chosen nodes are taken out of *simulation* one
    after the other. A context manager, at whose end the simulation is as before.
    """

    def __init__(self, simulation: ClusterSimulation, removable: Sequence[Removable]) -> None:
        self._simulation = simulation
        self._removable = removable
        self._relocation: Relocation | None = None
        self._fork = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._fork.close()

    def __call__(self, block: Sequence[Removable], chosen: Sequence[Removable]) -> Verdict | None:
        """Return why the nodes of *block*, which go together or not at all, can't go beside those *chosen* before."""
        if self._relocation is None:
            self._relocation = self._begin(chosen)
        for taken_out, entry in enumerate(block):
            homeless = _take_out(entry, self._relocation)
            if homeless is not None:
                if taken_out:
                    # The room that a part of the block took is free again.
                    self._fork.close()
                    self._relocation = None
                return Verdict(reason=Reason.NO_PLACE, pod=homeless.key, detail="unless other nodes went, too")
        return None

    def _begin(self, chosen: Sequence[Removable]) -> Relocation:
        """Return a relocation in which only the *chosen* nodes are out."""
        self._fork.enter_context(self._simulation.fork())
        relocation = Relocation(self._simulation, [entry.node.name for entry in self._removable])
        for entry in chosen:
            _take_out(entry, relocation)
        return relocation


def _in_turn(judged: list[tuple[Node, Drainable]], memory: UnneededMemory) -> list[tuple[Node, Drainable]]:
    """Return candidates in the order in which they are tried.

    Those for which the last loop had no time come first, and empty ones before others. Within these, nodes that were
    unneeded before come first, the longest time first, so that they are found again. The rest keep their order.
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


def _take_out(entry: Removable, relocation: Relocation) -> Tenant | None:
    """Take a node out, and return a pod that then has no place. Pods of replaced nodes have been moved already."""
    return None if entry.replaced else relocation.remove(entry.node.name, entry.move, entry.hints).homeless
