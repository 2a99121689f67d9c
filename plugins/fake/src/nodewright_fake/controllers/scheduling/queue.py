"""The pods that wait for a node: the most important first, then the oldest; pods of one shape stand in one line."""

from dataclasses import dataclass, field
from datetime import datetime
from heapq import heappop, heappush
from itertools import count

from nodewright_fake.controllers.scheduling.cache import PodId
from nodewright_fake.controllers.scheduling.pod_shape import PodShape

#: Minus the priority, the time of creation, a number that grows.
Order = tuple[int, str, int]


@dataclass(eq=False)
class Line:
    """The waiting pods of one shape: what holds for the first holds for all."""

    shape: PodShape
    pods: list[tuple[Order, PodId]] = field(default_factory=list)
    #: Where the line stands in the queue; None while it is not to be tried.
    listed: Order | None = None
    #: The pods whose status does not yet say why they wait.
    untold: list[PodId] = field(default_factory=list)
    #: The last reason that the others were given, and when.
    notice: str = ""
    noticed_at: datetime | None = None


class Queue:
    """Waiting pods. `next` offers them in order; a line that found no node is offered again once it was woken."""

    def __init__(self) -> None:
        self._numbers = count()
        self._waiting: dict[PodId, tuple[Line, Order]] = {}
        self._lines: dict[PodShape, Line] = {}
        self._looking_around: dict[PodShape, Line] = {}
        self._listed: list[tuple[Order, int, Line]] = []

    def add(self, pod: PodId, shape: PodShape, priority: int, created: str) -> None:
        """Let a pod wait; nothing happens if it waits with that shape already."""
        waiting = self._waiting.get(pod)
        if waiting is not None and waiting[0].shape is shape:
            return
        line = self._lines.setdefault(shape, Line(shape))
        if shape.looks_around:
            self._looking_around[shape] = line
        order = (-priority, created, next(self._numbers))
        self._waiting[pod] = (line, order)
        heappush(line.pods, (order, pod))
        line.untold.append(pod)
        self.wake(line)

    def remove(self, pod: PodId) -> None:
        """Let a pod wait no longer."""
        self._waiting.pop(pod, None)

    def waits(self, pod: PodId) -> bool:
        """Return whether a pod waits."""
        return pod in self._waiting

    def next(self) -> tuple[PodId, Line] | None:
        """Return the pod whose turn it is; its line is offered again when it is woken."""
        while self._listed:
            order, _, line = heappop(self._listed)
            if line.listed != order:
                continue
            line.listed = None
            head = self._head(line)
            if head is None:
                continue
            if head[0] == order:
                return head[1], line
            self.wake(line)
        return None

    def wake(self, line: Line) -> None:
        """Offer the first of *line* when its turn comes."""
        head = self._head(line)
        if head is not None and (line.listed is None or head[0] < line.listed):
            line.listed = head[0]
            heappush(self._listed, (head[0], next(self._numbers), line))

    def lines(self) -> tuple[Line, ...]:
        """Return all lines."""
        return tuple(self._lines.values())

    def lines_that_look_around(self) -> tuple[Line, ...]:
        """Return the lines whose pods may be helped by the placement of others."""
        return tuple(self._looking_around.values())

    def pods_of(self, line: Line) -> list[PodId]:
        """Return the pods of *line* in order."""
        return [pod for order, pod in sorted(line.pods) if self._waiting.get(pod) == (line, order)]

    def _head(self, line: Line) -> tuple[Order, PodId] | None:
        while line.pods:
            order, pod = line.pods[0]
            if self._waiting.get(pod) == (line, order):
                return order, pod
            heappop(line.pods)
        if self._lines.get(line.shape) is line:
            del self._lines[line.shape]
            self._looking_around.pop(line.shape, None)
        return None
