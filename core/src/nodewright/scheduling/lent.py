"""A simulation lent to a plugin: for one call, and with nothing but what the contract promises."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType

from nodewright.api.group import GroupFacts
from nodewright.api.option import PodSet
from nodewright.api.simulation import PlacementRule
from nodewright.api.verdict import Verdict
from nodewright.objects import Resources
from nodewright.scheduling.simulation import ClusterSimulation


@contextmanager
def lend(simulation: ClusterSimulation) -> Iterator["LentSimulation"]:
    """Lend *simulation* within a ``with`` block; its end undoes all changes, unless `ClusterSimulation.keep` is called.

    Raises `RuntimeError` at the end if a fork was left open, after it has undone that one as well.
    """
    with simulation.fork():
        lent = LentSimulation(simulation)
        try:
            yield lent
        finally:
            lent._take_back()


class LentSimulation:
    """Implements `nodewright.api.Simulation` until it is taken back."""

    def __init__(self, simulation: ClusterSimulation) -> None:
        self._simulation: ClusterSimulation | None = simulation
        self._forks: list[_Fork] = []

    def _take_back(self) -> None:
        """End the loan: forks that are still open are undone, and every further call raises."""
        left = len(self._forks)
        while self._forks:
            self._forks[-1].end()
        self._simulation = None
        if left:
            raise RuntimeError("a fork of the simulation was left open: use it in a with block")

    def fork(self) -> AbstractContextManager["LentSimulation"]:
        """Change this simulation in a ``with`` block, whose end undoes all changes."""
        return _Fork(self, self._forks, self._lent)

    def add_nodes(self, group: GroupFacts, count: int) -> Sequence[str]:
        """Add empty nodes like the group's template; see `nodewright.api.Simulation`."""
        return self._lent.add_nodes(group, count)

    def place(self, pods: PodSet, *, on: Sequence[str] | None = None) -> Mapping[str, str]:
        """Put as many of *pods* as fit onto nodes; see `nodewright.api.Simulation`."""
        return self._lent.place(pods, on=on)

    def why_not(self, pods: PodSet, node: str) -> Verdict | None:
        """Return why a pod of *pods* does not fit on *node* now; None if it does."""
        return self._lent.why_not(pods, node)

    def rules(self, pods: PodSet) -> Sequence[PlacementRule]:
        """Return the rules of *pods* about other pods; see `nodewright.api.Simulation`."""
        return self._lent.rules(pods)

    def free(self, node: str) -> Resources:
        """Return the free room of *node*."""
        return self._lent.free(node)

    @property
    def _lent(self) -> ClusterSimulation:
        if self._simulation is None:
            raise RuntimeError("this simulation was lent for one call, which is over")
        return self._simulation


class _Fork:
    """A fork that ends with its block or with the loan, whichever comes first: never when it is forgotten."""

    def __init__(self, lent: LentSimulation, forks: list["_Fork"], simulation: ClusterSimulation) -> None:
        self._lent = lent
        self._forks = forks
        self._fork = simulation.fork()

    def __enter__(self) -> LentSimulation:
        self._fork.__enter__()
        self._forks.append(self)
        return self._lent

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self not in self._forks:
            raise RuntimeError("this fork of the simulation has ended already")
        while self._forks[-1] is not self:
            self._forks[-1].end()
        self.end()

    def end(self) -> None:
        """Undo what was done in it. It must be the innermost one."""
        self._forks.pop()
        self._fork.__exit__(None, None, None)
