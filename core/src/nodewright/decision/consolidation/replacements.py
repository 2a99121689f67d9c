"""Replacements under way: each loop takes the next step of every one. Old nodes go once the new ones are ready."""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property

from nodewright.api.group import GroupFacts
from nodewright.api.notice import Notice
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.config.effective import default_options
from nodewright.decision.consolidation.candidate import Candidate, candidate, has_price, pod_sets
from nodewright.decision.consolidation.move import place
from nodewright.decision.health.readiness import is_ready
from nodewright.decision.memory import ConsolidationMemory, OrderMemory, RemovalMemory, Replacement
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown.drain.drainability import Drainability
from nodewright.decision.scaledown.removable import Removable
from nodewright.decision.scaledown.selection.protection import protection
from nodewright.decision.world import World
from nodewright.scheduling import ClusterSimulation


@dataclass(frozen=True, kw_only=True)
class Replacements:
    """The state of the replacements under way."""

    #: Nodes whose removal may start.
    removable: tuple[Removable, ...] = ()
    #: Why others stay for now.
    nodes: dict[str, Verdict] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    memory: ConsolidationMemory

    @property
    def excluded(self) -> frozenset[str]:
        """Names of all nodes concerned: scale-down does not look at them."""
        return frozenset(self.nodes).union(entry.node.name for entry in self.removable)


def reserved_nodes(world: World, memory: ConsolidationMemory, policy: Policy) -> Counter[str]:
    """Return how many nodes on their way will replace others, by group: they are meant for the pods of those."""
    ordered: Counter[str] = Counter()
    for known in memory.replacements:
        if known.group:
            ordered[known.group] += max(0, known.count - len(_newcomers(known, world, policy)))
    return ordered


