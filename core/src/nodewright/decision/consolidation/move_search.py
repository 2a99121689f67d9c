"""The search for moves that are worth it: single nodes first, then several together, within a time limit."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from nodewright.api.group import GroupFacts
from nodewright.decision.consolidation.candidate import Candidate, candidate
from nodewright.decision.consolidation.move import Move, Moves
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown.drain.drainability import Drainability
from nodewright.decision.world import World

#: The share of the time that is kept for several nodes together.
_KEPT = 0.5


class MoveSearch:
    """Looks at nodes in order of their names. The next loop goes on where this one has no time left."""

    def __init__(self, world: World, moves: Moves, drainability: Drainability, policy: Policy) -> None:
        self._world = world
        self._moves = moves
        self._drainability = drainability
        self._policy = policy
        self._settings = policy.settings.scale_down.consolidation
        self._ends = policy.stopwatch() + self._settings.search_time.total_seconds()
        #: The moves that are worth it, in the order in which they were found.
        self.found: list[Move] = []
        #: Why single nodes are not worth it, by name.
        self.reasons: dict[str, str] = {}
        #: The last node that was looked at; empty if none was.
        self.examined = ""
        #: Whether no node is left for the next loop.
        self.complete = True

    def look(self, groups: Mapping[str, GroupFacts], behind: str) -> None:
        """Look at the nodes whose *groups* are given, from the first name after *behind* on, while there is time."""
        candidates = []
        for name in sorted(groups):
            if name <= behind:
                self.reasons[name] = "nothing cheaper was found in a loop before"
                continue
            if self.examined and self._is_over(kept=_KEPT):
                self.complete = False
                self.reasons[name] = "there was no time to look at it in this loop"
                continue
            self.examined = name
            found = candidate(self._world.cluster.nodes[name], groups[name], self._drainability)
            if isinstance(found, str):
                self.reasons[name] = found
                continue
            candidates.append(found)
            self._try([found])
        for together in _sets(candidates, self._settings.max_nodes):
            if self._is_over():
                break
            self._try(together)

    def _try(self, leaving: Sequence[Candidate]) -> None:
        move = self._moves.best(leaving)
        if isinstance(move, Move):
            self.found.append(move)
        elif len(leaving) == 1:
            self.reasons[leaving[0].node.name] = move

    def _is_over(self, kept: float = 0.0) -> bool:
        left = self._ends - self._policy.stopwatch()
        return left <= kept * (self._settings.search_time / timedelta(seconds=1))


def _sets(candidates: Sequence[Candidate], most: int) -> Iterator[Sequence[Candidate]]:
    """Yield sets of up to *most* nodes, of each group and of all: those with the highest price for their disruption."""
    ranked = sorted(candidates, key=lambda each: (-each.price / each.disruption, each.node.name))
    groups = sorted({each.group.id for each in ranked})
    lines = [[each for each in ranked if each.group.id == group] for group in groups]
    if len(groups) > 1:
        lines.append(ranked)
    for size in range(2, most + 1):
        for line in lines:
            if len(line) >= size:
                yield line[:size]
