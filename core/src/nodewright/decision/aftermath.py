"""The aftermath of a decision: what came of it, and the world and memory as they are then, read anew by nobody."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from nodewright.api.decision import Decision, DeleteInstances, Outcome
from nodewright.api.group import GroupFacts
from nodewright.api.instance import InstanceState
from nodewright.decision.memory import GroupChanges, Memory
from nodewright.decision.world import World


@dataclass(frozen=True, kw_only=True)
class Held:
    """What holds a group, so that it is left alone: nobody knows yet whether it took its last order."""

    why: str
    #: The size that it was to have.
    size: int = 0

    def over(self, facts: GroupFacts) -> GroupFacts:
        """Return *facts* as those of a group that may have the size by now and takes no other order."""
        return replace(facts, error=self.why, target_size=max(facts.target_size, self.size))


@dataclass(frozen=True, kw_only=True)
class Aftermath:
    """What came of *decision*; an action without an outcome was not tried, or its group is *held*."""

    decision: Decision
    outcomes: tuple[Outcome, ...] = ()
    #: Groups with a call under way that took longer than it may, by id.
    held: Mapping[str, Held] = field(default_factory=dict)
    #: Whether nothing was tried, and nothing else is to be: a dry run.
    withheld: bool = False

    @property
    def fruitful(self) -> bool:
        """Whether anything was done."""
        return any(outcome.ok for outcome in self.outcomes)

    @cached_property
    def undone(self) -> frozenset[str]:
        """Groups that were to grow and certainly did not: refused for good, or not tried."""
        doubtful = {outcome.target for outcome in self._growth if outcome.ok or outcome.temporary}
        return frozenset(grow.group for grow in self.decision.grow) - doubtful - self.held.keys()

    @property
    def calls_for_another(self) -> bool:
        """Whether other groups are to grow instead of those that did not."""
        return bool(self.undone) and not self.withheld

    def world(self, world: World) -> World:
        """Return the *world* of the decision as it is now, with the outcomes of growth in it.

        A group of which nobody knows whether it took its order is held: nodes are on their way, and it grows no more.
        """
        changes = self._changes()
        deleted = {instance for delete in self._deleted for instance in delete.instances}
        doubts = self.doubts
        groups = []
        for facts in world.groups:
            facts = replace(
                facts,
                target_size=facts.target_size + changes[facts.id],
                instances=tuple(
                    replace(each, state=InstanceState.DELETING, error=None) if each.id in deleted else each
                    for each in facts.instances
                ),
            )
            groups.append(doubts[facts.id].over(facts) if facts.id in doubts else facts)
        return replace(world, groups=tuple(groups), outcomes=self._growth)

    def memory(self, memory: Memory, before: Memory) -> Memory:
        """Return *memory*, which the decision left when it was made on that of *before*, without what is undone."""
        requests = dict(memory.requests)
        for group in self.undone:
            requests.pop(group, None)
            if group in before.requests:
                requests[group] = before.requests[group]
        grown = any(outcome.ok for outcome in self._growth) or self._late
        vain = self.decision.grow and not grown
        intentions = [each for each in memory.intentions if each.group not in self.undone]
        intentions += [each for each in before.intentions if each.group in self.undone]
        return replace(
            memory,
            requests=requests,
            intentions=tuple(intentions),
            last_scale_up=before.last_scale_up if vain else memory.last_scale_up,
            changes=self._changed(memory, before),
            **(_not_begun(memory, before) if self.withheld else {}),
        )

    def _changed(self, memory: Memory, before: Memory) -> dict[str, GroupChanges]:
        """Return when groups last changed: those that did not grow after all as they did *before*."""
        done = {outcome.target for outcome in self._growth if outcome.ok} | self.held.keys()
        vain = {grow.group for grow in self.decision.grow} - done
        return {
            group: replace(last, grown=before.changes.get(group, GroupChanges()).grown) if group in vain else last
            for group, last in memory.changes.items()
        }

    @property
    def sizes(self) -> dict[str, int]:
        """How much larger each group is that was certainly resized; negative if it is smaller."""
        return {group: change for group, change in self._changes().items() if change}

    @property
    def doubts(self) -> dict[str, Held]:
        """What holds groups until their provider was read again, by id: those that may have taken an order."""
        sizes = {grow.group: grow.from_size + grow.count for grow in self.decision.grow}
        unsure = {
            outcome.target: Held(why=outcome.error, size=sizes.get(outcome.target, 0))
            for outcome in self._growth
            if outcome.temporary and not outcome.ok
        }
        return {**unsure, **self.held}

    @cached_property
    def _growth(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.action == "grow")

    @property
    def _late(self) -> bool:
        return any(grow.group in self.held for grow in self.decision.grow)

    @property
    def _deleted(self) -> list[DeleteInstances]:
        kept = {each.target for each in self.outcomes if each.action == "delete-instances" and not each.ok}
        tried = {each.target for each in self.outcomes if each.action == "delete-instances"}
        return [each for each in self.decision.delete if (key := each.target) in tried and key not in kept]

    def _changes(self) -> Counter[str]:
        done = {(outcome.action, outcome.target) for outcome in self.outcomes if outcome.ok}
        changes: Counter[str] = Counter()
        for grow in self.decision.grow:
            changes[grow.group] += grow.count * (("grow", grow.group) in done)
        for shrink in self.decision.shrink:
            changes[shrink.group] -= shrink.count * (("shrink", shrink.group) in done)
        for delete in self._deleted:
            changes[delete.group] -= len(delete.instances)
        return changes


def to_be_kept(memory: Memory, held: Mapping[str, Held], decision: Decision | None = None) -> Memory:
    """Return *memory* with all calls in it that were not answered: so the next life finds it if this one ends now.

    These are the orders that *held* groups may have taken, and what is about to be done if *decision* is carried out.
    """
    sizes = {group: each.size for group, each in held.items()}
    going: set[str] = set()
    if decision is not None:
        sizes |= {grow.group: grow.from_size + grow.count for grow in decision.grow}
        going = {each.node for each in decision.drain} | {name for each in decision.delete for name in each.nodes}
    asked = {
        group: replace(memory.requests[group], unanswered=size)
        for group, size in sizes.items()
        if size and group in memory.requests
    }
    begun = {name: replace(memory.removals[name], unanswered=True) for name in going if name in memory.removals}
    if not asked and not begun:
        return memory
    return replace(memory, requests={**memory.requests, **asked}, removals={**memory.removals, **begun})


def _not_begun(memory: Memory, before: Memory) -> dict[str, Any]:
    """Return the fields of *memory* that a decision has filled with what begins, as they are if nothing does."""
    underway = [each.nodes for each in before.replacements]
    return {
        "removals": {name: removal for name, removal in memory.removals.items() if not removal.ours},
        "evictions": before.evictions,
        "replacements": tuple(each for each in memory.replacements if each.nodes in underway),
        "turn": before.turn,
    }
