"""A scene: all that one frame of the demo shows, as plain values."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from nodewright_fake.demo.log import Line


class NodeState(StrEnum):
    """Where a machine is in its life."""

    #: The cloud makes it.
    ORDERED = "ordered"
    #: It runs, but takes no pods yet.
    JOINING = "joining"
    READY = "ready"
    #: It is ready, and could be removed.
    UNNEEDED = "unneeded"
    #: Its pods have to leave.
    DRAINING = "draining"
    #: The cloud deletes it.
    LEAVING = "leaving"
    #: It was ready once, but is not now.
    UNREADY = "unready"
    #: The cloud could not make it.
    FAILED = "failed"

    @property
    def serves(self) -> bool:
        """Whether pods can run there."""
        return self in (NodeState.READY, NodeState.UNNEEDED, NodeState.DRAINING)

    @property
    def comes(self) -> bool:
        """Whether it will be of use before long."""
        return self in (NodeState.ORDERED, NodeState.JOINING)

    @property
    def goes(self) -> bool:
        """Whether it is being deleted."""
        return self in (NodeState.DRAINING, NodeState.LEAVING)


class GroupState(StrEnum):
    """What a group is doing."""

    STEADY = "steady"
    GROWING = "growing"
    SHRINKING = "shrinking"
    #: It failed to grow, and is left alone for a while.
    BACKED_OFF = "backed off"


@dataclass(frozen=True, kw_only=True)
class GroupView:
    """A node group."""

    name: str
    zone: str
    instance_type: str
    spot: bool
    hourly_price: float
    #: Nodes that are ready, or were until they had to go.
    nodes: int
    #: Machines that the group is asked to have.
    wanted: int
    minimum: int
    maximum: int
    state: GroupState
    #: More about the state, in a few words.
    remark: str = ""


@dataclass(frozen=True, kw_only=True)
class NodeView:
    """A machine, and the node that it is."""

    name: str
    group: str
    state: NodeState
    #: When it came into this state, where that is worth telling.
    since: datetime | None = None
    #: Requested shares of what pods may use, 0 to 1.
    cpu: float = 0.0
    memory: float = 0.0
    #: Pods, without those of DaemonSets.
    pods: int = 0
    #: More about the state, in a few words.
    remark: str = ""


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """Pods of one workload that have no node."""

    workload: str
    pods: int
    #: How long the one that waits longest has waited.
    longest: timedelta


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One moment of the demo."""

    title: str
    #: What the story last said.
    note: str
    at: datetime
    elapsed: timedelta
    #: How long the story is; None if it has no end.
    length: timedelta | None
    #: Seconds of the world for each second of real time.
    speed: float
    #: What all running machines cost for an hour, and what they have cost so far.
    hourly_cost: float
    cost: float
    groups: tuple[GroupView, ...]
    nodes: tuple[NodeView, ...]
    #: Pods that run.
    running: int
    #: Pods without a node, those that wait longest first.
    waiting: tuple[Waiting, ...]
    #: The latest lines of the log, oldest first.
    log: tuple[Line, ...]

    @property
    def nodes_there(self) -> int:
        """How many nodes are ready, or were until they had to go."""
        return sum(node.state.serves or node.state.goes for node in self.nodes)

    @property
    def nodes_coming(self) -> int:
        """How many nodes will be of use before long."""
        return sum(node.state.comes for node in self.nodes)

    @property
    def nodes_going(self) -> int:
        """How many nodes are on their way out."""
        return sum(node.state.goes for node in self.nodes)

    @property
    def longest_wait(self) -> timedelta:
        """How long the pod without a node that waits longest has waited."""
        return max((workload.longest for workload in self.waiting), default=timedelta())

    @property
    def pending(self) -> int:
        """How many pods have no node."""
        return sum(workload.pods for workload in self.waiting)
