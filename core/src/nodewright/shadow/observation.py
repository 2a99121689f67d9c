"""Observations: what another autoscaler does, as sizes of groups, taints of nodes and machines that go show it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from nodewright.decision.world import World
from nodewright.objects.node import TO_BE_DELETED

#: How long after its machine a group may become smaller, as its provider reports it.
_SETTLING = timedelta(minutes=15)


@dataclass(frozen=True, kw_only=True)
class MarkedNode:
    """A node that another autoscaler has marked for removal."""

    group: str
    provider_id: str
    #: When it was marked.
    since: datetime
    #: Whether its machine is being deleted, or is gone.
    left: bool = False


@dataclass(frozen=True, kw_only=True)
class Departure:
    """A machine that is gone or going, while its group has not become smaller for it yet."""

    group: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Observation:
    """What could be seen at one time."""

    at: datetime
    #: Target size of each group, and when the group was last read.
    sizes: Mapping[str, int]
    read: Mapping[str, datetime]
    #: Group by node.
    nodes: Mapping[str, str]
    #: Ids of all machines.
    machines: frozenset[str]
    #: Machines that are nodes; and the group of each machine that is no node yet and is not being deleted.
    registered: frozenset[str] = frozenset()
    unregistered: Mapping[str, str] = field(default_factory=dict)
    #: Nodes that are marked for removal.
    marked: Mapping[str, MarkedNode] = field(default_factory=dict)
    #: Departures by node: of marked nodes, and of others.
    owed: Mapping[str, Departure] = field(default_factory=dict)
    vanished: Mapping[str, Departure] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Actions:
    """What the other autoscaler did between two observations."""

    at: datetime
    #: Machines that were ordered and given up, by group.
    grew: Mapping[str, int] = field(default_factory=dict)
    shrank: Mapping[str, int] = field(default_factory=dict)
    #: Machines that went before they were nodes; group by machine.
    lost: Mapping[str, str] = field(default_factory=dict)
    #: Nodes whose removal has begun.
    began: Mapping[str, MarkedNode] = field(default_factory=dict)
    #: Groups that had not been read for so long that the time of a change in them is unknown.
    unwatched: frozenset[str] = frozenset()
    #: Nodes that stay after all, and nodes whose machines began to go; group by node.
    gave_up: Mapping[str, str] = field(default_factory=dict)
    left: Mapping[str, str] = field(default_factory=dict)

    @property
    def any(self) -> bool:
        """Whether anything was done."""
        return bool(self.grew or self.shrank or self.began or self.gave_up or self.left)


def observe(
    world: World, now: datetime, before: Observation | None, patience: timedelta
) -> tuple[Observation, Actions]:
    """Return what can be seen of *world* at *now*, and what was done since *before*.

    A group that can't be read has no actions. One that was not read for longer than *patience* was unwatched. At the
    first observation nothing counts as done.
    """
    known = before or Observation(at=now, sizes={}, read={}, nodes={}, machines=frozenset())
    sizes = {facts.id: facts.target_size for facts in world.groups if not facts.error}
    read = dict.fromkeys(sizes, now)
    registered = frozenset(node.spec.provider_id for node in world.cluster.nodes.values())
    observation = Observation(
        at=now,
        sizes={**known.sizes, **sizes},
        read={**known.read, **read},
        nodes={name: world.group_of[name] for name in world.cluster.nodes if name in world.group_of},
        machines=frozenset(instance.id for facts in world.groups for instance in facts.instances),
        registered=registered,
        unregistered={
            instance.id: facts.id
            for facts in world.groups
            for instance in facts.instances
            if instance.id not in registered and instance.id not in world.deleting
        },
        marked=_marked(world, known, now),
    )
    if before is None:
        return observation, Actions(at=now)
    attribution = _Attribution(observation, before)
    unwatched = frozenset(group for group in sizes if now - before.read.get(group, now) > patience)
    return attribution.observation, replace(attribution.actions, unwatched=unwatched)


def _marked(world: World, known: Observation, now: datetime) -> dict[str, MarkedNode]:
    marked = {}
    for name, node in world.cluster.nodes.items():
        if not node.spec.taints or name not in world.group_of:
            continue
        mark = node.taint(TO_BE_DELETED)
        if mark is None:
            continue
        entry = known.marked.get(name)
        if entry is None or entry.provider_id != node.spec.provider_id:
            since = min(mark.moment or now, now)
            entry = MarkedNode(group=world.group_of[name], provider_id=node.spec.provider_id, since=since)
        marked[name] = replace(entry, left=entry.left or node.spec.provider_id in world.deleting)
    return marked


class _Attribution:
    """Finds why each group became smaller: for a marked node, for another node, or for no node."""

    def __init__(self, observation: Observation, before: Observation) -> None:
        now = observation.at
        marked = dict(observation.marked)
        gone = {name: entry for name, entry in before.marked.items() if name not in observation.nodes}
        left = {name: entry.group for name, entry in marked.items() if entry.left and not _had_left(name, before)}
        left |= {name: entry.group for name, entry in gone.items() if not entry.left}
        owed = _recent(before.owed, now) | {name: Departure(group=group, at=now) for name, group in left.items()}
        vanished = _recent(before.vanished, now) | {
            name: Departure(group=group, at=now)
            for name, group in before.nodes.items()
            if name not in observation.nodes and name not in before.marked
        }
        changes = {
            group: size - before.sizes[group] for group, size in observation.sizes.items() if group in before.sizes
        }
        began = {name: entry for name, entry in marked.items() if name not in before.marked}
        shrank: Counter[str] = Counter()
        for group, change in changes.items():
            for _ in range(-change):
                if (name := _of(owed, group)) is not None:
                    del owed[name]
                elif (name := _still_there(marked, group)) is not None:
                    marked[name] = replace(marked[name], left=True)
                    left[name] = group
                elif (name := _of(vanished, group)) is not None:
                    # It went so fast that its mark was never seen.
                    del vanished[name]
                    began[name] = MarkedNode(group=group, provider_id="", since=now, left=True)
                    left[name] = group
                else:
                    shrank[group] += 1
        self.observation = replace(observation, marked=marked, owed=owed, vanished=vanished)
        self.actions = Actions(
            at=now,
            grew={group: change for group, change in changes.items() if change > 0},
            shrank=dict(shrank),
            lost=_lost(observation, before),
            began=began,
            gave_up={
                name: entry.group
                for name, entry in before.marked.items()
                if name in observation.nodes and name not in observation.marked
            },
            left=left,
        )


def _lost(observation: Observation, before: Observation) -> dict[str, str]:
    """Return machines that are gone or being deleted without ever having been nodes; group by machine."""
    if not before.unregistered:
        return {}
    staying = observation.unregistered.keys() | observation.registered
    return {machine: group for machine, group in before.unregistered.items() if machine not in staying}


def _had_left(name: str, before: Observation) -> bool:
    return name in before.marked and before.marked[name].left


def _recent(departures: Mapping[str, Departure], now: datetime) -> dict[str, Departure]:
    return {name: each for name, each in departures.items() if now - each.at <= _SETTLING}


def _of(departures: Mapping[str, Departure], group: str) -> str | None:
    return next((name for name, each in departures.items() if each.group == group), None)


def _still_there(marked: Mapping[str, MarkedNode], group: str) -> str | None:
    return next((name for name, each in marked.items() if each.group == group and not each.left), None)
