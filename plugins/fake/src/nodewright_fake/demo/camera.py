"""The camera: takes a scene of a world."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.api import InstanceState, Node, Pod, Reason

from nodewright_fake.cloud.cloud import Group
from nodewright_fake.cloud.instance import CloudInstance
from nodewright_fake.demo.history import History
from nodewright_fake.demo.log import LineKind, Log
from nodewright_fake.demo.scene import GroupState, GroupView, NodeState, NodeView, Scene, Waiting
from nodewright_fake.demo.watcher import Watcher
from nodewright_fake.world import World

#: More lines than any screen shows.
_LINES = 100
#: What machines are that are no nodes yet, or no longer.
_WITHOUT_NODE = {
    InstanceState.CREATING: NodeState.ORDERED,
    InstanceState.RUNNING: NodeState.JOINING,
    InstanceState.DELETING: NodeState.LEAVING,
}
#: The taint on nodes that are being removed.
_TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
#: Verdicts on nodes that could be removed.
_UNNEEDED = (
    Reason.EMPTY,
    Reason.MOVABLE,
    Reason.NOT_LONG_ENOUGH,
    Reason.NOT_UNREADY_LONG_ENOUGH,
    Reason.COOLING_DOWN,
    Reason.BUDGET,
    Reason.DISRUPTION_BUDGET,
    Reason.EVICTION_LIMIT,
)
#: Verdicts on nodes that are worth a remark.
_REMARKABLE = (*_UNNEEDED, Reason.NO_PLACE, Reason.BLOCKED_BY_POD, Reason.VETOED)


@dataclass(frozen=True, kw_only=True)
class BackedOff:
    """A group that failed to grow, as the autoscaler remembers it."""

    until: datetime
    code: str


class Camera:
    """Reads world, history and watcher; changes nothing."""

    def __init__(self, world: World, history: History, watcher: Watcher, log: Log) -> None:
        self._world = world
        self._history = history
        self._watcher = watcher
        self._log = log

    def scene(self, *, note: str, length: timedelta | None, speed: float, backed_off: Mapping[str, BackedOff]) -> Scene:
        """Take a scene of this moment; call `History.update` before. *backed_off* is by group."""
        world, now = self._world, self._world.clock.now()
        # One lock after the other: the world's thread takes the store's within the cloud's, never the other way round.
        with world.cloud.lock:
            machines = world.cloud.fleet.all()
            groups = world.cloud.groups
            cost = sum(spent.cost for spent in world.cloud.spending.values())
        with world.store.lock:
            nodes = tuple(self._nodes(machines, groups))
            waiting = tuple(self._waiting(now))
            running = self._history.roster.running
        return Scene(
            title=world.scenario.name,
            note=note,
            at=now,
            elapsed=now - world.began,
            length=length,
            speed=speed,
            hourly_cost=self._history.rates.current,
            cost=cost,
            groups=tuple(self._group(group, nodes, backed_off.get(group.settings.name)) for group in groups),
            nodes=nodes,
            running=running,
            waiting=waiting,
            log=self._log.latest(_LINES, without=LineKind.NODE),
        )

    def _group(self, group: Group, nodes: tuple[NodeView, ...], backed_off: BackedOff | None) -> GroupView:
        settings = group.settings
        there = sum(node.state.serves or node.state.goes for node in nodes if node.group == settings.name)
        instance_type = self._world.cloud.instance_types[settings.instance_type]
        state, remark = GroupState.STEADY, ""
        if backed_off is not None:
            state, remark = GroupState.BACKED_OFF, f"{backed_off.code} until {backed_off.until:%H:%M:%S}"
        elif there < group.desired:
            state = GroupState.GROWING
        elif there > group.desired:
            state = GroupState.SHRINKING
        return GroupView(
            name=settings.name,
            zone=settings.zone,
            instance_type=settings.instance_type,
            spot=settings.spot,
            hourly_price=instance_type.hourly_price(spot=settings.spot),
            nodes=there,
            wanted=group.desired,
            minimum=settings.min,
            maximum=settings.max,
            state=state,
            remark=remark,
        )

    def _nodes(self, machines: list[CloudInstance], groups: Sequence[Group]) -> Iterator[NodeView]:
        """All machines by group, and the nodes that no machine of the cloud stands behind."""
        strangers = dict(self._history.roster.nodes)
        order = {group.settings.name: number for number, group in enumerate(groups)}
        for machine in sorted(machines, key=lambda machine: order.get(machine.group.name, len(order))):
            yield self._machine(machine, strangers.pop(machine.name, None))
        for node in strangers.values():
            yield self._node(node, "", NodeState.READY if node.ready else NodeState.UNREADY)

    def _machine(self, machine: CloudInstance, node: Node | None) -> NodeView:
        group = machine.group.name
        if machine.error is not None:
            return NodeView(name=machine.name, group=group, state=NodeState.FAILED, remark=machine.error.code)
        if node is None:
            state = _WITHOUT_NODE[machine.state]
            return NodeView(name=machine.name, group=group, state=state, since=machine.created_at)
        return self._node(node, group, self._state(machine, node))

    def _state(self, machine: CloudInstance, node: Node) -> NodeState:
        if machine.going:
            return NodeState.LEAVING
        if not node.ready:
            joining = any(each.type == "Ready" and each.status == "False" for each in node.status.conditions)
            return NodeState.JOINING if joining else NodeState.UNREADY
        if node.taint(_TO_BE_DELETED):
            return NodeState.DRAINING
        verdict = self._watcher.verdicts.get(node.name)
        return NodeState.UNNEEDED if verdict and verdict.reason in _UNNEEDED else NodeState.READY

    def _node(self, node: Node, group: str, state: NodeState) -> NodeView:
        roster = self._history.roster
        verdict = self._watcher.verdicts.get(node.name)
        return NodeView(
            name=node.name,
            group=group,
            state=state,
            since=node.metadata.creation_timestamp,
            cpu=roster.share(node.name, "cpu"),
            memory=roster.share(node.name, "memory"),
            pods=sum(not pod.is_daemon for pod in roster.pods_on(node.name)),
            remark=str(verdict) if state.serves and verdict and verdict.reason in _REMARKABLE else "",
        )

    def _waiting(self, now: datetime) -> Iterator[Waiting]:
        since: defaultdict[str, list[datetime]] = defaultdict(list)
        for key, moment in self._history.waits.pending.items():
            since[_workload(self._history.roster.pods[key])].append(moment)
        for workload, moments in sorted(since.items(), key=lambda entry: min(entry[1])):
            yield Waiting(workload=workload, pods=len(moments), longest=now - min(moments))


def _workload(pod: Pod) -> str:
    """The name of what the pod belongs to, without the hash that a Deployment gives its ReplicaSets."""
    owner = pod.metadata.controller
    if owner is None:
        return pod.metadata.name
    return owner.name.rpartition("-")[0] or owner.name if owner.kind == "ReplicaSet" else owner.name
