"""The reserve: free room for pods like those that came lately, which consolidation leaves as it is."""

from dataclasses import replace
from datetime import datetime, timedelta

from nodewright.api.option import PodSet
from nodewright.decision.consolidation.candidate import pod_sets
from nodewright.decision.world import World
from nodewright.scheduling import ClusterSimulation


class Reserve:
    """Tells whether pods like those that came in the last *time* would find as much room as in *simulation*.

    Idle nodes look like waste, but pods that come do not wait for a node as long as there are some. What came lately
    is taken for what may come next. For one decision, on one thread.
    """

    def __init__(self, world: World, simulation: ClusterSimulation, time: timedelta, now: datetime) -> None:
        rows = [
            row
            for row in world.cluster.pods.values()
            if row.created is not None
            and row.created > now - time
            and row.deleted is None
            and not row.finished
            and not row.pod_class.pod.is_daemon
            and not row.pod_class.pod.is_mirror
        ]
        self._sets = [_like(pods) for pods in pod_sets(rows)]
        # At once: later, forks may have changed what is to be compared with.
        self._before = self._room(simulation)

    def is_kept(self, simulation: ClusterSimulation) -> bool:
        """Tell whether there is as much room for each kind now in a *simulation*, which is left as it is."""
        return all(room >= before for room, before in zip(self._room(simulation), self._before, strict=True))

    def _room(self, simulation: ClusterSimulation) -> list[int]:
        """Return how many of each kind find room if they all come again at once."""
        with simulation.fork() as fork:
            return [len(fork.place(pods)) for pods in self._sets]


def _like(pods: PodSet) -> PodSet:
    """Return as many other pods like *pods*."""
    return replace(pods, keys=tuple(f"{key} again" for key in pods.keys))
