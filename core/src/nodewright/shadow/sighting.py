"""Sightings: what another autoscaler does, told from sizes of groups, taints of nodes and machines that go."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from nodewright.decision.world import World
from nodewright.objects.node import TO_BE_DELETED

#: How much later than a machine goes its group may become smaller, as its provider tells it.
_SETTLING = timedelta(minutes=15)


@dataclass(frozen=True, kw_only=True)
class Going:
    """A node that somebody takes out of service."""

    group: str
    provider_id: str
    #: When it was marked.
    since: datetime
    #: Whether its machine is being deleted, or is gone.
    left: bool = False


@dataclass(frozen=True, kw_only=True)
class Departure:
    """A machine that went, or goes, though its group has not become smaller for it yet."""

    group: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """What was there to be seen at one time."""

    at: datetime
    #: Wanted machines by group, and when it was last read.
    sizes: Mapping[str, int]
    read: Mapping[str, datetime]
    #: Group by node.
    nodes: Mapping[str, str]
    #: Ids of all machines that there are.
    machines: frozenset[str]
    #: Those that are nodes, and of those that are not and are to stay, their group.
    registered: frozenset[str] = frozenset()
    unborn: Mapping[str, str] = field(default_factory=dict)
    #: Marked nodes.
    going: Mapping[str, Going] = field(default_factory=dict)
    #: By node; those of marked nodes, and those of others.
    owed: Mapping[str, Departure] = field(default_factory=dict)
    vanished: Mapping[str, Departure] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Deeds:
    """What somebody else did between two looks."""

    at: datetime
    #: Machines that were ordered and given up, by group.
    grew: Mapping[str, int] = field(default_factory=dict)
    shrank: Mapping[str, int] = field(default_factory=dict)
    #: Machines that went and were no nodes yet; group by machine.
    lost: Mapping[str, str] = field(default_factory=dict)
    #: Nodes whose removal has begun.
    began: Mapping[str, Going] = field(default_factory=dict)
    #: Groups that had not been read for so long that nobody can tell what was done when.
    unwatched: frozenset[str] = frozenset()
    #: Nodes that stay after all, and those whose machines began to go; group by node.
    gave_up: Mapping[str, str] = field(default_factory=dict)
    left: Mapping[str, str] = field(default_factory=dict)

    @property
    def any(self) -> bool:
        """Whether anything was done."""
        return bool(self.grew or self.shrank or self.began or self.gave_up or self.left)


def look_at(world: World, now: datetime, before: Sighting | None, patience: timedelta) -> tuple[Sighting, Deeds]:
    """Return what is to be seen of *world* at *now*, and what was done since *before*.

    Of groups that can't be read, nothing is told; who was not read for longer than *patience* was unwatched. At the
    first look nothing counts as done.
    """
    known = before or Sighting(at=now, sizes={}, read={}, nodes={}, machines=frozenset())
    sizes = {facts.id: facts.target_size for facts in world.groups if not facts.error}
    read = dict.fromkeys(sizes, now)
    registered = frozenset(node.spec.provider_id for node in world.cluster.nodes.values())
    sighting = Sighting(
        at=now,
        sizes={**known.sizes, **sizes},
        read={**known.read, **read},
        nodes={name: world.group_of[name] for name in world.cluster.nodes if name in world.group_of},
        machines=frozenset(instance.id for facts in world.groups for instance in facts.instances),
        registered=registered,
        unborn={
            instance.id: facts.id
            for facts in world.groups
            for instance in facts.instances
            if instance.id not in registered and instance.id not in world.deleting
        },
        going=_going(world, known, now),
    )
    if before is None:
        return sighting, Deeds(at=now)
    accounts = _Accounts(sighting, before)
    unwatched = frozenset(group for group in sizes if now - before.read.get(group, now) > patience)
    return accounts.sighting, replace(accounts.deeds, unwatched=unwatched)


def _going(world: World, known: Sighting, now: datetime) -> dict[str, Going]:
    going = {}
    for name, node in world.cluster.nodes.items():
        if not node.spec.taints or name not in world.group_of:
            continue
        mark = node.taint(TO_BE_DELETED)
        if mark is None:
            continue
        entry = known.going.get(name)
        if entry is None or entry.provider_id != node.spec.provider_id:
            since = min(mark.moment or now, now)
            entry = Going(group=world.group_of[name], provider_id=node.spec.provider_id, since=since)
        going[name] = replace(entry, left=entry.left or node.spec.provider_id in world.deleting)
    return going


class _Accounts:
    """Tells why each group became smaller: for which marked nodes, for which others, and for none."""

    def __init__(self, sighting: Sighting, before: Sighting) -> None:
        now = sighting.at
        going = dict(sighting.going)
        gone = {name: entry for name, entry in before.going.items() if name not in sighting.nodes}
        left = {name: entry.group for name, entry in going.items() if entry.left and not _had_left(name, before)}
        left |= {name: entry.group for name, entry in gone.items() if not entry.left}
        owed = _recent(before.owed, now) | {name: Departure(group=group, at=now) for name, group in left.items()}
        vanished = _recent(before.vanished, now) | {
            name: Departure(group=group, at=now)
            for name, group in before.nodes.items()
            if name not in sighting.nodes and name not in before.going
        }
        changes = {group: size - before.sizes[group] for group, size in sighting.sizes.items() if group in before.sizes}
        began = {name: entry for name, entry in going.items() if name not in before.going}
        shrank: Counter[str] = Counter()
        for group, change in changes.items():
            for _ in range(-change):
                if (name := _of(owed, group)) is not None:
                    del owed[name]
                elif (name := _still_there(going, group)) is not None:
                    going[name] = replace(going[name], left=True)
                    left[name] = group
                elif (name := _of(vanished, group)) is not None:
                    # It went so fast that its mark was never seen.
                    del vanished[name]
                    began[name] = Going(group=group, provider_id="", since=now, left=True)
                    left[name] = group
                else:
                    shrank[group] += 1
        self.sighting = replace(sighting, going=going, owed=owed, vanished=vanished)
        self.deeds = Deeds(
            at=now,
            grew={group: change for group, change in changes.items() if change > 0},
            shrank=dict(shrank),
            lost=_lost(sighting, before),
            began=began,
            gave_up={
                name: entry.group
                for name, entry in before.going.items()
                if name in sighting.nodes and name not in sighting.going
            },
            left=left,
        )


def _lost(sighting: Sighting, before: Sighting) -> dict[str, str]:
    """Return machines that went, or are on their way out, without ever having been nodes; group by machine."""
    if not before.unborn:
        return {}
    staying = sighting.unborn.keys() | sighting.registered
    return {machine: group for machine, group in before.unborn.items() if machine not in staying}


def _had_left(name: str, before: Sighting) -> bool:
    return name in before.going and before.going[name].left


def _recent(departures: Mapping[str, Departure], now: datetime) -> dict[str, Departure]:
    return {name: each for name, each in departures.items() if now - each.at <= _SETTLING}


def _of(departures: Mapping[str, Departure], group: str) -> str | None:
    return next((name for name, each in departures.items() if each.group == group), None)


def _still_there(going: Mapping[str, Going], group: str) -> str | None:
    return next((name for name, each in going.items() if each.group == group and not each.left), None)
