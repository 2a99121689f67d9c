"""Cluster Autoscaler's search for removable nodes in plain Python: the reference for how many there are.

Candidates come in the order of a list, empty ones first. The pods of each go to the first node with room, beginning
behind the one that took the last pod. If all find a place, they stay there and the node is out; else nothing has
changed. Knows of cpu, memory and the number of pods, and looks at all candidates.
"""

from bisect import bisect_left, insort
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from itertools import chain

#: Of cpu, memory and pods: what is asked for, or what is left.
Amounts = tuple[int, int, int]


@dataclass(kw_only=True)
class Machine:
    """A node: its free room, and the requests of its pods."""

    name: str
    free: Amounts
    pods: list[Amounts] = field(default_factory=list)

    def has_room(self, pod: Amounts) -> bool:
        """Tell whether *pod* fits."""
        free = self.free
        return free[0] >= pod[0] and free[1] >= pod[1] and free[2] >= pod[2]

    def put(self, pod: Amounts) -> None:
        """Let *pod* run here."""
        self.free = (self.free[0] - pod[0], self.free[1] - pod[1], self.free[2] - pod[2])
        self.pods.append(pod)

    def take_back(self) -> None:
        """Remove the pod that came last."""
        pod = self.pods.pop()
        self.free = (self.free[0] + pod[0], self.free[1] + pod[1], self.free[2] + pod[2])


def removable(machines: Sequence[Machine], candidates: Sequence[str]) -> list[str]:
    """Return which *candidates* can be removed; changes *machines*."""
    named = {machine.name: machine for machine in machines}
    there = list(machines)
    start, gone = 0, []
    for name in sorted(candidates, key=lambda name: bool(named[name].pods)):
        leaving = named[name]
        taken_by: list[Machine] = []
        for pod in leaving.pods:
            turn = chain(range(start, len(there)), range(start))
            at = next((at for at in turn if there[at].has_room(pod) and there[at] is not leaving), None)
            if at is None:
                break
            there[at].put(pod)
            taken_by.append(there[at])
            start = (at + 1) % len(there)
        if len(taken_by) == len(leaving.pods):
            there.remove(leaving)
            start %= len(there)
            gone.append(name)
        else:
            for machine in reversed(taken_by):
                machine.take_back()
    return gone


def all_fit_without(machines: Sequence[Machine], leaving: Set[str]) -> bool:
    """Tell whether all pods of the *leaving* nodes find a place on the others; changes *machines*.

    The largest go first, each to where it leaves the least cpu. That they were not found one proves nothing.
    """
    by_room = sorted((machine for machine in machines if machine.name not in leaving), key=_free_cpu)
    homeless = (pod for machine in machines if machine.name in leaving for pod in machine.pods)
    for pod in sorted(homeless, reverse=True):
        roomy = range(bisect_left(by_room, pod[0], key=_free_cpu), len(by_room))
        at = next((at for at in roomy if by_room[at].has_room(pod)), None)
        if at is None:
            return False
        machine = by_room.pop(at)
        machine.put(pod)
        insort(by_room, machine, key=_free_cpu)
    return True


def _free_cpu(machine: Machine) -> int:
    return machine.free[0]