class Follower:
    """Follows the replacements under way, and takes the next step of each at *now*.

    *simulation* has the pending pods placed. The pods of nodes that may go are moved in it.
    """

    def __init__(
        self,
        world: World,
        memory: ConsolidationMemory,
        orders: OrderMemory,
        leaving: RemovalMemory,
        simulation: ClusterSimulation,
        policy: Policy,
        now: datetime,
    ) -> None:
        self._memory = memory
        self._world = world
        self._requests = orders.requests
        self._removals = leaving.removals
        self._simulation = simulation
        self._policy = policy
        self._now = now
        self._left_alone: dict[str, datetime] = {}
        self._removable: list[Removable] = []
        self._verdicts: dict[str, Verdict] = {}
        self._notices: list[Notice] = []
        self._going_on: list[Replacement] = []

    def follow(self) -> Replacements:
        """Return which old nodes may be removed now, as their replacements are ready, and which stay."""
        memory, settings = self._memory, self._policy.settings.scale_down
        if not (settings.enabled and settings.consolidation.enabled):
            return Replacements(memory=memory.switched_off())
        self._left_alone = {
            name: until
            for name, until in memory.left_alone_until.items()
            if self._now < until and name in self._world.cluster.nodes
        }
        for replacement in memory.replacements:
            self._follow(replacement)
        return Replacements(
            removable=tuple(self._removable),
            nodes=self._verdicts,
            notices=tuple(self._notices),
            memory=memory.followed(tuple(self._going_on), self._left_alone),
        )

    @cached_property
    def _drainability(self) -> Drainability:
        # Not every loop has replacements under way.
        return Drainability(self._world, self._policy, self._now)

    def _follow(self, known: Replacement) -> None:
        there = [name for name, machine in known.nodes.items() if self._is_there(name, machine)]
        going = [name for name in there if name in self._removals]
        waiting = [name for name in there if name not in going and name not in known.begun]
        fresh = tuple(name for name in going if name not in known.begun)
        if fresh:
            known = replace(known, begun=known.begun + fresh, since=self._now)
        # Pods that have just moved stay where they are for a while, and so do pods that could not move.
        until = self._now + self._policy.settings.scale_down.consolidation.after
        self._left_alone |= dict.fromkeys([*there, *self._destinations(known)], until)
        if waiting:
            self._advance(known, waiting)
        elif going:
            self._keep(known)

    def _advance(self, known: Replacement, waiting: list[str]) -> None:
        came = _newcomers(known, self._world, self._policy)
        unread = [facts.id for facts in map(self._group_of, waiting) if facts.error]
        if self._now - known.since > self._patience(known):
            self._give_up(known, waiting, f"nothing has moved since {known.since:%H:%M:%S}")
        elif unread:
            self._wait(known, waiting, f"{unread[0]} can't be read")
        elif len(came) >= known.count:
            self._go(known, waiting, came)
        elif known.group in self._requests:
            self._wait(known, waiting, f"{len(came)} of {known.count} nodes of {known.group} are ready")
        else:
            self._give_up(known, waiting, f"{known.group} did not deliver")

    def _go(self, known: Replacement, waiting: list[str], came: list[str]) -> None:
        """Let the *waiting* nodes go if their pods still fit elsewhere and it is still worth it."""
        objection = self._objection(known, waiting)
        if objection is not None:
            self._give_up(known, waiting, objection)
            return
        leaving: list[Candidate] = []
        for name in waiting:
            found = candidate(self._world.cluster.nodes[name], self._group_of(name), self._drainability)
            if isinstance(found, str):
                # A budget recovers once pods that were moved before run again.
                self._wait(known, waiting, f"{name}: {found}")
                return
            leaving.append(found)
        homeless = self._move(leaving, came)
        if homeless is not None:
            self._give_up(known, waiting, f"{homeless} fits nowhere else any more")
            return
        self._removable += [each.removable(f"saves {known.saving:.4g}/h") for each in leaving]
        self._keep(known)

    def _objection(self, known: Replacement, waiting: list[str]) -> str | None:
        for name in waiting:
            protected = protection(self._world.cluster.nodes[name], self._now)
            if protected is not None:
                return f"{name}: {protected}"
        concerned = [self._group_of(name) for name in waiting]
        new = self._world.group(known.group)
        if not all(map(has_price, concerned)) or (known.group and (new is None or not has_price(new))):
            return "prices are not known any more"
        saving = sum(map(_price, concerned)) - (known.count * _price(new) if new else 0.0)
        # Once some of the nodes have gone, the new ones are needed, and the rest only cost money.
        return f"it saves nothing any more ({saving:.4g}/h)" if saving <= 0 and not known.begun else None

    def _move(self, leaving: list[Candidate], came: list[str]) -> str | None:
        """Move pods in the simulation, to new nodes first; if one can't move, change nothing and return it."""
        with self._simulation.fork() as fork:
            names = [each.node.name for each in leaving]
            guests = [pods for name in names for pods in fork.guests(name)]
            fork.remove_nodes(names)
            left = pod_sets([row for each in leaving for row in each.move], guests)
            left = place(fork, left, on=came) if came else left
            left = place(fork, left)
            if left:
                return left[0].keys[0]
            fork.keep()
        return None

    def _wait(self, known: Replacement, waiting: list[str], why: str) -> None:
        self._verdicts |= dict.fromkeys(waiting, Verdict(reason=Reason.BEING_REPLACED, detail=why))
        self._keep(known)

    def _keep(self, known: Replacement) -> None:
        came = _newcomers(known, self._world, self._policy) if known.group else []
        detail = ", ".join(known.nodes)
        self._verdicts |= dict.fromkeys(came, Verdict(reason=Reason.KEPT_FREE, detail=detail))
        self._going_on.append(known)

    def _give_up(self, known: Replacement, waiting: list[str], why: str) -> None:
        message = f"{', '.join(waiting)} will not be replaced: {why}"
        self._notices.append(Notice(reason="ReplacementGivenUp", message=message, warning=False))
        if any(name in self._removals for name in known.begun):
            self._keep(replace(known, nodes={name: known.nodes[name] for name in known.begun}))

    def _is_there(self, name: str, machine: str) -> bool:
        node = self._world.cluster.nodes.get(name)
        known = self._world.group_on(name) is not None
        return node is not None and node.spec.provider_id == machine and known

    def _destinations(self, known: Replacement) -> set[str]:
        """Return the nodes to which pods of the same controllers came since it began, expected there or not."""
        if not known.begun:
            return set()
        owners = frozenset(known.owners)
        return {
            row.node
            for row in self._world.cluster.pods.values()
            if row.node and row.owner and row.owner.uid in owners and row.created and row.created >= known.at
        }

    def _group_of(self, name: str) -> GroupFacts:
        group = self._world.group_on(name)
        assert group is not None, "nodes without a group are not part of a replacement any more"
        return group

    def _patience(self, known: Replacement) -> timedelta:
        """Return how long it may stand still: as long as a node may take to be ready."""
        facts = self._world.group(known.group)
        options = facts.options if facts else default_options(self._policy.settings)
        return options.max_node_provision_time + options.max_node_startup_time


def _newcomers(known: Replacement, world: World, policy: Policy) -> list[str]:
    """Return the ready nodes that came since it began to the group where new ones were ordered."""
    if not known.group:
        return []
    return [
        node.name
        for node in world.nodes_of(known.group)
        if node.metadata.creation_timestamp is not None
        and node.metadata.creation_timestamp >= known.at
        and is_ready(node, world, policy.settings.templates)
    ]


def _price(facts: GroupFacts) -> float:
    return facts.hourly_price or 0.0
