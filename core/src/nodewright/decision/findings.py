"""Particulars: what is found out on the way to a decision, for those who want to look closer."""

from dataclasses import dataclass, field
from datetime import datetime

from nodewright.api.group import GroupFacts
from nodewright.api.verdict import Verdict
from nodewright.decision.health import Assessment, Readiness
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown.removable import Removable
from nodewright.decision.scaledown.utilization import Utilization, Utilizations
from nodewright.decision.world import World


@dataclass(kw_only=True)
class Particulars:
    """What is found out on the way to a decision and is no part of it: filled in for those who want to look closer."""

    #: Whether the utilization of nodes is wanted: it takes its time for each of them.
    in_depth: bool = True
    #: All groups, with the templates that were gone by.
    groups: tuple[GroupFacts, ...] = ()
    #: Nodes that were counted on though they are not there yet, by group.
    upcoming: dict[str, int] = field(default_factory=dict)
    #: How many machines of each group are in which state.
    readiness: dict[str, Readiness] = field(default_factory=dict)
    #: The same of the whole cluster, with nodes that belong to no group.
    cluster: Readiness = field(default_factory=Readiness)
    #: Why groups can't grow now, whether or not a pod waits.
    blocked: dict[str, Verdict] = field(default_factory=dict)
    #: By node, after pending pods were placed.
    utilization: dict[str, Utilization] = field(default_factory=dict)
    #: Nodes that might start to go but for how many may go at once, in order.
    removable_now: tuple[Removable, ...] = ()

    def note_groups(self, world: World, health: Assessment) -> None:
        """Fill in what is to know of groups."""
        self.groups = world.groups
        self.cluster = health.readiness
        self.upcoming = {group.facts.id: group.upcoming for group in health.groups if group.upcoming}
        self.readiness = {group.facts.id: group.readiness for group in health.groups}
        self.blocked = {group.facts.id: group.blocked for group in health.groups if group.blocked}

    def note_utilization(self, world: World, health: Assessment, policy: Policy, now: datetime) -> None:
        """Fill in how much of each node is requested as things stand, if that is wanted."""
        if not self.in_depth:
            return
        options = {group.id: group.options for group in world.groups}
        utilizations = Utilizations(world.cluster, policy.settings.scale_down, now)
        self.utilization = {
            name: utilizations.of(
                node,
                gpu=world.gpus.get(name),
                ignore_daemons=options[world.group_of[name]].ignore_daemonsets_utilization,
            )
            for name, node in world.cluster.nodes.items()
            if world.group_of.get(name) in options and name not in health.starting
        }
