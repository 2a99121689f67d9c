"""Findings: what a decision found out that is not part of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from nodewright.api.group import GroupFacts
from nodewright.api.verdict import Verdict
from nodewright.decision.health import Assessment, Readiness
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown.removable import Removable
from nodewright.decision.scaledown.utilization import Utilization, Utilizations
from nodewright.decision.world import World


@dataclass(frozen=True, kw_only=True)
class Measured:
    """How much of each node is requested, by node, after pending pods were placed."""

    utilization: Mapping[str, Utilization] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What was found out on the way to a decision, for metrics, status and explanations."""

    #: All groups, with the templates that the decision used.
    groups: tuple[GroupFacts, ...] = ()
    #: How many nodes that are not there yet were counted on, by group.
    upcoming: Mapping[str, int] = field(default_factory=dict)
    #: How many nodes each group still has to get, counted on or not: once it grows, all of them are.
    owed: Mapping[str, int] = field(default_factory=dict)
    #: How many machines of each group are in each state.
    readiness: Mapping[str, Readiness] = field(default_factory=dict)
    #: The same of the whole cluster, with nodes that belong to no group.
    cluster: Readiness = field(default_factory=Readiness)
    #: Why groups can't grow now, whether or not pods wait.
    blocked: Mapping[str, Verdict] = field(default_factory=dict)
    #: By node, after pending pods were placed. Only measured in depth, as it takes time for each node.
    utilization: Mapping[str, Utilization] = field(default_factory=dict)
    #: Nodes whose removal could start if there were no limit on their number, in order.
    removable_now: tuple[Removable, ...] = ()

    @classmethod
    def of(
        cls, health: Assessment, measured: Measured | None = None, removable_now: tuple[Removable, ...] = ()
    ) -> "Findings":
        """Return the findings that follow from what stages returned."""
        return cls(
            groups=tuple(group.facts for group in health.groups),
            cluster=health.readiness,
            upcoming={group.facts.id: group.upcoming for group in health.groups if group.upcoming},
            owed={group.facts.id: group.owed for group in health.groups if group.owed},
            readiness={group.facts.id: group.readiness for group in health.groups},
            blocked={group.facts.id: group.blocked for group in health.groups if group.blocked},
            utilization=measured.utilization if measured else {},
            removable_now=removable_now,
        )


def measure(world: World, health: Assessment, policy: Policy, now: datetime) -> Measured:
    """Return how much of each node is requested now.

    Nodes that are starting are left out, unless the loop is halted: then nothing has taken their place.
    """
    absent = health.starting if health.halted is None else frozenset[str]()
    utilizations = Utilizations(world.cluster, policy.settings.scale_down, now)
    return Measured(
        utilization={
            name: utilizations.of(
                node, gpu=world.gpus.get(name), ignore_daemons=group.options.ignore_daemonsets_utilization
            )
            for name, node in world.cluster.nodes.items()
            if (group := world.group_on(name)) is not None and name not in absent
        }
    )
