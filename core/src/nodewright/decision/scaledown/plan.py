"""The scale-down of one loop: which removals start."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime

from nodewright.api.decision import Drain
from nodewright.api.processor import ProcessorContext
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.memory import CooldownMemory, Removal, RemovalMemory, UnneededMemory, VerdictMemory
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown.causes import no_longer_kept
from nodewright.decision.scaledown.drain.drainability import Drainability
from nodewright.decision.scaledown.eligibility import Eligibility
from nodewright.decision.scaledown.removable import Removable
from nodewright.decision.scaledown.search import Confirmation, Found, Search
from nodewright.decision.scaledown.selection.selector import Selector
from nodewright.decision.steps import Steps
from nodewright.decision.world import World
from nodewright.scheduling import ClusterSimulation

#: Verdicts on nodes that are looked at again in the next loop: no search was needed for them.
_BRIEF = (Reason.NOT_EXAMINED, Reason.BUDGETS_UNSEEN)


@dataclass(frozen=True, kw_only=True)
class ScaleDownPlan:
    """Nodes to drain, a verdict for every node, and what to remember."""

    drain: tuple[Drain, ...] = ()
    nodes: dict[str, Verdict] = field(default_factory=dict)
    #: Nodes whose removal could start if there were no limit on their number, in order.
    removable_now: tuple[Removable, ...] = ()
    memory: UnneededMemory
    leaving: RemovalMemory


class ScaleDown:
    """Plans which removals start at *now*.

    *simulation* has the pending pods placed. If consolidation is on, the unneeded nodes are out of it afterwards.
    """

    def __init__(
        self,
        world: World,
        unneeded: UnneededMemory,
        leaving: RemovalMemory,
        cooldown: CooldownMemory,
        verdicts: VerdictMemory,
        simulation: ClusterSimulation,
        policy: Policy,
        now: datetime,
    ) -> None:
        self._world = world
        self._drainability = Drainability(world, policy, now)
        self._unneeded = unneeded.looked_at(no_longer_kept(unneeded, verdicts, world.cluster, self._drainability))
        self._leaving = leaving
        self._cooldown = cooldown
        self._simulation = simulation
        self._policy = policy
        self._settings = policy.settings.scale_down
        self._now = now

    def plan(
        self,
        excluded: Set[str],
        *,
        growing: Mapping[str, int],
        pause: str = "",
        replaced: Sequence[Removable] = (),
    ) -> ScaleDownPlan:
        """Return which removals start; *excluded* nodes are not looked at.

        *growing* is by how much groups grow in this loop. Their nodes may be unneeded for that, but none goes below the
        minimum before the order is certain. *pause* is the reason why no node may go in this loop, if there is one.
        *replaced* nodes may go as well: their pods have been moved in the simulation already.
        """
        if not self._settings.enabled:
            return ScaleDownPlan(memory=self._unneeded.needed(), leaving=self._leaving)
        with self._policy.timings.time("findUnneeded"):
            found, verdicts = self._search(excluded, growing)
        memory = self._remembered(found, verdicts)
        removable = [*found.removable, *replaced]
        selector = Selector(self._world, memory, self._leaving, self._cooldown, self._policy, self._now)
        with self._policy.timings.time("scaleDown"), Confirmation(self._simulation, found.removable) as confirm:
            selection = selector.select(removable, starting=excluded, pause=pause, confirm=confirm)
        if self._settings.consolidation.enabled:
            found.relocation.repeat()
        verdicts |= found.verdicts | {entry.node.name: entry.verdict for entry in removable} | selection.verdicts
        return ScaleDownPlan(
            drain=tuple(_drain(entry) for entry in selection.chosen),
            nodes=verdicts,
            removable_now=tuple(selection.removable_now),
            memory=memory,
            leaving=self._begun(selection.chosen),
        )

    def _search(self, excluded: Set[str], growing: Mapping[str, int]) -> tuple[Found, dict[str, Verdict]]:
        """Return what the search finds, and the verdicts on the nodes that it does not look at."""
        world, simulation, policy = self._world, self._simulation, self._policy
        context = ProcessorContext(now=self._now, simulation=simulation, groups=world.groups)
        eligibility = Eligibility(world, self._unneeded, self._leaving, growing, policy, self._now)
        candidates, verdicts = eligibility.candidates(excluded, Steps(policy, simulation, context))
        deadline = policy.stopwatch() + self._settings.simulation_timeout.total_seconds()
        with simulation.fork():
            search = Search(world, self._drainability, simulation, policy)
            return search.among(candidates, self._unneeded, deadline=deadline), verdicts

    def _remembered(self, found: Found, verdicts: Mapping[str, Verdict]) -> UnneededMemory:
        """Return the memory after the search. Nodes that can't go are not looked at again for a while.

        *verdicts* are those on nodes that were not searched.
        """
        memory = self._unneeded
        since = {entry.node.name: memory.since.get(entry.node.name, self._now) for entry in found.removable}
        # A node that was not looked at, or could not be, keeps its time.
        unread = (name for name, verdict in verdicts.items() if verdict.reason is Reason.GROUP_FAULTY)
        unseen = [name for name in (*found.unexamined, *unread) if name in memory.since]
        since |= {name: memory.since[name] for name in unseen}
        recheck = self._now + self._settings.unremovable_recheck
        unremovable = {name: recheck for name, verdict in found.verdicts.items() if verdict.reason not in _BRIEF}
        hints = {
            **{name: memory.hints[name] for name in unseen if name in memory.hints},
            **{entry.node.name: entry.hints for entry in found.removable if entry.hints},
        }
        return memory.searched(since, unremovable, found.unexamined, hints, self._now)

    def _begun(self, chosen: Sequence[Removable]) -> RemovalMemory:
        """Return the removals under way with those of the *chosen* nodes."""
        removals = {
            entry.node.name: Removal(
                group=entry.group.id,
                provider_id=entry.node.spec.provider_id,
                incarnation=self._world.incarnations.get(entry.node.spec.provider_id, ""),
                started=self._now,
                drains=entry.drains,
            )
            for entry in chosen
        }
        limited = bool(self._settings.disruption.max_evictions_per_hour)
        return self._leaving.begun(removals, sum(len(entry.move) for entry in chosen), self._now, limited=limited)


def _drain(entry: Removable) -> Drain:
    return Drain(
        node=entry.node.name,
        group=entry.group.id,
        pods=(*(pod.key for pod in entry.move), *entry.guests),
        verdict=entry.verdict,
    )
