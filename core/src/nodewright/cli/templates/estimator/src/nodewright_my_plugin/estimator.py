# EDIT: say in one line why anyone wants this estimator.
"""First fit, biggest pods first, and no more than a handful of nodes at once."""

from collections.abc import Sequence

from nodewright.api import Estimate, Estimator, GroupFacts, PluginConfig, PodSet, Simulation
from pydantic import Field


class MyPluginConfig(PluginConfig):
    """What YAML may say under ``my-plugin``."""

    # EDIT: your settings. Names are in camelCase in YAML: this one is nodesAtOnce.
    nodes_at_once: int | None = Field(default=None, ge=1, description="most nodes that one estimate has")


class MyPlugin(Estimator):
    """Fills one new node after the other, biggest pods first."""

    api_version = 1
    Config = MyPluginConfig
    config: MyPluginConfig
    # EDIT: remove this if you look at anything of a group but its template.
    by_template = True

    # EDIT: say how many nodes it takes, and which pods they help. What the simulation places stays placed, and it knows
    # every rule of the scheduler: ask it instead of counting by yourself.
    def estimate(self, group: GroupFacts, pods: Sequence[PodSet], simulation: Simulation, limit: int) -> Estimate:
        """Return the nodes that got a pod, and those pods."""
        most = min(limit, self.config.nodes_at_once or limit)
        nodes: list[str] = []
        helped = []
        for same in sorted(pods, key=size, reverse=True):
            placed = list(simulation.place(same, on=nodes)) if nodes else []
            while len(placed) < len(same) and len(nodes) < most:
                with simulation.fork() as trial:
                    fits = trial.place(left_of(same, placed), on=trial.add_nodes(group, 1))
                # What does not fit on an empty node fits on no further one.
                if not fits:
                    break
                fresh = simulation.add_nodes(group, 1)
                nodes += fresh
                placed += simulation.place(left_of(same, placed), on=fresh)
            if placed:
                helped.append(PodSet(pod=same.pod, keys=tuple(placed)))
        return Estimate(nodes=len(nodes), pods=tuple(helped))


def left_of(pods: PodSet, placed: Sequence[str]) -> PodSet:
    """Those of the pods that have no place yet."""
    gone = frozenset(placed)
    return PodSet(pod=pods.pod, keys=tuple(key for key in pods.keys if key not in gone))


def size(pods: PodSet) -> tuple[int, int]:
    """What one of the pods asks for: cpu in milli-cores, memory in bytes."""
    requests = pods.pod.requests
    return requests.get("cpu", 0), requests.get("memory", 0)
