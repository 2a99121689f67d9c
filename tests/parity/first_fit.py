"""First fit as Cluster Autoscaler does it, one pod and one node at a time: what our estimates are held against.

It shares nothing with our estimator but the simulation, whose placements `tests/oracle` checks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nodewright.api import Estimate, Estimator, GroupFacts, PluginConfig, PodSet, Simulation

#: Makes an estimate, as `nodewright.api.Estimator` does.
Reference = Callable[[GroupFacts, Sequence[PodSet], Simulation, int], Estimate]


def first_fit(group: GroupFacts, pods: Sequence[PodSet], simulation: Simulation, limit: int) -> Estimate:
    """Let each pod take the first node with room."""
    return _Filling(group, simulation, limit, turning=False).fill(pods)


def next_fit(group: GroupFacts, pods: Sequence[PodSet], simulation: Simulation, limit: int) -> Estimate:
    """Let each search for room begin after the node at which the last one ended."""
    return _Filling(group, simulation, limit, turning=True).fill(pods)


#: In which order Cluster Autoscaler goes through new nodes depends on its snapshot: both of these happen.
REFERENCES: dict[str, Reference] = {"first fit": first_fit, "next fit": next_fit}


class _Filling:
    """New nodes of a group, as they fill."""

    def __init__(self, group: GroupFacts, simulation: Simulation, limit: int, *, turning: bool) -> None:
        self._group = group
        self._simulation = simulation
        self._limit = limit
        self._turning = turning
        self._start = 0
        self._nodes: list[str] = []
        self._used: set[str] = set()
        self._placed: list[PodSet] = []

    def fill(self, pods: Sequence[PodSet]) -> Estimate:
        """Return those of *pods* that found room, and how many nodes they are on."""
        for same in sorted(pods, key=self._score, reverse=True):
            self._fill_with([PodSet(pod=same.pod, keys=(key,)) for key in same.keys])
        return Estimate(nodes=len(self._used), pods=tuple(self._placed))

    def _score(self, pods: PodSet) -> float:
        allocatable = self._group.template.allocatable if self._group.template else {}
        return sum(pods.pod.requests.get(name, 0) / (allocatable.get(name) or 1) for name in ("cpu", "memory"))

    def _fill_with(self, pods: list[PodSet]) -> None:
        while pods and self._put_anywhere(pods[0]):
            pods = pods[1:]
        for pod in pods:
            if self._nodes and self._put(pod, [self._nodes[-1]]):
                continue
            if (self._nodes and self._nodes[-1] not in self._used) or len(self._nodes) >= self._limit:
                return
            self._nodes += self._simulation.add_nodes(self._group, 1)
            if not self._put(pod, [self._nodes[-1]]):
                return

    def _put_anywhere(self, pod: PodSet) -> bool:
        nodes = self._nodes
        if not self._turning:
            return self._put(pod, nodes)
        return self._put(pod, nodes[self._start :]) or self._put(pod, nodes[: self._start])

    def _put(self, pod: PodSet, nodes: Sequence[str]) -> bool:
        home = self._simulation.place(pod, on=nodes).get(pod.keys[0]) if nodes else None
        if home is None:
            return False
        self._used.add(home)
        self._placed.append(pod)
        self._start = self._nodes.index(home) + 1
        return True


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What our estimator found for a group, and what a reference did."""

    group: str
    reference: str
    ours: Estimate
    theirs: Estimate

    @property
    def worse(self) -> bool:
        """Whether we help fewer pods, or as many with more nodes."""
        return _worth(self.theirs) > _worth(self.ours)

    @property
    def better(self) -> bool:
        """Whether we help more pods, or as many with fewer nodes."""
        return _worth(self.ours) > _worth(self.theirs)

    @property
    def other_pods(self) -> bool:
        """Whether we help pods that the reference does not help."""
        return bool(_helped(self.ours) - _helped(self.theirs))

    def __str__(self) -> str:
        (ours, mine), (theirs, yours) = _worth(self.ours), _worth(self.theirs)
        return f"{self.group}: {ours} pods on {-mine} nodes, by {self.reference} {theirs} pods on {-yours}"


def _helped(estimate: Estimate) -> set[str]:
    return {key for pods in estimate.pods for key in pods.keys}


def _worth(estimate: Estimate) -> tuple[int, int]:
    return len(_helped(estimate)), -estimate.nodes


class Judged(Estimator):
    """An estimator that is held against all references for each estimate that it makes."""

    by_template = True

    def __init__(self, config: PluginConfig, estimator: Estimator) -> None:
        super().__init__(config)
        self._estimator = estimator
        self.judgements: list[Judgement] = []

    def estimate(self, group: GroupFacts, pods: Sequence[PodSet], simulation: Simulation, limit: int) -> Estimate:
        with simulation.fork() as fork:
            found = self._estimator.estimate(group, pods, fork, limit)
        for name, reference in REFERENCES.items():
            with simulation.fork() as fork:
                theirs = reference(group, pods, fork, limit)
            self.judgements.append(Judgement(group=group.id, reference=name, ours=found, theirs=theirs))
        return found
