"""A simulation that notes what is done to it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from nodewright.api import GroupFacts, PlacementRule, PodSet, Resources, Simulation, Verdict


class Watched:
    """Implements `nodewright.api.Simulation` on another one; *changes* are the calls outside of forks."""

    def __init__(self, simulation: Simulation) -> None:
        self.changes: list[str] = []
        self._simulation = simulation
        self._forks = 0

    @contextmanager
    def fork(self) -> Iterator["Watched"]:
        """As the other's; what happens in it is no change."""
        self._forks += 1
        with self._simulation.fork():
            try:
                yield self
            finally:
                self._forks -= 1

    def add_nodes(self, group: GroupFacts, count: int) -> Sequence[str]:
        """As the other's."""
        self._note("add_nodes()")
        return self._simulation.add_nodes(group, count)

    def place(self, pods: PodSet, *, on: Sequence[str] | None = None) -> Mapping[str, str]:
        """As the other's."""
        self._note("place()")
        return self._simulation.place(pods, on=on)

    def why_not(self, pods: PodSet, node: str) -> Verdict | None:
        """As the other's."""
        return self._simulation.why_not(pods, node)

    def rules(self, pods: PodSet) -> Sequence[PlacementRule]:
        """As the other's."""
        return self._simulation.rules(pods)

    def free(self, node: str) -> Resources:
        """As the other's."""
        return self._simulation.free(node)

    def _note(self, call: str) -> None:
        if not self._forks and call not in self.changes:
            self.changes.append(call)
